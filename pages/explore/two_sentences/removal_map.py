"""The map of layers x heads: the effect of removing each head, its control, and the weight on special tokens."""

import streamlit as st
import torch
from torch import Tensor

from selfattn.analysis.interventions import half_of
from selfattn.analysis.measures import similarity, special_share
from selfattn.captions import vectors as captions
from selfattn.charts import vega as charts
from selfattn.dashboard.encoder_picker import cached_effect, cached_knock_out
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.dashboard.pickers import Pair, choose_head
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.frames import heads_frame

REMOVING = "Removing each head in turn ..."
MAPS = {
    "effect": ("effect", "effect"),
    "control": ("effect", "control"),
    "effect minus control": ("effect", "difference"),
    "special tokens": ("weights", "share"),
}


def show_head_map(encoder: Encoder, pair: Pair, layer: int, head: int, measure: str) -> None:
    """Draw the map and its reading; a click chooses a head. What takes long shows its progress."""
    effect, control = _effects(encoder, pair)
    columns = {"effect": effect}
    if control is not None:
        columns |= {"control": control, "effect_minus_control": effect - control}
    frame = heads_frame(**columns, special_tokens=_special(pair))
    column = measure.replace(" ", "_")
    if column not in frame:
        st.text(f'The control sentence has no word "{pair.word}", so there is no control to show.', width="stretch")
        column, measure = "effect", "effect"
    kind, title = MAPS[measure]
    # A new key after each choice made elsewhere: a chart that still holds a click ignores the next click on that head.
    key = f"map-{st.session_state.get('choices', 0)}"
    theme = current_theme()
    chart = charts.finish(charts.head_map(frame, column, theme, str(Head(layer, head)), kind=kind, title=title), theme)
    before = _alike(pair, pair.second)
    same = None if control is None else _alike(pair, pair.control)
    reading = captions.removal(frame, str(Head(layer, head)), pair.word, before, same)
    show_chart(chart, reading, key=key, on_select=lambda: _clicked(key), width="content")


def _clicked(key: str) -> None:
    picked = st.session_state[key].selection.get("pick")
    if picked:  # a click beside the heads empties the selection and keeps the choice
        choose_head(int(picked[0]["layer"]), int(picked[0]["head"]))


def _effects(encoder: Encoder, pair: Pair) -> tuple[Tensor, Tensor | None]:
    bar = st.progress(0.0, REMOVING)

    def show(done: int, total: int) -> None:
        bar.progress(done / total, REMOVING)

    parts = 2 if pair.control is None else 3
    for index, side in enumerate((pair.first, pair.second, pair.control)[:parts]):
        cached_knock_out(encoder, side.place, progress=half_of(show, index, parts))
    bar.empty()
    effect = cached_effect(encoder, pair.first.place, pair.second.place)
    return effect, None if pair.control is None else cached_effect(encoder, pair.first.place, pair.control.place)


def _special(pair: Pair) -> Tensor:
    shares = []
    for _, side in pair.sides:
        rows = torch.stack([side.encoding.rows(position) for position in side.positions]).mean(0)
        shares.append(special_share(rows, side.encoding.special))
    return torch.stack(shares).mean(0)


def _alike(pair: Pair, other) -> float:
    first = pair.first.encoding
    last = first.n_layers
    return float(similarity(first.vector(last, pair.first.positions), other.encoding.vector(last, other.positions)))
