"""Show the chosen head's attention maps, and how the head computes the weights."""

from dataclasses import replace
from functools import partial

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.answer import Answer
from selfattn.dashboard.cache import cached_hidden
from selfattn.dashboard.figures import say, show_panel, this_page
from selfattn.dashboard.kernel_figure import kernel_of, queries_now, show_kernel
from selfattn.dashboard.link import say_what_is_missing
from selfattn.dashboard.navigation import show_link
from selfattn.dashboard.pickers import chosen_head, pick_map_options, segmented, whole, zoomed
from selfattn.dashboard.word_figure import exact_heads, hidden_words_now, keep_choice
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.views.one_head import SOURCES, Sides, head_maps

SHOWN_ONLY = {"own": SOURCES["own"]}
MISSING = "The link asks for attention maps of the kind {!r}, which this page doesn't have.".format


def pick(encoder: Encoder) -> None:
    redraw = partial(st.rerun, "head")
    with st.container(horizontal=True, vertical_alignment="center"):
        sources = SOURCES if encoder.recomputable else SHOWN_ONLY
        view = segmented("Whose weights", sources, key=session.VIEW, label_visibility="collapsed", on_change=redraw)
        pick_map_options(st, on_change=redraw)
        show_link("inside-a-head")
    say_what_is_missing(session.VIEW, sources.values(), sources[view], MISSING)


def show(encoder: Encoder, answer: Answer) -> None:
    head = this_page().head = chosen_head(encoder, this_page().leading)
    sides = dict(answer.pair.sides)
    hidden = {} if encoder.hide_reason else hidden_words_now(answer)
    sides |= {name: cached_hidden(encoder, sides[name], word) for name, word in hidden.items()}
    _show_maps(sides, head, session.VIEW.get() or ("scratch" if encoder.recomputable else "own"))
    if encoder.recomputable:
        panel = kernel_of(encoder, sides, head, queries_now(encoder, sides))
        assert panel.live is not None
        panel = replace(panel, live=panel.live.changed(**exact_heads(encoder, answer)))
        show_kernel(panel, encoder, sides, partial(keep_choice, encoder, answer), method=False)
    elif encoder.patchable:
        say(f"selfattn can't show how this head computes weights: {encoder.reason}")


def _show_maps(sides: Sides, head: Head, source: str) -> None:
    maps = {}
    for name, side in sides.items():
        own = None if source == "scratch" else side.sentence.own_weights(*head)
        weights, other = (own, None) if source == "own" else (side.sentence.weights(*head), own)
        maps[name] = zoomed(whole(weights, side.sentence, other), name)
    show_panel(head_maps(sides, maps, head, source))
