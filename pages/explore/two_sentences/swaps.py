"""One head's part in the difference: the words it attends to, the swap, the map of all heads, and the limit."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from selfattn.analysis.measures import similarity
from selfattn.analysis.swapping import PairSwaps
from selfattn.captions import answer
from selfattn.captions import attention as words
from selfattn.captions import vectors as captions
from selfattn.captions.answer import Leader, Swap
from selfattn.captions.terms import TERMS
from selfattn.charts.head_map import head_map, outlined
from selfattn.charts.vega import Spec
from selfattn.charts.way import way
from selfattn.charts.word_strip import word_strip
from selfattn.dashboard.cache import cached, cached_effect
from selfattn.dashboard.choice import Choice, Pair
from selfattn.dashboard.compute_again import labelled, stored_report
from selfattn.dashboard.figures import current_theme, literal, say, show_chart, show_links, this_page
from selfattn.dashboard.pickers import choose_word, quickly_ranked, segmented, shares_of, swaps_are_exact
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.placed_word import PlacedWord
from selfattn.senses import SwapReport
from selfattn.tidy_tables import heads_frame
from selfattn.words import shared_words

SWAPS = {"none": "As it is", "head": "Swap this head", "all": "Swap all heads"}
MAPS = ("swap", "control", "removal")
NO_WAY = 1e-6  # a shorter way than this is none, and no share of it is known
HELP = (
    f"{TERMS['head']} {TERMS['weight']} {TERMS['layer']} L5 H7 is head 7 of layer 5. Swap: the head's output at the word is "
    "taken from the other sentence. A click on a word that stands in both sentences chooses it."
)


def show_leading_head(choice: Choice, frame: list[dict]) -> str:
    """The shown head's words (words_and_maps.strip) and, where heads can be swapped, what its swap does, the map and the limit.

    Where the map takes long the words stand first, and once it is there the page runs again with the head that leads. What
    comes back is what is swapped, one of SWAPS.
    """
    encoder, pair, head = choice.encoder, choice.pair, choice.head
    every, title = None, f"What head {head.head} of layer {head.layer} attends to"
    if quickly_ranked(encoder, pair) and isinstance(every := _every(encoder, pair), PairSwaps):
        leading = this_page().leading or head
        own, best = swap_of(choice, head, every), swap_of(choice, leading, every)
        as_far = pair.control is not None and _cosine(pair, pair.control) <= _cosine(pair, pair.second)
        title = answer.head_title(best, as_far)
    st.markdown(f"**2  {title}**", help=HELP)
    chart, pick = word_strip(frame, current_theme(), pick=True), partial(_choose_word, pair, frame)
    reading = words.most_weight(frame, pair.word, str(head))
    show_chart(
        chart, reading, key="strip", pick=pick, in_place=True, visible=False,
        name=f'what "{pair.word}" attends to', table=lambda: pd.DataFrame(frame),
    )  # fmt: skip
    if every is None and isinstance(every := _every(encoder, pair), PairSwaps):
        st.rerun()
    if isinstance(every, str):
        say(every)
        return "none"
    say(answer.head_effect(head, own, pair.word, answer.receivers(frame), leading, best, pair.sense))
    with st.container():
        swapped = _show_swap(choice, own)
    _show_map(choice, every)
    with st.container(horizontal=True, vertical_alignment="center"):
        n, leader = leader_over_sentences(choice, every)
        say(answer.limit(pair.word, head, n, leader))
        show_links("senses")
    return swapped


def _every(encoder: Encoder, pair: Pair) -> PairSwaps | str:
    """How far swapping each head moves the word; where heads can't be swapped, why."""
    try:
        with this_page().news:
            return shares_of(encoder, pair)
    except NotRecomputable:
        why = "" if encoder.patchable else encoder.reason or encoder.patch_reason
        return answer.shown_only(encoder.title, why, pair.word)


def swap_of(choice: Choice, head: Head, every: PairSwaps) -> Swap:
    """One head's swap, exactly: from the map of all, or run for itself where it is by gradient there."""
    if every.exact[head] or swaps_are_exact(choice.encoder, choice.pair):
        return _swap(choice.pair, every, head)
    return _swap(choice.pair, shares_of(choice.encoder, choice.pair, ((head,),)), 0)


def _swap(pair: Pair, found: PairSwaps, at: Head | int) -> Swap:
    return Swap(float(found.share[at]), None if pair.control is None else float(found.control[at]))


def _choose_word(pair: Pair, rows: list[dict], picked: dict[str, Any]) -> None:
    """A click on a word chooses it, where it stands in both sentences; of several the one that was clicked."""
    before = [row for row in rows if row["sentence"] == picked["sentence"] and row["place"] <= picked["place"]]
    text = before[-1]["text"]
    both = {word.casefold(): word for word in shared_words(*(side.sentence.words for _, side in pair.sides))}
    if text.casefold() not in both:
        st.toast(literal(f'"{text}" doesn\'t stand in both sentences.'))
        return
    number = sum(not row["special"] and row["text"].casefold() == text.casefold() for row in before)
    choose_word(both[text.casefold()], number, picked["sentence"])


def _show_swap(choice: Choice, own: Swap) -> str:
    pair, encoder = choice.pair, choice.encoder
    what = segmented("Swap", SWAPS, key="swap", label_visibility="collapsed")
    swap, reading = Swap(0.0), f'Nothing is swapped: "{pair.word}" stands where A puts it.'
    if what == "head":
        swap, reading = own, "The mean of both directions: A's word with B's output, B's with A's."
    elif what == "all":
        found = shares_of(encoder, pair, (tuple(encoder.all_heads),))
        swap = _swap(pair, found, 0)
        same_token = pair.first.word.text.casefold() == pair.second.word.text.casefold()
        cosine = float(found.cosine[0])
        reading = answer.all_swapped(swap, cosine, pair.word, same_token, pair.same_position, pair.sense)
    control = float("nan") if swap.control is None else swap.control
    chart = way(pair.word, swap.share, current_theme(), control)
    name = f'the way of "{pair.word}" from A to B'
    show_chart(chart, reading, one_head=what == "head", visible=what != "none", name=name)
    return what


def _show_map(choice: Choice, every: PairSwaps) -> None:
    encoder, pair, name, theme = choice.encoder, choice.pair, str(choice.head), current_theme()
    measure = segmented("Map of all heads", MAPS, key="map")

    def make(_: object) -> tuple[Spec, pd.DataFrame, str]:
        frame, column, title, reading = (_removal if measure == "removal" else _swaps)(choice, every, measure)
        return head_map(frame, column, theme, "", title=title), frame, reading

    chart, frame, reading = cached(encoder, ("map", measure, pair.key, theme), make)
    if measure == "removal":
        same = None if pair.control is None else _cosine(pair, pair.control)
        reading = f"{captions.removal(frame, name, pair.word, _cosine(pair, pair.second), same)} {reading}".rstrip()
    chart = outlined(chart, name)
    show_chart(
        chart, reading, key="map", heads=True, in_place=True, name=f"all heads: {measure}",
        # Else the words above say it already.
        visible=measure != "swap" or encoder.dtype in captions.NOISE or captions.by_gradient(every.exact) != "",
    )  # fmt: skip


def _swaps(choice: Choice, every: PairSwaps, measure: str) -> tuple[pd.DataFrame, str, list[str], str]:
    """Each head's share of the way, from the other sentence and from the control."""
    columns, controlled = {"share": every.share}, choice.pair.control is not None
    if controlled:
        columns["control_share"] = every.control
    frame, column = heads_frame(**columns), "control_share" if measure == "control" and controlled else "share"
    title = ["share of the way, from the control" if column == "control_share" else "share of the way"]
    if rough := captions.by_gradient(every.exact):
        title += ["by gradient"]
        frame = frame.assign(how=["exact" if ran else "by gradient" for ran in every.exact.flatten().tolist()])
    way = max(2 * (1 - _cosine(choice.pair, choice.pair.second)), NO_WAY)
    floors = dict.fromkeys(columns, captions.OF_PAIR_SWAPS / way)
    frame, noise = captions.noise_floor(frame, column, choice.encoder.dtype, floors)
    reading = " ".join(filter(None, (answer.map_of_heads(frame, column, choice.pair.word), rough, noise)))
    return frame, column, title, reading if measure == "swap" or controlled else f"{answer.NO_CONTROL} {reading}"


def _removal(choice: Choice, *_: object) -> tuple[pd.DataFrame, str, list[str], str]:
    """Each head's output set to zero in both sentences, and in A and the control."""
    encoder, pair = choice.encoder, choice.pair
    columns = {"effect": cached_effect(encoder, pair.first, pair.second)}
    if pair.control is not None:
        columns["control"] = cached_effect(encoder, pair.first, pair.control)
    frame, noise = captions.noise_floor(heads_frame(**columns), "effect", encoder.dtype)
    return frame, "effect", ["effect of removing"], noise


def _cosine(pair: Pair, other: PlacedWord) -> float:
    last = pair.first.sentence.n_layers
    return float(similarity(*(side.sentence.vector(last, side.positions) for side in (pair.first, other))))


def leader_over_sentences(choice: Choice, every: PairSwaps) -> tuple[int, Leader | None]:
    """How many labelled sentences of the word there are, and the head that leads over them where that was computed."""
    encoder, word = choice.encoder, choice.pair.word
    n = int((labelled()["word"] == word.casefold()).sum())
    kept = stored_report(SwapReport, encoder, labelled(), "the labelled sentences") if n else None
    if kept is None:
        return n, None
    if word.casefold() not in set(kept.report.heads["word"]):
        return n, None
    top = kept.report.leader(word.casefold())
    head = Head(int(top["layer"]), int(top["head"]))
    return n, Leader(head, top["exact"], swap_of(choice, head, every).share)
