"""Encode a visitor's text, and show unusable rows of a table."""

import pandas as pd
import streamlit as st

from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.figures import literal, show_error, this_page
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import TextError
from selfattn.settings import Settings

MOST_NAMED = 5  # unknown words named in one message, at most


def check_length(text: str) -> None:
    """Raise TextError for a text that is too long."""
    if len(text) > (limit := Settings.read().max_characters):
        raise TextError(
            f"This text has {len(text):,} characters, but this server allows at most {limit:,}. Shorten the text."
        )


def encode_or_stop(
    encoder: Encoder, text: str, label: str, *, pair: str | None = None, most: int | None = None
) -> Encoding:
    """Return the text's encoding. If the text can't be encoded, say why and end the page.

    label: the page's name for the text.
    pair: a second text, encoded together with `text`.
    most: the largest allowed number of tokens.
    """
    try:
        check_length(text)
        encoding = cached_encode(encoder, text, pair)
        if most is not None and len(encoding.tokens) > most:
            raise TextError(
                f"The sentence has {len(encoding.tokens)} tokens, but this lesson allows at most {most}. Shorten the sentence."
            )
    except TextError as error:
        show_error(f"{label}: {error}")
        st.stop()
    if encoding.unknown and (unknown := encoding.read_as_unknown()):
        names = ", ".join(f'"{read}"' for read in unknown[:MOST_NAMED]) + " ..." * (len(unknown) > MOST_NAMED)
        mark = encoding.tokens[min(encoding.unknown)]
        said = f"{label}: this encoder doesn't know {names}. The encoder reads {mark} instead."
        st.info(literal(f"{said} You can't choose the token {mark}, because {mark} stands for any unknown text."))
    if pair is None:
        this_page().texts[label.removeprefix("The ").removeprefix("Sentence ")] = (encoder, encoding)
    return encoding


def show_rejected(rejected: pd.DataFrame) -> None:
    """Show the unusable rows of a visitor's table, with reasons."""
    if len(rejected):
        st.warning(f"{len(rejected):,} rows of the table can't be used and are left out.", icon=":material/warning:")
        shown = [name for name in ("line", "reason", "word", "sense", "sentence") if name in rejected]
        st.dataframe(rejected[shown], hide_index=True, height=180)
