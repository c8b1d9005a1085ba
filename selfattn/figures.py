"""Whole figures, composed of charts: what is taken away from a page is what a notebook shows."""

from collections.abc import Mapping

import altair as alt
import pandas as pd

from selfattn import charts
from selfattn.encoding import Encoding
from selfattn.frames import head_name, strip_frame
from selfattn.theme import Theme
from selfattn.words import Word


def two_sentences(sides: Mapping[str, tuple[Encoding, Word]], layer: int, head: int, theme: Theme) -> alt.VConcatChart:
    """What one head makes a word look at, in sentences "A" and "B": the words, shaded, above the head's whole maps."""
    maps = {name: encoding.weights(layer)[head] for name, (encoding, _) in sides.items()}
    maximum = max(float(weights.max()) for weights in maps.values())
    strips = pd.concat(
        [
            strip_frame(encoding, maps[name][list(word.positions)].mean(0), word, name)
            for name, (encoding, word) in sides.items()
        ]
    )
    drawn = [
        charts.heatmap(
            maps[name].numpy(),
            encoding.tokens,
            theme,
            maximum=maximum,
            marked=word.positions,
            title=f"{name}   {head_name(layer, head)}",
            color=theme.sentence_a if name == "A" else theme.sentence_b,
        )
        for name, (encoding, word) in sides.items()
    ]
    both = alt.vconcat(charts.strip(strips, theme, width=900), alt.hconcat(*drawn))
    return both.resolve_scale(color="independent")
