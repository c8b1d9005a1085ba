"""Which word brings another's sense in, over many sentences, and which heads; where its vector separates the senses."""

import streamlit as st

from pages.explore.senses import separation, swaps, which_word
from pages.explore.senses import tables_and_reports as view
from pages.explore.senses.finished_scan import show_scan
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key
from selfattn.dashboard.compute_again import offer_again, stored_report
from selfattn.dashboard.figures import PageEnds, say, show_error, side_by_side, this_page
from selfattn.dashboard.pickers import segmented
from selfattn.export.notebook_lines import LABELLED, OWN_TABLE, SAID, senses_lines
from selfattn.senses import HiddenWordsReport, SeparationReport, SwapReport, check_rows
from selfattn.stored_reports import LeadingHeads

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
frame, key = (view.labelled(), "labelled") if own else (view.pick_table() or st.stop())
# What takes longest stands above what is there at once.
when, first, top, early = st.container(), st.container(), st.empty(), st.empty()
kept = stored_report(SeparationReport, encoder) if own else None
kept_swaps = stored_report(SwapReport, encoder) if own else None
kept_hidden = stored_report(HiddenWordsReport, encoder) if own else None
kept_sets = stored_report(LeadingHeads, encoder) if own else None
with this_page().beside:
    word = swaps.pick_word(frame)
rows = LABELLED if own else OWN_TABLE
this_page().python = senses_lines(encoder, rows, word, head), {"encoder": encoder}
drawn = False
try:
    with first:
        which_word.show(encoder, frame, key, word, kept_hidden)
    if encoder.patchable:
        with top.container():
            over_all, in_one = swaps.begin(word)
            together, one_sentence = side_by_side()
            limit = st.container()
        seen = session.SWAPPED.get() == (encoder_key(encoder), key)
        if kept is None and frame["word"].nunique() > 1 and not seen:
            with early.container():
                view.show_one_word(encoder, frame, key, word)
            drawn = swaps.show_first(encoder, frame, key, head, word, in_one)
    report = kept.report if kept else view.separated(encoder, frame, ("senses", key))
except ValueError as error:
    top.empty()
    show_error(error)
    view.show_rejected(cached(encoder, ("rejected", key), lambda _: check_rows(encoder, frame))[1])
    st.stop()
early.empty()
with when:
    if kept or kept_swaps or kept_hidden:
        offer_again(kept, kept_swaps, kept_hidden)
    view.show_rejected(report.rejected)
if encoder.patchable:
    with together:
        swaps.show_together(kept_sets)
else:
    top.info(f"Heads' outputs can't be swapped in this encoder: {encoder.patch_reason}")
layers, heads = side_by_side()
with layers:
    separation.show_layers(report)
with heads:
    separation.show_heads(encoder, report, head)
swapped = None
if encoder.patchable:
    separation.show_words(encoder, frame, key, head, report)
    with one_sentence:
        row = separation.show_sentences(report, head, word)
    with limit:
        swapped = swaps.show(encoder, frame, key, head, kept_swaps, word, over_all, None if drawn else in_one)
    if row is not None:
        with one_sentence:
            swaps.show_sources(encoder, frame, key, word, head, row)
view.offer_tables(report, swapped, head)
