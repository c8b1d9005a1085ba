"""Masked words: what an encoder expects in a gap, how that changes with another word, and what each head does to it."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from selfattn.captions.vectors import OF_LOG_PROBABILITY, noise_floor
from selfattn.charts.head_map import head_map
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached_or_why, cached_removal
from selfattn.dashboard.figures import current_theme, say, show_chart, show_error, this_page
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import TextError
from selfattn.encoders.masked_lm import MaskedHead, load_masked_head, replace_word
from selfattn.encoders.placed_word import PlacedWord
from selfattn.tidy_tables import heads_frame
from selfattn.words import character_spans

TOP = 10


def pick_words(text: str) -> tuple[int, int | None, str]:
    """The number of the masked word and, if wanted, that of a changed word and its replacement."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = [text[slice(*span)] for span in character_spans(text)]
        if not words:
            st.error("The sentence has no word. Type one.", icon=":material/error:")
            st.stop()
        for key in (session.GAP, session.CHANGED):
            if (key.get() or 0) >= len(words):
                del st.session_state[key]
        label = numbered(words).__getitem__
        gap = st.selectbox(
            "Mask", range(len(words)), min(1, len(words) - 1), label, key=session.GAP, bind="query-params", width=150
        )
        changed = st.selectbox(
            "Change", range(len(words)), None, label, key=session.CHANGED, bind="query-params", width=150,
            placeholder="no word",
        )  # fmt: skip
        replacement = st.text_input(
            "to", "", key="replacement", bind="query-params", width=150, disabled=changed is None
        ).strip()
    return gap, changed, replacement


def numbered(words: Sequence[str]) -> list[str]:
    """The words as labels; one that stood before gets its place, so that a link can tell the two apart."""
    return [f"{word} ({place + 1})" if word in words[:place] else word for place, word in enumerate(words)]


def show_predictions(table: pd.DataFrame, text: str) -> None:
    """The likeliest tokens as a table with bars; the sentence above it as plain text."""
    say(text)
    bar = st.column_config.ProgressColumn("probability", format="%.3f", min_value=0.0, max_value=1.0)
    st.dataframe(
        table[["text", "probability"]].rename(columns={"text": "token"}),
        hide_index=True,
        column_config={"probability": bar},
        width="stretch",
    )


def show_heads(head: MaskedHead, encoding: Encoding, table: pd.DataFrame) -> None:
    """Layers x heads by what removing each does to one prediction; a click chooses a head."""
    encoder = head.encoder
    st.markdown(
        "**What each head does to a prediction**",
        help="Each head's output is set to zero at every position, one head at a time. The colour is the change of the token's "
        "logarithmic probability: negative means that without the head the token is less expected.",
    )
    if not encoder.patchable:
        st.info("No head can be removed from this encoder.")
        st.text(encoder.patch_reason, width="stretch")
        return
    row = session.TARGET.get() or 0
    row, named = min(row, len(table) - 1), table["text"].__getitem__
    row = st.selectbox("Prediction", range(len(table)), row, named, key=session.TARGET, width=240)
    chosen = this_page().head
    without = cached_removal(encoder, PlacedWord(encoding, (head.place(encoding),)))
    change = head.change(encoding, without, int(table["id"][row]))
    frame, noise = noise_floor(heads_frame(effect=change), "effect", encoder.dtype, {"effect": OF_LOG_PROBABILITY})
    chart = head_map(frame, "effect", current_theme(), str(chosen), title="change of log p")
    before = float(table["probability"][row])
    largest = frame.loc[frame["effect"].abs().idxmax()]
    own = frame[frame["name"] == str(chosen)].iloc[0]
    parts = [f"without {row['name']} {before * math.exp(row['effect']):.3f}" for row in (own, largest)]
    reading = (
        f'"{table["text"][row]}": {before:.3f} with every head; {parts[0]}; the largest change, {parts[1]}. {noise}'
    )
    show_chart(chart, reading.rstrip(), key="masked", heads=True, name="change of the masked word")


encoder, text = this_page().encoder, this_page().sentence
st.caption("A masked-language head says which token an encoder expects in a gap, from all that stands around it.")
found = cached_or_why(encoder, "masked-language head", load_masked_head, "Loading the masked-language head ...")
if isinstance(found, str):
    st.info("This encoder predicts no masked words.")
    say(found)
    st.stop()

gap, changed, replacement = pick_words(text)
masked_text = replace_word(text, gap, found.mask_token)
encoding = encode_or_stop(encoder, masked_text, "The sentence")
try:
    table = found.predictions(encoding, TOP)
except TextError as error:  # the sentence was typed with a mask token of its own
    show_error(error)
    st.stop()
left, right = st.columns(2, gap="medium")
with left:
    show_predictions(table, masked_text)
with right:
    if changed is not None and changed != gap and replacement and found.mask_token not in replacement:
        # The later word first, so that the earlier one keeps its number.
        edits = sorted([(gap, found.mask_token), (changed, replacement)], reverse=True)
        other_text = replace_word(replace_word(text, *edits[0]), *edits[1])
        other = encode_or_stop(encoder, other_text, "The changed sentence")
        show_predictions(found.predictions(other, TOP), other_text)
        after = table.assign(after=found.probabilities(other, table["id"].tolist()))
        most = after.loc[(after["after"] - after["probability"]).abs().idxmax()]
        said = f'"{most["text"]}" most: from {most["probability"]:.3f} to {most["after"]:.3f}.'
        say(f"The changed word moves {said}")
    else:
        st.caption("Change another word of the sentence to see here what the encoder expects then.")
show_heads(found, encoding, table)
