"""The parts of "Inside a head" that change something: what-if switches, four ways to mask, and the padding mask."""

from collections.abc import Sequence

import streamlit as st
import torch

from pages.explore.inside_a_head.steps import COLUMN, Side
from selfattn.analysis.interventions import Alone, alone
from selfattn.analysis.measures import entropy, similarity
from selfattn.analysis.what_if import Masking, causal_mask, change, four_ways
from selfattn.captions import steps as captions
from selfattn.captions import vectors as vector_captions
from selfattn.charts.bars import Row, bars, rows_frame
from selfattn.dashboard.cache import cached
from selfattn.dashboard.choice import Choice
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.dashboard.pickers import segmented
from selfattn.encoders.encoder import Encoder
from selfattn.kernel import AttentionTrace


def show_what_if(choice: Choice, sides: Sequence[Side]) -> None:
    """The switches, and the word's row before and after."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        scaling = not st.toggle("No scaling", key="unscaled", bind="query-params")
        causal = st.toggle("Causal mask", key="causal", bind="query-params", help="No token sees what stands after it.")
        uniform = st.toggle("Even weights", key="even", bind="query-params", help="Each token gets the same weight.")
        only = st.toggle(
            "No other heads", key="alone", bind="query-params",
            help="Every other head's output is zero, in all layers: this one is the only attention there is.",
        )  # fmt: skip
        temperature = st.slider(
            "Temperature", 0.1, 5.0, 1.0, 0.1, key="temperature", bind="query-params", width=260,
            help="What softmax gets is divided by it: above 1 the weights even out, below 1 they sharpen.",
        )  # fmt: skip
    passes = _alone_passes(choice) if only else {}
    places = st.container(horizontal=True, gap="medium")
    for side in sides:
        base = passes[side.name].trace if only else side.steps.trace
        changed = change(base, scaling=scaling, causal=causal, temperature=temperature, uniform=uniform)
        with places.container(width=COLUMN, gap="small"):
            _before_and_after(side, changed)
    if only:
        st.text(_alone_reading(choice, passes), width="stretch")
    if (scaling, causal, uniform, only, temperature) == (True, False, False, False, 1.0):
        st.caption("Nothing is changed yet: switch something on.")


def _before_and_after(side: Side, changed: AttentionTrace) -> None:
    real, theme = side.steps.trace, current_theme()
    before, after = real.weights[side.position], changed.weights[side.position]
    rows = [
        Row("now", before.tolist(), side.encoding.tokens, theme.muted, side.position),
        Row("then", after.tolist(), side.encoding.tokens, side.color, side.position),
    ]
    cosine = float(similarity(real.context[side.position], changed.context[side.position]))
    reading = captions.changed_row(before, after, (float(entropy(before)), float(entropy(after))), cosine, side.name)
    _bars(f"{side.name}: the weights of the word as they are, and changed", rows, reading)


def _bars(title: str, rows: list[Row], reading: str) -> None:
    st.markdown(f"**{title}**")
    _show_rows(title, rows, "weight", reading)


def _show_rows(name: str, rows: list[Row], what: str, reading: str) -> None:
    show_chart(
        bars(rows, current_theme(), what=what),
        reading or name,
        width="content",
        visible=bool(reading),
        name=name,
        table=lambda: rows_frame(rows, what),
    )


def _alone_passes(choice: Choice) -> dict[str, Alone]:
    encoder = choice.encoder
    return {
        name: cached(
            encoder,
            ("alone", side.encoding.text, choice.head),
            lambda progress, text=side.encoding.text: alone(encoder, text, *choice.head),
            "Removing all other heads ...",
            runs=True,
        )
        for name, side in choice.pair.sides
    }


def _alone_reading(choice: Choice, passes: dict[str, Alone]) -> str:
    sides = choice.pair.sides
    left = [passes[name].hidden[list(side.positions)].mean(0) for name, side in sides]
    real = [side.encoding.vector(side.encoding.n_layers, side.positions) for _, side in sides]
    return vector_captions.only_head(
        float(similarity(*left)), float(similarity(*real)), str(choice.head), choice.pair.word
    )


def show_four_ways(sides: Sequence[Side]) -> None:
    """The four ways to mask, on this head, for the word's row."""
    what = segmented(
        "Hide from the word",
        ["the tokens after it", "the special tokens", "itself"],
        default="the tokens after it",
        key="hidden_tokens",
    )
    st.caption("Why is a mask added, and not multiplied? Four ways, on the real numbers of this head.")
    ways = {side.name: four_ways(side.steps.trace, _allowed(side, what)) for side in sides}
    places = st.container(horizontal=True, gap="medium")
    for index in range(4):
        with places.container(width=COLUMN, gap="small"):
            _one_way(sides, {name: found[index] for name, found in ways.items()})
    st.caption(
        "A score of 0 is not a weight of 0, because exp(0) = 1. Weights set to 0 no longer sum to 1; divided by their sum "
        "they are what adding minus infinity gives at once."
    )


def _allowed(side: Side, what: str) -> torch.Tensor:
    n = len(side.encoding.tokens)
    if what == "the tokens after it":
        return causal_mask(n)
    if what == "itself":
        return ~torch.eye(n, dtype=torch.bool)
    return ~torch.tensor(side.encoding.special).expand(n, n)


def _one_way(sides: Sequence[Side], found: dict[str, Masking]) -> None:
    rows = [
        Row(
            side.name, found[side.name].weights[side.position].tolist(), side.encoding.tokens, side.color, side.position
        )
        for side in sides
    ]
    parts = []
    for side in sides:
        way = found[side.name]
        weights, leaked = way.weights[side.position], float(way.leaked[side.position])
        cosine = float(similarity(way.context[side.position], side.steps.trace.context[side.position]))
        parts.append(captions.masked_row(weights, leaked, float(entropy(weights)), cosine, side.name))
    name = next(iter(found.values())).name
    _bars(f"{name[0].upper()}{name[1:]}", rows, "\n".join(parts))


def show_padding(encoder: Encoder, sides: Sequence[Side]) -> None:
    """The sentence in a padded batch: the masked scores and the weights, and the error to the unpadded ones."""
    room = min(encoder.max_tokens - len(side.encoding.tokens) for side in sides)
    if room < 1:
        st.text(f"The sentence fills the encoder's {encoder.max_tokens} tokens: there is no room for padding.")
        return
    extra = st.slider(
        "Tokens of padding", 1, min(16, room), min(4, room), key="padding", bind="query-params", width=300
    )
    st.caption(
        "Sentences of different lengths share a batch by padding the short ones. The mask gives the padding's columns "
        "minus infinity, so that they weigh nothing. The rows of the padding itself mean nothing and are thrown away."
    )
    places = st.container(horizontal=True, gap="medium")
    for side in sides:
        with places.container(width=COLUMN, gap="small"):
            _padded(encoder, side, extra)


def _padded(encoder: Encoder, side: Side, extra: int) -> None:
    n = len(side.encoding.tokens)
    text, length = side.encoding.text, n + extra
    padded = cached(encoder, ("padded", text, length), lambda progress: encoder.encode(text, pad_to=length), runs=True)
    trace = padded.trace(side.steps.layer, side.steps.head)
    plain = side.encoding.trace(side.steps.layer, side.steps.head)
    error = float((trace.weights[:n, :n] - plain.weights).abs().max())
    share = float(trace.weights[:n, n:].sum(-1).max())
    for title, step in (("masked", trace.masked), ("weights", trace.weights)):
        row = Row(side.name, step[side.position].tolist(), padded.tokens, side.color, side.position)
        reading = captions.padding(n, extra, share, error) if title == "weights" else ""
        st.markdown(f"**{title}**")
        _show_rows(f"{title}, {side.name}", [row], title, reading)
