"""Draw the page All heads: one sentence's attention in every head."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from selfattn.analysis.measures import Compared, head_measures, offered
from selfattn.analysis.patterns import fits
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, cached_effect
from selfattn.dashboard.copy_as_python import lines, load_pair
from selfattn.dashboard.figures import Page, literal, say, show_panel, this_page
from selfattn.dashboard.kernel_figure import errors_of, queries_now, show_kernel
from selfattn.dashboard.link import linked, say_what_is_missing, spell
from selfattn.dashboard.navigation import show_link
from selfattn.dashboard.pickers import open_sentences, segmented
from selfattn.dashboard.reports import labelled, stored_report
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import other_sentences
from selfattn.senses import HeadProfiles, HiddenWordsReport
from selfattn.tidy_tables import heads_frame
from selfattn.views.all_heads import every_head, habit, moved_word, profile, small_maps
from selfattn.views.kernel_row import word_row
from selfattn.views.kernel_view import kernel_panel
from selfattn.views.rounding import noise_floor

GONE = "This page no longer shows rollout or averages over heads. Use selfattn.analysis.measures to compute them."
SENTENCES = {"A": "A", "B": "B", "both": "A and B as one text"}


def step(number: int, text: str) -> None:
    st.subheader(f":blue-badge[{number}] {text}", anchor=False)


def segments(page: Page) -> PlacedWord:
    """Encode A and B as one text. Return the chosen word in A."""
    pair = page.pair
    a, b = (side.sentence.text for _, side in pair.sides)
    encoding = encode_or_stop(page.encoder, a, "A and B together", pair=b)
    return encoding.places(pair.first.word.text)[pair.first.number - 1]  # the words of A come first


def show_grid(page: Page, name: str, side: PlacedWord, rows: Sequence[int]) -> None:
    """Show every head's attention map. A click on a map chooses its head.

    name: "A" or "B", or "" for A and B as one text
    side: the chosen word in the sentence
    """
    encoder, pair = page.encoder, page.pair
    sides = {name: word for name, word in zip(("A", "B", "control"), pair) if word}
    compared = Compared(sides, partial(cached_effect, encoder))
    # If the encoder reads A and B as one text, there is no second text to compare with.
    measures = offered(sides if side.sentence.pair is None and encoder.patchable else ())
    labels = {key: each.label for key, each in measures.items()}
    if (asked := linked(session.MEASURE)) in labels:  # a link from an older version
        spell(session.MEASURE, labels[asked])
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        step(1, f"Click one of the {len(encoder.all_heads)} maps to choose a head")
        session.MEASURE.keep_within(measures, next(iter(measures)))
        st.text("The bars show", width="content")
        picked = st.selectbox(
            "The bars show", labels, format_func=labels.__getitem__, key=session.MEASURE, bind="query-params",
            label_visibility="collapsed", width=280,
        )  # fmt: skip
    missing = "The link asks for the measure {!r}, which this page doesn't have.".format
    say_what_is_missing(session.MEASURE, labels.values(), labels[picked], missing)
    key, measure = ("measures", side.sentence.text, side.sentence.pair), measures[picked]
    columns = dict(cached(encoder, key, lambda _: head_measures(side.sentence), "Measuring all heads ..."))
    beside = measure.columns(compared) if measure.of == "word" else {}
    frame, noise = noise_floor(heads_frame(**columns | beside), picked, encoder.dtype, dict.fromkeys(beside, 1.0))
    if side.sentence.pair is None:
        which = f"second=b, control=control, word=word, at=at, maps_of={session.SENTENCE.get()!r}"
    else:
        which = "pair=b"
    call = f"notebook.all_heads(encoder, a, {picked!r}, {which}, chosen='{page.head}')"
    page.python = lines(load_pair(encoder, pair), call)
    maps = cached(encoder, ("small maps", *key[1:]), lambda _: small_maps(side.sentence))
    maps = maps | {"rows": [*rows], "sentence": name}
    against = compared if beside else None
    show_panel(every_head(side.sentence, maps, frame, measure, page.head, compared=against, noise=noise), method=False)


def show_row(page: Page, name: str, side: PlacedWord, query: int) -> None:
    """Show how the chosen head computes the weights of one token."""
    sides = {name: side}
    row = word_row(side, page.head, name, query=query)
    panel = kernel_panel(row, head=page.head, errors=errors_of(page.encoder, [side], page.head))
    show_kernel(replace(panel, finding=f"In {page.head} {panel.finding}"), page.encoder, sides, method=False)


def show_what_it_does(page: Page, encoding: Encoding) -> None:
    encoder, head = page.encoder, page.head
    found, moves = stored_report(HeadProfiles, encoder), stored_report(HiddenWordsReport, encoder)
    if found is None:
        say(profile(fits(encoding.weights(*head), encoding), str(head), "In this sentence"))
        return
    panel = habit(encoder, found.report, labelled(), head)
    with st.container(key="over_many", horizontal=True, gap="medium"):
        with st.container():
            show_panel(panel, choose=partial(_open, head, panel.table), states=("open",), method=False)
        if moves:
            with st.container():
                show_panel(moved_word(moves.report, head), method=False)


def _open(head: Head, table: pd.DataFrame, _: str, at: Any) -> None:
    """Open the sentence in row `at` of the table, with `head` as the chosen head."""
    if isinstance(at, int) and 0 <= at < len(table):
        session.HEAD.set(str(head))
        number = table["row"].iloc[at]
        row = labelled().loc[number]
        open_sentences(None, row["sentence"], *other_sentences(labelled(), number), row["word"], chosen=True)


page = this_page()
page.address |= dict.fromkeys(("tab", "sorted", "overlaid", "map_of"))  # URL parameters of older versions
if linked("map_of") in ("average", "rollout"):
    st.info(GONE, icon=":material/link:")
with page.links:
    show_link("")
    show_link("inside-a-head")

with page.beside:
    note = "The encoder can read A and B as one text of two segments, as a cross-encoder does."
    chosen = segmented("Sentence", SENTENCES, key=session.SENTENCE, help=note, label_visibility="collapsed")
name = "" if chosen == "both" else chosen
side = dict(page.pair.sides)[name] if name else segments(page)
query = queries_now(page.encoder, {name: side})[name]
with st.container(key="all_heads"):
    with st.container():
        show_grid(page, name, side, [query] if page.encoder.recomputable else side.positions)
    if page.encoder.recomputable:
        with st.container():
            step(2, f"See how `{page.head}` computes the outlined row")
            show_row(page, name, side, query)
    with st.container():
        step(3, f"See what `{page.head}` does over many sentences")
        show_what_it_does(page, side.sentence)
    with st.expander("How the numbers on this page are measured"):
        for panel in filter(lambda panel: panel.method, page.panels):
            st.markdown(f"**{literal(panel.name)}**")
            say(panel.method)
