"""Whole figures, composed of charts: what is taken away from a page is what a notebook shows."""

from collections.abc import Mapping

import pandas as pd

from selfattn.analysis.word_map import WordMap, word_map
from selfattn.charts import vega as charts
from selfattn.charts.theme import Theme
from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.frames import strip_frame
from selfattn.words import Word


def two_sentences(
    sides: Mapping[str, tuple[Encoding, Word]],
    layer: int,
    head: int,
    theme: Theme,
    views: Mapping[str, WordMap] | None = None,
    source: str = "from scratch",
) -> charts.Spec:
    """What one head makes a word look at, in sentences "A" and "B": the words, shaded, above the head's whole maps.

    views: the maps as they are to be drawn (None: whole, a row a token). source: whose weights they are; for
    "difference" the scale is red and blue around zero.
    """
    if views is None:
        views = {
            name: word_map(encoding, encoding.weights(layer, head), words=False)
            for name, (encoding, _) in sides.items()
        }
    signed = source == "difference"
    maximum = max(float(view.matrix.abs().max()) for view in views.values()) or 1e-12
    strips = pd.concat(
        [
            strip_frame(encoding, encoding.weights(layer, head, slice(word.start, word.stop)).mean(0), word, name)
            for name, (encoding, word) in sides.items()
        ]
    )
    drawn = [
        charts.heatmap(
            views[name].matrix.numpy(),
            views[name].labels,
            theme,
            kind="signed" if signed else "weights",
            maximum=maximum,
            marked=views[name].rows_of(word.positions),
            title=f"{name}   {Head(layer, head)}, {source}",
            color=theme.sentence_a if name == "A" else theme.sentence_b,
            legend="from scratch minus own" if signed else "weight",
        )
        for name, (_, word) in sides.items()
    ]
    return charts.stacked(charts.strip(strips, theme, width=900), charts.beside(*drawn))
