"""The switches of a whole map: word pieces or words, special tokens hidden, and for long texts the range that is drawn."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn.analysis.word_map import MOST, WordMap, word_map
from selfattn.encoders.encoding import Encoding
from selfattn.frames import weights_frame

ZOOM = 64  # texts of more rows than this get a range to zoom into


@dataclass(frozen=True)
class MapOptions:
    """What the switches say."""

    words: bool
    special: bool


def pick_map_options(place) -> MapOptions:
    """The two switches that every map has."""
    words = place.toggle(
        "Words",
        key="words",
        bind="query-params",
        help="Word pieces are put together: the weight to a split word is the sum over its pieces, from it the mean. "
        "Rows still sum to 1.",
    )
    hide = place.toggle(
        "Hide special tokens",
        key="hide",
        bind="query-params",
        help="[CLS], [SEP] and padding are left out and each row is scaled up to sum to 1 again. How much weight went with "
        "them is said below the maps.",
    )
    return MapOptions(words, not hide)


def chosen_options() -> MapOptions:
    """What the switches say, for what is drawn elsewhere (a file to take away)."""
    return MapOptions(bool(st.session_state.get("words")), not st.session_state.get("hide"))


def whole(weights: Tensor, encoding: Encoding, options: MapOptions, other: Tensor | None = None) -> WordMap:
    """A head's map (n, n) as the switches want it; with `other`, the difference of the two maps."""
    view = word_map(encoding, weights, words=options.words, special=options.special)
    if other is None:
        return view
    return view.minus(word_map(encoding, other, words=options.words, special=options.special))


def zoomed(view: WordMap, key: str) -> WordMap:
    """The part of a long map that the visitor chose, in bins where it is still too long to draw each weight."""
    n = len(view.labels)
    if n > ZOOM:
        start, last = st.slider(
            "Rows and columns drawn", 0, n - 1, (0, n - 1), key=f"range-{key}-{n}", bind="query-params"
        )
        view = view.part(range(start, last + 1))
    return view.binned()


def table_of(view: WordMap) -> Callable[[], pd.DataFrame]:
    """The numbers of a map as it is drawn, a line each, made when it is called."""
    return lambda: weights_frame(view.matrix, view.labels)


def binning(view: WordMap) -> str:
    """What a visitor must know of a map in bins, or nothing."""
    if view.step == 1:
        return ""
    return (
        f" Each cell is the largest of {view.step} × {view.step} weights, because a picture holds at most {MOST} rows. "
        "Narrow the range to see each one."
    )
