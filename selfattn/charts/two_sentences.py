"""One head in two sentences: its maps on one colour scale, and the whole figure, words above maps, of page and notebook."""

from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType

import pandas as pd

from selfattn.analysis.compare import SentenceComparison
from selfattn.analysis.word_map import WordMap
from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, beside, stacked
from selfattn.charts.word_strip import word_strip
from selfattn.encoders.placed_word import PlacedWord

WIDE = 900  # pixels of the words above two maps


def two_sentences(strips: pd.DataFrame | list[dict], maps: Iterable[Spec], theme: Theme) -> Spec:
    """The words of both sentences (tidy_tables.strip_frame or strip_rows) above maps that stand side by side."""
    return stacked(word_strip(strips, theme, width=WIDE), beside(*maps))


def maps_of_two(
    maps: Mapping[str, WordMap],
    words: Mapping[str, PlacedWord],
    theme: Theme,
    *,
    name: str,
    kind: str = "weights",
    legend: str = "weight",
    hidden: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Spec]:
    """A head's map in the sentences "A" and "B", on one colour scale, cells of one size, the rows of the word outlined.

    name: the head's, for the titles. hidden: the word that is hidden in a sentence, where one is.
    """
    maximum = max(float(view.matrix.abs().max()) for view in maps.values())
    alike = [view.labels for view in maps.values()]
    draw = partial(heatmap, theme=theme, kind=kind, maximum=maximum, legend=legend, alike=alike)
    charts = {}
    for sentence, view in maps.items():
        without = f', "{hidden[sentence]}" hidden' if sentence in hidden else ""
        look = {"title": f"{sentence}   {name}{without}", "color": theme.sentence(sentence)}
        charts[sentence] = draw(view.matrix, view.labels, marked=view.rows_of(words[sentence].positions), **look)
    return charts


def difference_map(comparison: SentenceComparison, theme: Theme, *, name: str) -> Spec:
    """A head's weights in A minus its weights in B, word by word; words that stand in one sentence only are bands."""
    return heatmap(
        comparison.matrix,
        comparison.labels,
        theme,
        kind="signed",
        marked=[comparison.chosen],
        sides=comparison.side,
        title=f"A minus B   {name}",
        legend="weight in A minus weight in B",
    )
