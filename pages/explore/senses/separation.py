"""The senses page's third part: where a word's vectors separate its senses, and in which heads."""

from collections.abc import Hashable

import streamlit as st

from pages.explore.senses.tables_and_reports import open_row, pick_row, show_map
from selfattn.captions import senses as captions
from selfattn.charts.curves import layers_curve
from selfattn.dashboard.figures import current_theme, say, show_chart
from selfattn.dashboard.pickers import segmented
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.senses import SeparationReport
from selfattn.tidy_tables import layers_frame, named_heads, words_frame

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
    show_map(named_heads(report.heads), column, kind, head, captions.heads(report, head), MAPS[column])
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
    row = pick_row(shown, f"rows {head} {word}")
    if row is None:
        st.caption(
            "Select a row to see which tokens hand the sense over, and to open its sentence in the other views, beside one of "
            "another sense."
        )
    else:
        open_row(found, row)
    return row
