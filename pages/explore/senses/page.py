"""Which word brings another's sense in, over many sentences, and which heads; where its vector separates the senses."""

import streamlit as st

from pages.explore.senses import swaps, which_word
from pages.explore.senses import tables_and_reports as view
from pages.explore.senses.finished_scan import show_scan
from selfattn.captions import senses as captions
from selfattn.charts.curves import layers_curve
from selfattn.charts.ranks import words_chart
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key
from selfattn.dashboard.compute_again import offer_again, stored_report
from selfattn.dashboard.figures import PageEnds, current_theme, say, show_chart, show_error, side_by_side, this_page
from selfattn.dashboard.pickers import segmented
from selfattn.export.notebook_lines import LABELLED, OWN_TABLE, SAID, senses_lines
from selfattn.senses import HiddenWordsReport, SeparationReport, SwapReport, check_rows, clusters
from selfattn.stored_reports import LeadingHeads
from selfattn.tidy_tables import layers_frame, named_heads, words_frame

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
frame, key = (view.labelled(), "labelled") if source == "labelled" else (view.pick_table() or st.stop())
when, first, top, early = st.container(), st.container(), st.empty(), st.empty()
own = source == "labelled"
rows = LABELLED if own else OWN_TABLE
kept = stored_report(SeparationReport, encoder, frame, key) if own else None
kept_swaps = stored_report(SwapReport, encoder, frame, key) if own else None
kept_hidden = stored_report(HiddenWordsReport, encoder, frame, key) if own else None
drawn = False
try:
    if "sense" not in frame:
        found = view.cached_report(
            encoder, ("clusters", key), "Clusters, word", lambda progress: clusters(encoder, frame, progress=progress)
        )
        this_page().python = senses_lines(encoder, rows, None, head), {"encoder": encoder}
        view.show_clusters(found)
        st.stop()
    with this_page().beside:
        word = swaps.pick_word(frame)
    this_page().python = senses_lines(encoder, rows, word, head), {"encoder": encoder}
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
    checked = cached(encoder, ("rejected", key), lambda _: check_rows(encoder, frame, labelled="sense" in frame))
    view.show_rejected(checked[1])
    st.stop()
early.empty()
with when:
    if kept or kept_swaps or kept_hidden:
        offer_again(kept, kept_swaps, kept_hidden)
    view.show_rejected(report.rejected)

if encoder.patchable:
    with together:
        swaps.show_together(stored_report(LeadingHeads, encoder, frame, key) if own else None)
else:
    top.info(f"Heads' outputs can't be swapped in this encoder: {encoder.patch_reason}")
separate, in_heads = side_by_side()
with separate:
    st.markdown(
        "#### Where the senses are separate",
        help="Each sentence is compared with the average of the other sentences of each sense, by the cosine of the "
        "word's vectors; the share that lands with its own sense. The band is a 95 % interval over words.",
    )
    curve = layers_curve(layers_frame(report), current_theme())
    show_chart(curve, captions.layers(report), one_head=False, name="where the senses are separate")
with in_heads:
    st.markdown(
        "#### In which heads, and what attention adds",
        help="What attention adds is the head's accuracy minus the better of two baselines, which the other half of a word's "
        "sentences chooses: the same values with all weights equal, and the word's own value. L0 H10 is head 10 of layer 0: "
        "layers and heads count from 0. A click chooses a head.",
    )
    column = segmented("Map", view.MAPS, key="sense_map", label_visibility="collapsed")
    if encoder.patchable:
        reading = captions.heads(report, head)
        kind = "signed" if column == "adds" else "weights"
        view.show_map(named_heads(report.heads), column, kind, head, reading, view.MAPS[column])
        say(captions.chance(report))
    else:
        st.info("Heads can be compared only where what they hand over can be read.")
swapped = None
if encoder.patchable:
    with st.expander("The words, ranked; heads removed"):
        ranked, removed = side_by_side()
    with ranked:
        st.markdown("**The words, ranked**")
        words = words_frame(report)
        chart = words_chart(words, current_theme())
        show_chart(chart, captions.words(words), one_head=False, name="the words, ranked")
    with removed:
        st.markdown("**What removing heads does, over many pairs**")
        view.show_removal(encoder, frame, key, head)
    with one_sentence:
        st.markdown("**The chosen head's sentences**")
        row = view.show_sentences(report, head, word)
    with limit:
        swapped = swaps.show(encoder, frame, key, head, kept_swaps, word, over_all, None if drawn else in_one)
    if row is not None:
        with one_sentence:
            swaps.show_sources(encoder, frame, key, word, head, row)
view.offer_tables(report, swapped, head)
