"""Results over many labelled sentences: which word brings the sense in, and which layers and heads separate the senses."""

import streamlit as st

from pages.explore.senses import tables_and_reports as view
from pages.explore.senses import which_word
from pages.explore.senses.finished_scan import show_scan
from selfattn.captions import senses as captions
from selfattn.charts.curves import layers_curve
from selfattn.dashboard.cache import cached
from selfattn.dashboard.compute_again import offer_again
from selfattn.dashboard.copy_as_python import LABELLED, OWN_TABLE, lines, load
from selfattn.dashboard.figures import PageEnds, current_theme, say, show_chart, show_error, side_by_side, this_page
from selfattn.dashboard.pickers import segmented
from selfattn.dashboard.typed_text import show_rejected
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.senses import HiddenWordsReport, SeparationReport, check_rows
from selfattn.tidy_tables import layers_frame, named_heads, words_frame

SOURCES = {"labelled": "the labelled set", "table": "your own table", "scan": "a finished scan"}
# The map's options, by column of `SeparationReport.heads`.
MAPS = {
    "adds": "attention adds",
    "accuracy": "the head",
    "uniform": "equal weights",
    "own_value": "own value",
    "floor": "random",
}


def show_layers(report: SeparationReport) -> None:
    """Show, after each layer, the share of sentences whose nearest sense is their own."""
    st.markdown(
        "#### Where the senses are separate",
        help="Each sentence is compared with the average of the other sentences of each sense, by the cosine of the "
        "word's vectors; the share that lands with its own sense. The band is a 95 % interval over words.",
    )
    curve = layers_curve(layers_frame(report), current_theme())
    show_chart(curve, captions.layers(report), one_head=False, name="where the senses are separate")


def show_heads(encoder: Encoder, report: SeparationReport, head: Head) -> None:
    """Show the same share for each head, and for the baselines."""
    st.markdown(
        "#### In which heads, and what attention adds",
        help="What attention adds is the head's accuracy minus the better of two baselines, which the other half of a word's "
        "sentences chooses: the same values with all weights equal, and the word's own value. L0 H10 is head 10 of layer 0: "
        "layers and heads count from 0. A click chooses a head.",
    )
    column = segmented("Map", MAPS, key="sense_map", label_visibility="collapsed")
    if not encoder.patchable:
        st.info(f"Heads can be compared only where their outputs can be read: {encoder.patch_reason}")
        return
    kind = "signed" if column == "adds" else "weights"
    view.show_map(named_heads(report.heads), column, kind, head, captions.heads(report, head), MAPS[column])
    say(captions.chance(report))


def show_words(report: SeparationReport) -> None:
    """Show the words, ranked by how well the last layer separates their senses."""
    st.markdown("**The words, ranked**")
    words = words_frame(report)
    say(captions.words(words))
    said = {"accuracy": "after the last layer", "first": "after layer 0"}
    two_places = dict.fromkeys(said.values(), st.column_config.NumberColumn(format="%.2f"))
    st.dataframe(words.rename(columns=said), hide_index=True, height=240, column_config=two_places)


def show_sentences(report: SeparationReport, head: Head, word: str) -> None:
    """Show one word's sentences, the head's errors first. A selected row opens in the other views."""
    st.markdown("**The chosen head's sentences**")
    every = report.sentences(*head)
    say(captions.sentences(every, str(head)))
    found = every[every["word"] == word].sort_values("score", kind="stable")
    shown = found[["sense", "nearest", "sentence"]].rename(columns={"nearest": "nearest sense"})
    row = view.pick_row(shown, f"rows {head} {word}")
    if row is None:
        st.caption("Select a row to open its sentence in the other views, beside one of another sense.")
    else:
        view.open_row(found, row)


encoder, head = this_page().encoder, this_page().head
say(
    "One pair of sentences is a hint. Over many: which word brings the sense of another in, where does its vector separate the "
    "senses, and does attention add anything to what a plain average would give?"
)
with this_page().beside:
    source = segmented("Sentences", SOURCES, key="source")
if source == "scan":
    show_scan(head)
    raise PageEnds
own = source == "labelled"
asked = view.Labelled(encoder, *((view.labelled(), view.BUILT_IN) if own else view.pick_table() or st.stop()))
when, first, early = st.container(), st.container(), st.empty()
kept = [asked.stored(kind) for kind in (SeparationReport, HiddenWordsReport)]
with this_page().beside:
    word = view.pick_word(asked.frame)
this_page().python = lines(
    LABELLED if own else OWN_TABLE,
    load(encoder),
    "from selfattn.senses import separation\nnotebook.separated(separation(encoder, senses))",
)
try:
    with first:
        which_word.show(asked, word)
    with early.container():
        view.show_one_word(asked, word)
    report = view.separated(asked)
except ValueError as error:
    show_error(error)
    rows = cached(encoder, ("rejected", asked.key), lambda _: check_rows(encoder, asked.frame))
    show_rejected(rows[1])
    st.stop()
early.empty()
with when:
    if any(kept):
        offer_again(*kept)
    show_rejected(report.rejected)
left, right = side_by_side()
with left:
    show_layers(report)
    show_words(report)
with right:
    show_heads(encoder, report, head)
    if encoder.patchable:
        show_sentences(report, head, word)
view.offer_tables(report, head)
