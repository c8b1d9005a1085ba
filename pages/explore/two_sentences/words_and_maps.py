"""The word's strip, the whole head in both sentences, A against B, and the figure to download."""

from collections.abc import Callable, Iterable
from functools import partial

import pandas as pd
import streamlit as st

from selfattn.analysis.compare import compare_sentences
from selfattn.analysis.word_map import word_map
from selfattn.captions import attention as captions
from selfattn.charts.butterfly import butterfly
from selfattn.charts.two_sentences import difference_map, maps_of_two, two_sentences
from selfattn.charts.vega import Spec
from selfattn.dashboard.cache import cached_weights
from selfattn.dashboard.choice import Choice
from selfattn.dashboard.download import png_button
from selfattn.dashboard.figures import Figure, current_theme, note_figure, say, show_chart, side_by_side
from selfattn.dashboard.pickers import MapOptions, binning, pick_map_options, segmented, whole, zoomed
from selfattn.tidy_tables import against_frame, strip_rows, weights_frame

PLAIN = "weights", "weight", "weight"  # a map's kind, its legend, and what its numbers are called
SHOWN_ONLY = {"own": "model's own", "against": "A against B"}
SOURCES = {"scratch": "from scratch", "own": "model's own", "difference": "difference", "against": "A against B"}

Figures = tuple[Iterable[Spec], Callable[[], pd.DataFrame]]  # maps, and the numbers behind them


def strip(choice: Choice) -> list[dict]:
    """Both sentences as words with the weight each gets from the chosen word: the mean over a split word's pieces."""
    rows = []
    for name, side in choice.pair.sides:
        row = cached_weights(choice.encoder, side.sentence.text, choice.head)[list(side.positions)].mean(0)
        rows += strip_rows(side.sentence, row, side.word, name)
    return rows


def show_maps(choice: Choice) -> Figures:
    """The whole head side by side, on one colour scale: from scratch, the model's own, their difference, or A against B."""
    st.markdown(
        "**4  The whole head, side by side**", help="Row: the token that attends. Column: the token it attends to."
    )
    sources = SOURCES if choice.encoder.recomputable else SHOWN_ONLY
    controls = st.container(horizontal=True, vertical_alignment="center")
    with controls:
        source = segmented("Whose weights", sources, key="view", label_visibility="collapsed")
    options = pick_map_options(controls)
    if source == "against":
        return _show_against(choice, not options.special)
    return _show_both(choice, source, options)


def _show_both(choice: Choice, source: str, options: MapOptions) -> Figures:
    """The head in A beside that in B."""
    encoder, head, sides = choice.encoder, choice.head, choice.pair.sides
    views = {}
    for (name, side), place in zip(sides, places := side_by_side(key="maps")):
        own = None if source == "scratch" else side.sentence.own_weights(*head)
        weights, other = (own, None) if source == "own" else (cached_weights(encoder, side.sentence.text, head), own)
        with place:
            views[name] = zoomed(whole(weights, side.sentence, options, other), name)
    signed = source == "difference"
    kind, legend, what = ("signed", "from scratch minus own", "difference to the model's own") if signed else PLAIN
    charts = maps_of_two(views, dict(sides), current_theme(), name=str(head), kind=kind, legend=legend)
    for (name, chart), view, place in zip(charts.items(), views.values(), places):
        with place:
            reading = captions.largest_cell(view.matrix.numpy(), view.labels, what) + binning(view)
            title = f"what each word attends to in {name}" + ("" if source == "scratch" else f", {SOURCES[source]}")
            visible = source != "scratch" or view.step > 1
            table = partial(weights_frame, view.matrix, view.labels)
            show_chart(chart, reading, in_place=True, visible=visible, name=title, sentence=name, table=table)
            png_button(name, chart, title)
    if not options.special:
        say(captions.hidden_weight({name: view.hidden for name, view in views.items()}))
    return charts.values(), lambda: pd.concat(
        weights_frame(side.sentence.weights(*head), side.sentence.tokens).assign(sentence=name) for name, side in sides
    )


def _show_against(choice: Choice, hidden: bool) -> Figures:
    """The word's row, then all rows, in A against those in B."""
    first, second = choice.pair.first, choice.pair.second
    found = compare_sentences(first, second, *choice.head, special=not hidden)
    theme, name, rows = current_theme(), str(choice.head), pd.DataFrame(strip(choice))
    row, whole_head = side_by_side()
    with row:
        own = against_frame(*(rows[rows["sentence"] == sentence] for sentence in "AB"))
        title = f'what "{choice.pair.word}" attends to, A against B'
        show_chart(butterfly(own, theme, name=name), captions.only_one_has(own, choice.pair.word), name=title)
    with whole_head:
        chart, reading = difference_map(found, theme, name=name), captions.weight_difference(found)
        show_chart(chart, reading, name="what each word attends to, A minus B", table=found.frame)
    if hidden:
        maps = {
            name: word_map(e, e.weights(*choice.head), special=False) for name, (e, _) in zip("AB", (first, second))
        }
        say(captions.hidden_weight({name: shown.hidden for name, shown in maps.items()}))
    return [chart], found.frame


def offer_figure(choice: Choice, words: list[dict], shown: list[Figures]) -> None:
    """Offer what the view shows of its head as one figure: both strips above the maps that stand in `shown` by then."""
    reading, theme = captions.most_weight(words, choice.pair.word, str(choice.head)), current_theme()
    name = f'"{choice.pair.word}" and the whole head in both sentences'
    figure = Figure(lambda: two_sentences(words, shown[0][0], theme), reading, lambda: shown[0][1]())
    note_figure(name, figure, first=True)
