"""Follow one token through one head, step by step."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from selfattn.dashboard.cache import cached
from selfattn.dashboard.copy_as_python import lines, load_pair
from selfattn.dashboard.figures import Page, say, show_panel, side_by_side, this_page
from selfattn.dashboard.kernel_figure import Sides, errors_of, queries_now, rows_key, show_kernel
from selfattn.dashboard.link import linked
from selfattn.dashboard.navigation import show_link
from selfattn.panel import Panel
from selfattn.views.inside_a_head import comes_in, computed, follow, goes_out

# URL parameters of older links, now ignored.
OLDER = ("step", "part", "follow", "with_a", "with_b", "alone")


def pick_changes() -> dict[str, Any]:
    """Show the switches and the slider. Return their values as arguments for `what_if.change`."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.text("What if ...", width="content")
        scaling = not st.toggle("No scaling", key="unscaled", bind="query-params")
        causal = st.toggle("Causal mask", key="causal", bind="query-params", help="No token attends to a later token.")
        uniform = st.toggle("Even weights", key="even", bind="query-params", help="Each token gets the same weight.")
        temperature = st.slider(
            "Temperature", 0.1, 5.0, 1.0, 0.1, key="temperature", bind="query-params", width=220,
            help="Scores are divided by the temperature before softmax. A temperature above 1 evens out the weights.",
        )  # fmt: skip
    return {"scaling": scaling, "causal": causal, "uniform": uniform, "temperature": temperature}


def show(page: Page) -> None:
    encoder, head, sides = page.encoder, page.head, dict(page.pair.sides)
    queries = queries_now(encoder, sides)
    before, switches = st.container(), st.container()
    with switches:
        changes = pick_changes()
    key = ("inside a head", head, rows_key(sides, queries), *changes.values())
    coming, kernel, going, _ = cached(encoder, key, lambda _: make(page, sides, queries, changes))
    with before:
        show_beside(coming)
    show_kernel(kernel, encoder, sides)
    show_beside(going)


def make(page: Page, sides: Sides, queries: Mapping[str, int], changes: dict) -> tuple[Any, ...]:
    """Make the panels, and the data behind the panels."""
    encoder, head = page.encoder, page.head
    followed = [follow(encoder, name, side, head, queries[name], **changes) for name, side in sides.items()]
    kernel = computed(followed, head, errors_of(encoder, [*sides.values()], head))
    return [*comes_in(followed)], kernel, [*goes_out(encoder, followed, head)], followed


def show_beside(panels: Sequence[Panel]) -> None:
    for panel, place in zip(panels, side_by_side(len(panels))):
        with place:
            show_panel(panel)


page = this_page()
with page.links:
    show_link("")
    show_link("all-heads")
page.address |= dict.fromkeys(OLDER)
if any(map(linked, OLDER)):
    st.info("This link is from an older version. One figure now shows all steps.", icon=":material/link:")
if not page.encoder.recomputable:
    st.info("selfattn can't recompute this encoder's attention. So this page has no steps to show.")
    say(page.encoder.reason)
    st.stop()
call = f"notebook.steps(encoder, a, b, word, at=at, layer={page.head.layer}, head={page.head.head})"
page.python = lines(load_pair(page.encoder, page.pair), call)
show(page)
