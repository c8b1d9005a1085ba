"""The map of layers x heads: the effect of removing each head, its control, and the weight on special tokens."""

import streamlit as st
import torch
from torch import Tensor

from selfattn.analysis.measures import similarity, special_share
from selfattn.captions import vectors as captions
from selfattn.charts.head_map import head_map
from selfattn.dashboard.cache import cached_effect
from selfattn.dashboard.choice import Choice, Occurrence, Pair
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.frames import heads_frame

MAPS = {
    "effect": ("effect", "effect"),
    "control": ("effect", "control"),
    "effect minus control": ("effect", "difference"),
    "special tokens": ("weights", "share"),
}


def show_head_map(choice: Choice, measure: str) -> None:
    """Draw the map and its caption; a click chooses a head. What takes long shows its progress."""
    pair, name = choice.pair, str(choice.head)
    effect = cached_effect(choice.encoder, pair.first.place, pair.second.place)
    columns = {"effect": effect}
    if pair.control is not None:
        control = cached_effect(choice.encoder, pair.first.place, pair.control.place)
        columns |= {"control": control, "effect_minus_control": effect - control}
    frame = heads_frame(**columns, special_tokens=_special(pair))
    column = measure.replace(" ", "_")
    if column not in frame:
        st.text(f'The control sentence has no word "{pair.word}", so there is no control to show.', width="stretch")
        column, measure = "effect", "effect"
    frame, noise = captions.noise_floor(frame, column, choice.encoder.dtype)
    kind, title = MAPS[measure]
    chart = head_map(frame, column, current_theme(), name, kind=kind, title=title)
    before = _cosine(pair, pair.second)
    same = None if pair.control is None else _cosine(pair, pair.control)
    reading = " ".join(filter(None, (captions.removal(frame, name, pair.word, before, same), noise)))
    show_chart(chart, reading, key="map", heads=True, width="content")


def _special(pair: Pair) -> Tensor:
    shares = []
    for _, side in pair.sides:
        rows = torch.stack([side.encoding.rows(position) for position in side.positions]).mean(0)
        shares.append(special_share(rows, side.encoding.special))
    return torch.stack(shares).mean(0)


def _cosine(pair: Pair, other: Occurrence) -> float:
    first = pair.first.encoding
    last = first.n_layers
    return float(similarity(first.vector(last, pair.first.positions), other.encoding.vector(last, other.positions)))
