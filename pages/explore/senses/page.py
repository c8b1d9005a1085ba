"""Which word brings another's sense in, over many sentences, and which heads; where its vector separates the senses."""

import streamlit as st

from pages.explore.senses import separation, swaps, which_word
from pages.explore.senses import tables_and_reports as view
from pages.explore.senses.finished_scan import show_scan
from selfattn.dashboard.cache import cached
from selfattn.dashboard.compute_again import offer_again
from selfattn.dashboard.figures import PageEnds, say, show_error, side_by_side, this_page
from selfattn.dashboard.pickers import segmented
from selfattn.dashboard.typed_text import show_rejected
from selfattn.export.notebook_lines import LABELLED, OWN_TABLE, SAID, senses_lines
from selfattn.senses import HiddenWordsReport, SeparationReport, SwapReport, check_rows

encoder, head = this_page().encoder, this_page().head
say(
    "One pair of sentences is a hint. Over many: which word brings the sense of another in, which heads do, where does its "
    "vector separate the senses, and does attention add anything to what a plain average would give?"
)
with this_page().beside:
    source = segmented("Sentences", SAID["source"], key="source")
if source == "scan":
    show_scan(head)
    raise PageEnds
own = source == "labelled"
asked = view.Labelled(encoder, *((view.labelled(), view.BUILT_IN) if own else view.pick_table() or st.stop()))
# What takes longest stands above what is there at once.
when, first, top, early = st.container(), st.container(), st.empty(), st.empty()
kept = [asked.stored(kind) for kind in (SeparationReport, SwapReport, HiddenWordsReport)]
with this_page().beside:
    word = swaps.pick_word(asked.frame)
this_page().python = senses_lines(encoder, LABELLED if own else OWN_TABLE, word, head), {"encoder": encoder}
try:
    with first:
        which_word.show(asked, word)
    if encoder.patchable:
        with top.container():
            over_all, in_one = swaps.begin(word)
            together, one_sentence = side_by_side()
            limit = st.container()
        with early.container():
            view.show_one_word(asked, word)
        if late := asked.comes_late(SwapReport, "swaps"):
            swaps.show_word(asked, head, word, in_one)
    report = view.separated(asked)
except ValueError as error:
    top.empty()
    show_error(error)
    rows = cached(encoder, ("rejected", asked.key), lambda _: check_rows(encoder, asked.frame))
    show_rejected(rows[1])
    st.stop()
early.empty()
with when:
    if any(kept):
        offer_again(*kept)
    show_rejected(report.rejected)
if encoder.patchable:
    with together:
        swaps.show_together(asked)
else:
    top.info(f"Heads' outputs can't be swapped in this encoder: {encoder.patch_reason}")
layers, heads = side_by_side()
with layers:
    separation.show_layers(report)
with heads:
    separation.show_heads(encoder, report, head)
swapped = None
if encoder.patchable:
    separation.show_words(report)
    with one_sentence:
        row = separation.show_sentences(report, head, word)
    with limit:
        swapped = swaps.show_all(asked, head, over_all)
        if swapped and not late:
            swaps.show_word(asked, head, word, in_one)
    if row is not None:
        with one_sentence:
            swaps.show_sources(asked, word, head, row)
view.offer_tables(report, swapped, head)
