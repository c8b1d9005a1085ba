"""What may be asked on Predictions: a class, the similarity of two sentences, a word in a gap; each as a target and in words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from selfattn import numbers
from selfattn.analysis.targets import Asked, class_score, gap_word, similarity
from selfattn.captions.predictions import Write
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached_or_why
from selfattn.dashboard.figures import literal, say, show_error, this_page
from selfattn.dashboard.pickers import FIRST, segmented
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import TextError
from selfattn.encoders.masked_lm import load_masked_head, replace_word
from selfattn.encoders.pooling import load_pooling
from selfattn.words import character_spans

TOP = 10
ASKED = {"class": "A class", "similarity": "Two sentences", "gap": "A gap"}


@dataclass(frozen=True, eq=False)
class Question:
    """One number that is asked of one sentence, and of those of a table."""

    sentence: Encoding
    asked: Asked
    key: tuple  # of results about it, beside the sentence
    python: str  # what makes `asked`, of `encoder`
    what: str  # the number, in a sentence
    write: Write
    where: str = ""  # " in A", where two sentences are asked about
    answers: pd.DataFrame | None = None  # what else the answer could have been: token or class, and probability


def pick_question(encoder: Encoder, text: str) -> list[Question]:
    """What the visitor asks, of one sentence or of two; the answer stands on the page then. Where there is none, it says why."""
    with this_page().beside:
        kind = segmented("What is asked", ASKED, default=_first(encoder), key=session.ASKED)
    return {"class": _class, "similarity": _similarity, "gap": _gap}[kind](encoder, text)


def _first(encoder: Encoder) -> str:
    """What the checkpoint says it was trained for. An old link to a masked word asks for a gap."""
    named = " ".join(getattr(encoder.model.config, "architectures", None) or ())
    gap = re.search("ForMaskedLM|ForPreTraining", named) or session.GAP in st.query_params
    return "class" if "ForSequenceClassification" in named else "gap" if gap else "similarity"


def _or_why(encoder: Encoder, what: str, load):
    found = cached_or_why(encoder, what, load, f"Loading the {what} ...")
    if isinstance(found, str):
        st.info("This encoder can't be asked that. Ask something else, or choose another encoder.")
        say(found)
        st.stop()
    return found


def _answer(text: str) -> None:
    with st.container(key="answer"):
        st.markdown(literal(text))


def _class(encoder: Encoder, text: str) -> list[Question]:
    head = _or_why(encoder, "classification head", load_class_head)
    sentence = encode_or_stop(encoder, text, "The sentence")
    likely = head.probabilities(head.logits(sentence.states[-1])).cpu()
    first = int(likely.argmax())
    options = numbered(head.labels)
    session.CLASS.keep_within(options, options[first])
    with this_page().beside:
        label = st.selectbox("Class", options, first, key=session.CLASS, bind="query-params", width=200)
    order = likely.argsort(descending=True).tolist()
    _answer(", ".join(f"{head.labels[at]} {numbers.weight(float(likely[at]))}" for at in order[:3]))
    number, what = options.index(label), "margin" if head.exclusive else "logit"
    key, python = ("class", number), f"class_score(load_class_head(encoder), {number})"
    answers = pd.DataFrame({"class": [options[at] for at in order], "probability": likely[order].tolist()})
    return [
        Question(
            sentence, class_score(head, number), key, python, f"the {what} of {label}", numbers.change, answers=answers
        )
    ]


def _similarity(encoder: Encoder, text: str) -> list[Question]:
    pooling = _or_why(encoder, "pooling", load_pooling)
    with this_page().beside:
        other = st.text_input("Sentence B", FIRST.second, key=session.B, bind="query-params", width=420)
    texts = {"A": text, "B": other}
    sides = {name: encode_or_stop(encoder, own, f"Sentence {name}") for name, own in texts.items()}
    questions = []
    try:
        for name, beside in zip("AB", "BA"):
            asked = similarity(encoder, pooling, sides[beside])
            asked(sides[name])  # a text that would be cut is refused here
            key = ("similarity", texts[beside])
            python = f"similarity(encoder, load_pooling(encoder), {texts[beside]!r})"
            questions.append(Question(sides[name], asked, key, python, "the cosine", numbers.effect, f" in {name}"))
    except TextError as error:
        show_error(error)
        st.stop()
    target = questions[0].asked(sides["A"])
    cosine = float(target.of(sides["A"].states[-1][list(target.positions)]))
    _answer(f"The two sentences have cosine {numbers.cosine(cosine)}.")
    return questions


def _gap(encoder: Encoder, text: str) -> list[Question]:
    head = _or_why(encoder, "masked-language head", load_masked_head)
    words = [text[slice(*span)] for span in character_spans(text)]
    if not words:
        st.error("The sentence has no word. Type one.", icon=":material/error:")
        st.stop()
    if (session.GAP.get() or 0) >= len(words):
        del st.session_state[session.GAP]
    with this_page().beside:
        gap = st.selectbox(
            "Mask", range(len(words)), min(1, len(words) - 1), numbered(words).__getitem__, key=session.GAP,
            bind="query-params", width=150,
        )  # fmt: skip
    masked = replace_word(text, gap, head.mask_token)
    sentence = encode_or_stop(encoder, masked, "The sentence")
    try:
        table = head.predictions(sentence, TOP)
    except TextError as error:  # the sentence was typed with a mask token of its own
        show_error(error)
        st.stop()
    row = min(session.TARGET.get() or 0, len(table) - 1)
    with this_page().beside:
        row = st.selectbox("Word", range(len(table)), row, table["text"].__getitem__, key=session.TARGET, width=150)
    _answer(", ".join(f'"{each.text}" {numbers.weight(each.probability)}' for each in table.head(3).itertuples()))
    say(masked)
    token, spelled = int(table["id"][row]), table["text"][row]
    answers = table[["text", "probability"]].rename(columns={"text": "token"})
    what, python = f'log p of "{spelled}"', f"gap_word(load_masked_head(encoder), {token})"
    return [Question(sentence, gap_word(head, token), ("gap", token), python, what, numbers.change, answers=answers)]


def numbered(words: Sequence[str]) -> list[str]:
    """The words as labels; one that stood before gets its place, so that a link can tell the two apart."""
    return [f"{word} ({place + 1})" if word in words[:place] else word for place, word in enumerate(words)]
