"""Which word brings another's sense in, over many sentences, and which heads; where its vector separates the senses."""

from collections.abc import Hashable

import streamlit as st

from pages.explore.senses import swaps, which_word
from pages.explore.senses import tables_and_reports as view
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
from selfattn.senses import HiddenWordsReport, SeparationReport, SwapReport, check_rows
from selfattn.tidy_tables import layers_frame, named_heads, words_frame

SOURCES = {"labelled": "the labelled set", "table": "your own table", "scan": "a finished scan"}
# What the maps can show, by its column.
MAPS = {
    "adds": "attention adds",
    "accuracy": "the head",
    "uniform": "equal weights",
    "own_value": "own value",
    "floor": "random",
}


def show_layers(report: SeparationReport) -> None:
    """The share of sentences whose own sense is the nearest one, after each layer."""
    st.markdown(
        "#### Where the senses are separate",
        help="Each sentence is compared with the average of the other sentences of each sense, by the cosine of the "
        "word's vectors; the share that lands with its own sense. The band is a 95 % interval over words.",
    )
    curve = layers_curve(layers_frame(report), current_theme())
    show_chart(curve, captions.layers(report), one_head=False, name="where the senses are separate")


def show_heads(encoder: Encoder, report: SeparationReport, head: Head) -> None:
    """The same head by head, beside the baselines."""
    st.markdown(
        "#### In which heads, and what attention adds",
        help="What attention adds is the head's accuracy minus the better of two baselines, which the other half of a word's "
        "sentences chooses: the same values with all weights equal, and the word's own value. L0 H10 is head 10 of layer 0: "
        "layers and heads count from 0. A click chooses a head.",
    )
    column = segmented("Map", MAPS, key="sense_map", label_visibility="collapsed")
    if not encoder.patchable:
        st.info("Heads can be compared only where what they hand over can be read.")
        return
    kind = "signed" if column == "adds" else "weights"
    view.show_map(named_heads(report.heads), column, kind, head, captions.heads(report, head), MAPS[column])
    say(captions.chance(report))


def show_words(report: SeparationReport) -> None:
    """Which words' senses lie apart: for who opens it."""
    with st.expander("The words, ranked"):
        words = words_frame(report)
        said = {"accuracy": "after the last layer", "first": "after layer 0"}
        two_places = dict.fromkeys(said.values(), st.column_config.NumberColumn(format="%.2f"))
        st.dataframe(words.rename(columns=said), hide_index=True, height=300, column_config=two_places)
        say(captions.words(words))


def show_sentences(report: SeparationReport, head: Head, word: str) -> Hashable | None:
    """One word's sentences that a head gets right and wrong. The chosen one can be opened beside one of another sense.

    Returns its row in the visitor's table.
    """
    st.markdown("**The chosen head's sentences**")
    every = report.sentences(*head)
    say(captions.sentences(every, str(head)))
    found = every[every["word"] == word].sort_values("score", kind="stable")  # the wrong ones first
    shown = found[["sense", "nearest", "sentence"]].rename(columns={"nearest": "nearest sense"})
    row = view.pick_row(shown, f"rows {head} {word}")
    if row is None:
        st.caption(
            "Select a row to see which tokens hand the sense over, and to open its sentence in the other views, beside one of "
            "another sense."
        )
    else:
        view.open_row(found, row)
    return row


encoder, head = this_page().encoder, this_page().head
say(
    "One pair of sentences is a hint. Over many: which word brings the sense of another in, which heads do, where does its "
    "vector separate the senses, and does attention add anything to what a plain average would give?"
)
with this_page().beside:
    source = segmented("Sentences", SOURCES, key="source")
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
this_page().python = lines(
    LABELLED if own else OWN_TABLE,
    load(encoder),
    "from selfattn.senses import separation\nnotebook.separated(separation(encoder, senses))",
)
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
left, right = side_by_side()
with left:
    show_layers(report)
with right:
    show_heads(encoder, report, head)
swapped = None
if encoder.patchable:
    show_words(report)
    with one_sentence:
        row = show_sentences(report, head, word)
    with limit:
        swapped = swaps.show_all(asked, head, over_all)
        if swapped and not late:
            swaps.show_word(asked, head, word, in_one)
    if row is not None:
        with one_sentence:
            swaps.show_sources(asked, word, head, row)
view.offer_tables(report, swapped, head)
