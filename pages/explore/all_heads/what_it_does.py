"""The chosen head's profile: what it does in one sentence, and the labelled sentences in which it does most at the word."""

from urllib.parse import urlencode

import streamlit as st

from selfattn import numbers
from selfattn.analysis.patterns import fits, nearest_first
from selfattn.captions import attention as captions
from selfattn.dashboard.compute_again import labelled, stored_report
from selfattn.dashboard.encoder_picker import link_to
from selfattn.dashboard.figures import literal, say
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.examples import other_sentences
from selfattn.senses import HeadProfiles


def show_what_it_does(encoder: Encoder, encoding: Encoding, head: Head) -> None:
    """Over the labelled sentences where they were read beforehand, else in this sentence."""
    st.markdown(f"**What {head} does**")
    found = stored_report(HeadProfiles, encoder)
    if found is None:
        say(captions.head_profile(fits(encoding.weights(*head), encoding), str(head), "In this sentence"))
        return
    report = found.report
    own = [
        table[(table["layer"] == head.layer) & (table["head"] == head.head)]
        for table in (report.patterns, report.sentences)
    ]
    where = f"Over {report.n} labelled sentences"
    say(captions.head_profile(nearest_first(own[0].iloc[0]), str(head), where))
    lines = [_line(encoder, head, place) for place in own[1].itertuples()]
    intro = f"In these it attends most from the labelled word to another (computed on {found.date}):\n"
    st.markdown(intro + "\n".join(lines))


def _line(encoder: Encoder, head: Head, place) -> str:
    """One sentence as a link to the main view, beside the first one of the word's other sense."""
    frame = labelled()
    row = frame.loc[place.row]
    other, control = other_sentences(frame, place.row)
    view = {"example": "", "a": row["sentence"], "b": other, "c": control, "word": row["word"], "head": str(head)}
    said = f"{numbers.weight(place.weight)} {row['word']} → {place.to}: {row['sentence']}"
    return f"- [{literal(said)}](./?{urlencode(link_to(encoder) | view)})"
