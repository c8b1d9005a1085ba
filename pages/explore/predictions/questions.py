"""What is asked on Predictions: the pickers of a class, of two sentences and of a gap, and the encoder's answer."""

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.cache import cached_or_why
from selfattn.dashboard.figures import literal, say, show_error, this_page
from selfattn.dashboard.pickers import FIRST, segmented
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import TextError
from selfattn.encoders.masked_lm import load_masked_head, replace_word
from selfattn.encoders.pooling import load_pooling
from selfattn.export.notebook_lines import SAID
from selfattn.views.predictions import (
    Question,
    class_question,
    first_asked,
    gap_question,
    numbered,
    similarity_questions,
    words_of,
)


def pick_question(encoder: Encoder, text: str) -> list[Question]:
    """What the visitor asks, of one sentence or of two; the answer stands on the page then. Where there is none, it says why."""
    first = first_asked(encoder, session.GAP in st.query_params)
    with this_page().beside:
        kind = segmented("What is asked", SAID["asked"], default=first, key=session.ASKED)
    try:
        questions = {"class": _class, "similarity": _similarity, "gap": _gap}[kind](encoder, text)
    except TextError as error:  # one that would be cut, or has another gap
        show_error(error)
        st.stop()
    with st.container(key="answer"):
        st.markdown(literal(questions[0].answer))
    if kind == "gap":
        say(questions[0].sentence.text)
    return questions


def _or_why(encoder: Encoder, what: str, load):
    found = cached_or_why(encoder, what, load, f"Loading the {what} ...")
    if isinstance(found, str):
        st.info("This encoder can't be asked that. Ask something else, or choose another encoder.")
        say(found)
        st.stop()
    return found


def _class(encoder: Encoder, text: str) -> list[Question]:
    head = _or_why(encoder, "classification head", load_class_head)
    sentence, options = encode_or_stop(encoder, text, "The sentence"), numbered(head.labels)
    _, first = class_question(head, sentence).key
    session.CLASS.keep_within(options, options[first])
    with this_page().beside:
        label = st.selectbox("Class", options, first, key=session.CLASS, bind="query-params", width=200)
    return [class_question(head, sentence, label)]


def _similarity(encoder: Encoder, text: str) -> list[Question]:
    pooling = _or_why(encoder, "pooling", load_pooling)
    with this_page().beside:
        other = st.text_input("Sentence B", FIRST.second, key=session.B, bind="query-params", width=420)
    sides = {name: encode_or_stop(encoder, own, f"Sentence {name}") for name, own in (("A", text), ("B", other))}
    return similarity_questions(encoder, pooling, sides)


def _gap(encoder: Encoder, text: str) -> list[Question]:
    head, words = _or_why(encoder, "masked-language head", load_masked_head), words_of(text)
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
    masked = encode_or_stop(encoder, replace_word(text, gap, head.mask_token), "The sentence")
    question = gap_question(head, masked, session.TARGET.get() or 0)
    token = question.answers["token"]
    with this_page().beside:
        st.selectbox("Word", range(len(token)), format_func=token.__getitem__, key=session.TARGET, width=150)
    return [question]
