"""The chosen head in detail: its maps of A and B, and the computation of the word's row, with or without hidden words."""

from functools import partial

import streamlit as st

from selfattn.captions import attention as captions
from selfattn.captions.steps import no_steps
from selfattn.captions.terms import TERMS
from selfattn.dashboard import session
from selfattn.dashboard.answer import leading_head_of
from selfattn.dashboard.cache import cached, cached_hidden, cached_separate_error, hides_key
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.download import png_button
from selfattn.dashboard.figures import current_theme, literal, say, show_chart, side_by_side, this_page
from selfattn.dashboard.navigation import show_link
from selfattn.dashboard.pickers import binning, chosen_head, pick_map_options, segmented, whole, zoomed
from selfattn.dashboard.word_figure import hidden_words_now
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.views.one_head import SOURCES, Picture, Sides, against, whole_head, words_row

SHOWN_ONLY = {"own": SOURCES["own"], "against": SOURCES["against"]}


HELP = "Row: the token that attends. Column: the token it attends to."


def pick(encoder: Encoder) -> None:
    """Show the controls: the source of the weights, map options."""
    redraw = partial(st.rerun, "head")
    with st.container(horizontal=True, vertical_alignment="center"):
        sources = SOURCES if encoder.recomputable else SHOWN_ONLY
        segmented("Whose weights", sources, key=session.VIEW, label_visibility="collapsed", on_change=redraw)
        pick_map_options(st, on_change=redraw)
        show_link("inside-a-head")


def show(encoder: Encoder, pair: Pair, way: str) -> None:
    """Draw the chosen head's maps, and the computation of the word's row, with the visitor's words hidden."""
    head = this_page().head = chosen_head(encoder, leading_head_of(encoder, pair, way))
    sides = dict(pair.sides)
    hidden = {} if encoder.hide_reason else hidden_words_now(encoder, pair, way)
    sides |= {name: cached_hidden(encoder, sides[name], word) for name, word in hidden.items()}
    said = "".join(f', "{word.label}" hidden in {name}' for name, word in hidden.items())
    st.markdown(literal(f"Head {head.head} of layer {head.layer}: A beside B{said}"), help=f"{HELP} {TERMS['weight']}")
    first = "scratch" if encoder.recomputable else "own"
    _show_maps(sides, head, session.VIEW.get() or first)
    if encoder.recomputable:
        _show_row(encoder, sides, head)
    elif encoder.patchable:
        say(no_steps(encoder.reason))


def _show_maps(sides: Sides, head: Head, source: str) -> None:
    special, theme = not session.HIDE_SPECIAL.get(), current_theme()
    if source == "against":
        with st.container():
            for place, picture in zip(side_by_side(), against(sides, head, theme, special=special)):
                with place:
                    _show(picture)
        hidden = {name: whole(side.sentence.weights(*head), side.sentence) for name, side in sides.items()}
    else:
        hidden = {}
        for (name, side), place in zip(sides.items(), places := side_by_side(key="maps")):
            own = None if source == "scratch" else side.sentence.own_weights(*head)
            weights, other = (own, None) if source == "own" else (side.sentence.weights(*head), own)
            with place:
                hidden[name] = zoomed(whole(weights, side.sentence, other), name)
        pictures = whole_head(sides, hidden, head, theme, source)
        for (name, picture), place in zip(pictures.items(), places):
            with place:
                more = binning(hidden[name])
                _show(picture, sentence=name, visible=source != "scratch" or bool(more), more=more)
                png_button(name, picture.spec, picture.name)
    if not special:
        say(captions.hidden_weight({name: view.hidden for name, view in hidden.items()}))


def _show_row(encoder: Encoder, sides: Sides, head: Head) -> None:
    st.markdown(
        f"**How head {head.head} of layer {head.layer} computes it**",
        help="The buttons beneath go through the steps, and light the kernel's lines that make each; so do the arrow keys.",
    )
    separate = [
        None if side.sentence.hides else cached_separate_error(encoder, side.sentence.text, head)
        for side in sides.values()
    ]
    known = [error for error in separate if error is not None]
    error = max(known) if len(known) == len(separate) else None
    theme = current_theme()

    def made(_: object) -> Picture:
        apart = [each.sentence.weights(*head) - each.sentence.own_weights(*head) for each in sides.values()]
        return words_row(sides, head, theme, max(float(each.abs().max()) for each in apart), error)

    words = tuple((*side.key, hides_key(side.sentence.hides)) for side in sides.values())
    key = ("word's row", words, head, theme.name, error)
    _show(cached(encoder, key, made))


def _show(picture: Picture, *, sentence: str = "", visible: bool = True, more: str = "") -> None:
    show_chart(
        picture.spec, picture.caption + more, in_place=True, visible=visible, name=picture.name, sentence=sentence,
        table=picture.table,
    )  # fmt: skip
