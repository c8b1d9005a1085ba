"""Predictions: the encoder's own answer (a class, a similarity, a gap), which words and heads it rests on; over a table, too."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pandas as pd
import streamlit as st

from selfattn.analysis.explaining import Explained, explain, removed_in_turn
from selfattn.charts.labels import isolated
from selfattn.dashboard import session
from selfattn.dashboard.answer import SHORT
from selfattn.dashboard.cache import cached
from selfattn.dashboard.copy_as_python import lines, load
from selfattn.dashboard.figures import literal, say, show_error, show_panel, side_by_side, this_page
from selfattn.dashboard.pickers import FIRST, segmented
from selfattn.dashboard.typed_text import check_length, encode_or_stop, show_rejected
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import TextError
from selfattn.encoders.heads_on_top import NoHead
from selfattn.encoders.masked_lm import load_masked_head, replace_word
from selfattn.encoders.pooling import NoPooling, load_pooling
from selfattn.scan.tables import InputError
from selfattn.scan.uploads import TAKEN, read_table
from selfattn.senses import TargetReport, over_sentences
from selfattn.views import predictions as views
from selfattn.views.predictions import Question

T = TypeVar("T")
ASKED = {"class": "A class", "similarity": "Two sentences", "gap": "A gap"}


def pick_question(encoder: Encoder, text: str) -> list[Question]:
    """What the visitor asks, of one sentence or of two; the answer stands on the page then. Where there is none, it says why."""
    first = views.first_asked(encoder, session.GAP in st.query_params)
    with this_page().beside:
        kind = segmented("What is asked", ASKED, default=first, key=session.ASKED)
    try:
        questions = {"class": _class, "similarity": _similarity, "gap": _gap}[kind](encoder, text)
    except TextError as error:  # one that would be cut, or has another gap
        show_error(error)
        st.stop()
    with st.container(key="answer"):
        st.markdown(literal(questions[0].answer))
    if kind == "gap":
        say(isolated(questions[0].sentence.text))
    return questions


def _of_folder(encoder: Encoder, what: str, load: Callable[[Encoder], T]) -> T:
    """What `load` finds in the encoder's folder; where it isn't there, the page says why and ends."""

    def make(_: object) -> T | str:
        try:
            return load(encoder)
        except (NoHead, NoPooling) as error:
            return str(error)

    found = cached(encoder, what, make, f"Loading the {what} ...")
    if isinstance(found, str):
        st.info("This encoder can't be asked that. Ask something else, or choose another encoder.")
        say(found)
        st.stop()
    return found


def _class(encoder: Encoder, text: str) -> list[Question]:
    head = _of_folder(encoder, "classification head", load_class_head)
    sentence, options = encode_or_stop(encoder, text, "The sentence"), head.labels
    _, first = views.class_question(head, sentence).key
    session.CLASS.keep_within(options, options[first])
    with this_page().beside:
        label = st.selectbox("Class", options, first, key=session.CLASS, bind="query-params", width=200)
    return [views.class_question(head, sentence, label)]


def _similarity(encoder: Encoder, text: str) -> list[Question]:
    pooling = _of_folder(encoder, "pooling", load_pooling)
    with this_page().beside:
        other = st.text_input("Sentence B", FIRST.second, key=session.B, bind="query-params", width=420)
    sides = {name: encode_or_stop(encoder, own, f"Sentence {name}") for name, own in (("A", text), ("B", other))}
    return views.similarity_questions(encoder, pooling, sides)


def _gap(encoder: Encoder, text: str) -> list[Question]:
    head = _of_folder(encoder, "masked-language head", load_masked_head)
    check_length(text)
    tokens = encoder.tokenize(text)
    words = views.words_of(tokens)
    if not words:
        st.error("The sentence has no word. Type one.", icon=":material/error:")
        st.stop()
    if (session.GAP.get() or 0) >= len(words):
        del st.session_state[session.GAP]
    with this_page().beside:
        gap = st.selectbox(
            "Mask", range(len(words)), min(1, len(words) - 1), words.__getitem__, key=session.GAP, bind="query-params",
            width=150,
        )  # fmt: skip
    masked = encode_or_stop(encoder, replace_word(tokens, gap, head.mask_token), "The sentence")
    question = views.gap_question(head, masked, session.TARGET.get() or 0)
    token = question.answers["token"]
    with this_page().beside:
        st.selectbox("Word", range(len(token)), format_func=token.__getitem__, key=session.TARGET, width=150)
    return [question]


def explained(encoder: Encoder, question: Question) -> Explained:
    """The question's words and heads, the chosen head run as well, from the cache or now."""
    sentence, head = question.sentence, this_page().head
    key = ("explained", sentence.text, *question.key)
    target = question.asked(sentence)
    found = cached(
        encoder, key, lambda progress: explain(encoder, sentence, target, progress=progress), "Hiding each word ...",
        costly=len(sentence.tokens) > SHORT,
    )  # fmt: skip
    if found.heads.isnan().all() or found.heads[head].isfinite():
        return found
    (without,) = cached(encoder, (*key, head), lambda _: removed_in_turn(encoder, sentence, target, [head]))
    heads = found.heads.clone()
    heads[head] = without - found.number
    return replace(found, heads=heads)


def copied(question: Question) -> str:
    """Lines of Python that ask the question of `encoder`, and keep the answer in `found`."""
    sentence = f"sentence = encoder.encode({question.sentence.text!r})"
    return f"{question.python}\n{sentence}\nfound[{question.said!r}] = explain(encoder, sentence, asked(sentence))"


def show_over_table(encoder: Encoder, question: Question) -> None:
    """A table of sentences, and what is found over all of them."""
    about = "One sentence is a hint. A CSV (UTF-8) or JSON Lines file with a column sentence or text."
    upload = st.file_uploader(f"Table: {', '.join(TAKEN)}", key="table of sentences", help=about)
    if upload is None:
        return
    data, kind = upload.getvalue(), Path(upload.name).suffix.lower()
    key = ("over sentences", hashlib.sha256(data).hexdigest(), kind, *question.key)
    try:
        frame, broken = read_table(data, kind, searched=True)
        make = partial(over_sentences, encoder, frame.set_index("line"), question.asked)
        report: TargetReport = cached(
            encoder, key, lambda progress: make(progress=progress), "Hiding each word of each sentence ...", costly=True
        )
    except (InputError, ValueError) as error:
        show_error(error)
        return
    show_rejected(pd.concat([broken, report.rejected.rename(columns={"row": "line"})])[["line", "reason"]])
    for panel, place in zip(views.over_sentences(report, question), side_by_side()):
        with place:
            show_panel(panel)
    if report.note:
        say(report.note)


encoder = this_page().encoder
questions = pick_question(encoder, this_page().sentence)
found = {question: explained(encoder, question) for question in questions}
this_page().python = lines(
    "from selfattn.analysis.explaining import explain",
    load(encoder),
    "found = {}",
    *map(copied, questions),
    "notebook.explained_words(found)",
)
show_panel(views.words(found))
if any(each.notes for each in found.values()):
    st.info("No head can be removed from this encoder.")
    say("\n".join(found[questions[0]].notes))
    panels = []
else:
    panels = [views.heads(question, found[question], str(this_page().head), encoder.dtype) for question in questions]
if len(questions[0].answers):
    panels.append(views.answers(questions[0]))
for panel, place in zip(panels, side_by_side(len(panels))):
    with place:
        show_panel(panel)
with st.expander("Over many of your sentences"):
    show_over_table(encoder, questions[0])
