"""One head, step by step from the layer's input to its output; and the same head with a step changed."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.explore.inside_a_head.steps import Side, pick_sides, show_steps
from selfattn.analysis.measures import entropy, similarity
from selfattn.analysis.removing import alone
from selfattn.analysis.what_if import change
from selfattn.captions import steps as captions
from selfattn.captions import vectors as vector_captions
from selfattn.charts.bars import Row, bars, rows_frame
from selfattn.dashboard.cache import cached
from selfattn.dashboard.copy_as_python import lines, load_pair
from selfattn.dashboard.figures import Page, current_theme, say, show_chart, side_by_side, this_page
from selfattn.dashboard.navigation import show_link
from selfattn.encoders.encoding import Encoding
from selfattn.kernel import AttentionTrace


def show_what_if(page: Page, sides: Sequence[Side]) -> None:
    """Show the switches, and the word's row before and after the change."""
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
    passes = {name: _alone(page, side.sentence.text) for name, side in page.pair.sides} if only else {}
    changing = partial(change, scaling=scaling, causal=causal, temperature=temperature, uniform=uniform)
    changed = {side.name: changing(passes[side.name].trace(*page.head) if only else side.steps.trace) for side in sides}
    top = max(float(t.weights[side.position].max()) for side in sides for t in (side.steps.trace, changed[side.name]))
    for side, place in zip(sides, side_by_side(len(sides))):
        with place:
            _before_and_after(side, changed[side.name], top)
    if only:
        say(_alone_reading(page, passes))
    if scaling and not (only or causal or uniform) and temperature == 1.0:
        st.caption("Nothing is changed yet: switch something on.")


def _before_and_after(side: Side, changed: AttentionTrace, top: float) -> None:
    real, theme = side.steps.trace, current_theme()
    before, after = real.weights[side.position], changed.weights[side.position]
    rows = [
        Row("as it is", before.tolist(), side.tokens, theme.muted, side.position),
        Row("changed", after.tolist(), side.tokens, theme.sentence(side.name), side.position),
    ]
    cosine = float(similarity(real.context[side.position], changed.context[side.position]))
    reading = captions.changed_row(before, after, (float(entropy(before)), float(entropy(after))), cosine, side.name)
    title = f"{side.name}: the weights of the word as they are, and changed"
    st.markdown(f"**{title}**")
    show_chart(bars(rows, theme, what="weight", top=top), reading, name=title, table=lambda: rows_frame(rows, "weight"))


def _alone(page: Page, text: str) -> Encoding:
    """Encode the text with all heads removed but the chosen one."""
    key, title = ("alone", text, page.head), "Removing all other heads ..."
    return cached(page.encoder, key, lambda _: alone(page.encoder, text, *page.head), title)


def _alone_reading(page: Page, passes: dict[str, Encoding]) -> str:
    sides = page.pair.sides
    left = [passes[name].vector(page.encoder.n_layers, side.positions) for name, side in sides]
    real = [side.sentence.vector(side.sentence.n_layers, side.positions) for _, side in sides]
    return vector_captions.only_head(float(similarity(*left)), float(similarity(*real)), str(page.head), page.pair.word)


page = this_page()
with page.links:
    show_link("")
    show_link("all-heads")

if not page.encoder.recomputable:
    st.info("This encoder's attention is shown as the model reports it; its steps can't be recomputed.")
    say(page.encoder.reason)
    st.stop()
with page.beside:
    sides = pick_sides(page)

call = f"notebook.steps(encoder, a, b, word, at=at, layer={page.head.layer}, head={page.head.head})"
page.python = lines(load_pair(page.encoder, page.pair), call)
steps, what_if = st.tabs(["Steps", "What if"], key="part", bind="query-params")
if steps.open:
    with steps:
        show_steps(sides)
if what_if.open:
    with what_if:
        show_what_if(page, sides)
