"""The same question over a table of the visitor's sentences: words and heads, with n and intervals over sentences."""

import hashlib
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from selfattn.captions.predictions import over_sentences as caption
from selfattn.dashboard.cache import cached
from selfattn.dashboard.figures import say, show_error, side_by_side, this_page
from selfattn.encoders.encoder import Encoder
from selfattn.scan.tables import InputError
from selfattn.scan.uploads import read_table
from selfattn.senses import TargetReport, over_sentences
from selfattn.views.predictions import Question


def show_over_table(encoder: Encoder, question: Question) -> None:
    """A table of sentences, and what is found over all of them."""
    st.markdown(
        "**Over many of your sentences**",
        help="One sentence is a hint. A CSV (UTF-8) or JSON Lines file with a column sentence or text.",
    )
    upload = st.file_uploader("Table: .csv, .jsonl, .ndjson", key="table of sentences")
    if upload is None:
        return
    data = upload.getvalue()
    key = ("over sentences", hashlib.sha256(data).hexdigest(), *question.key)
    try:
        frame, broken = read_table(data, Path(upload.name).suffix.lower(), searched=True)
        make = partial(over_sentences, encoder, frame.set_index("line"), question.asked)
        report: TargetReport = cached(
            encoder, key, lambda progress: make(progress=progress), "Hiding each word of each sentence ...", costly=True
        )
    except (InputError, ValueError) as error:
        show_error(error)
        return
    rejected = pd.concat([broken, report.rejected.rename(columns={"row": "line"})])[["line", "reason"]]
    if len(rejected):
        st.warning(f"{len(rejected):,} rows can't be used; the others count.", icon=":material/warning:")
        st.dataframe(rejected, hide_index=True, height=180)
    say(caption(report, question.what, question.write))
    words, heads = side_by_side()
    format = dict.fromkeys(("effect", "low", "high", "by_gradient"), st.column_config.NumberColumn(format="%+.3f"))
    with words:
        st.markdown("**Words**, those of several sentences first")
        st.dataframe(report.words, hide_index=True, column_config=format, height=320)
    with heads:
        st.markdown("**The eight heads that lead**, by gradient")
        run = report.heads.dropna(subset=["effect"])
        run = run.sort_values("effect", key=lambda effect: -effect.abs(), kind="stable")
        st.dataframe(run, hide_index=True, column_config=format, height=320)
    if report.note:
        say(report.note)
    this_page().tables |= {
        f"{name}, over sentences": partial(getattr, report, name) for name in ("words", "heads", "sentences")
    }
