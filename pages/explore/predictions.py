"""Predictions: the encoder's own answer (a class, a score, a cosine, a tag, a gap), and the words and heads it rests on."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from torch.nn.functional import cosine_similarity

from selfattn import numbers
from selfattn.analysis.explaining import Explained, explain, removed_in_turn
from selfattn.analysis.hidden_sentences import HiddenSentences, hidden_sentences, is_long
from selfattn.charts.labels import isolated
from selfattn.dashboard import session
from selfattn.dashboard.answer import SHORT
from selfattn.dashboard.browser_history import note_in_address
from selfattn.dashboard.cache import cached, cached_encode, encoder_key
from selfattn.dashboard.copy_as_python import lines, load
from selfattn.dashboard.figures import literal, say, show_error, show_panel, side_by_side, this_page
from selfattn.dashboard.link import say_what_is_missing
from selfattn.dashboard.parts import show_part
from selfattn.dashboard.pickers import FIRST, open_sentences, segmented
from selfattn.dashboard.reports import stoppable, stored_report
from selfattn.dashboard.typed_text import check_length, encode_or_stop, show_rejected
from selfattn.encoders.classification import load_class_head, load_tag_head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import TextError
from selfattn.encoders.heads_on_top import NoHead
from selfattn.encoders.masked_lm import load_masked_head, replace_word
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.pooling import NoPooling, Pooling, load_pooling
from selfattn.examples import TEXT_PAIRS
from selfattn.panel import Panel
from selfattn.scan.tables import InputError
from selfattn.scan.uploads import TAKEN, read_table
from selfattn.senses import TargetReport, UnrelatedPairs, over_sentences
from selfattn.stored_reports import made_once
from selfattn.views import predictions as views
from selfattn.views.long_text import Row, long_text, lost
from selfattn.views.predictions import Question
from selfattn.views.similar import beside, similar
from selfattn.words import Word

T = TypeVar("T")
ASKED = {
    "class": "A class",
    "pair": "Query and document",
    "similarity": "Two sentences",
    "tag": "A tag",
    "gap": "A gap",
}


FIRST_FIELD = {"pair": "Query", "similarity": "Sentence A"}  # by what is asked; of the others "Sentence"


def pick_question(encoder: Encoder) -> list[Question]:
    """What the visitor asks, of one text or of two; the answer stands on the page then. Where there is none, it says why."""
    first = views.first_asked(encoder, session.GAP in st.query_params)
    before = session.DEFAULT_OF.of(session.ASKED)
    if session.ASKED.get() is not None and session.ASKED.get() == before.get():
        session.ASKED.set(first)  # of another encoder what it was trained for, until the visitor asks something else
    before.set(first)
    with this_page().beside:
        kind = segmented("What is asked", ASKED, default=first, key=session.ASKED)
    this_page().own = st.container(horizontal=True, gap="medium")
    text = _field(FIRST_FIELD.get(kind, "Sentence"), FIRST.first, session.A)
    try:
        questions = {"class": _class, "pair": _pair, "similarity": _similarity, "tag": _tag, "gap": _gap}[kind](
            encoder, text
        )
    except TextError as error:  # one that would be cut, or has another gap
        show_error(error)
        st.stop()
    if questions[0].answer:
        with st.container(key="answer"):
            st.markdown(literal("; ".join(question.answer for question in questions)))
    if kind == "gap":
        say(isolated(questions[0].sentence.text))
    return questions


def _field(label: str, first: str, key: session.Key) -> str:
    """A field for a text of any length: one of a single line would glue pasted lines together."""
    return this_page().own.text_area(label, first, key=key, bind="query-params", width=370, height=90)


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


def _pair(encoder: Encoder, query: str) -> list[Question]:
    """A class head asked with a query and one or two documents: a cross-encoder's score."""
    head = _of_folder(encoder, "classification head", load_class_head)
    texts = [_field("Document", FIRST.second, session.B), _field("Second document", "", session.DOCUMENT)]
    named = [text for text in texts if text.strip()] or texts[:1]
    read = [encode_or_stop(encoder, query, f"Document {n}", pair=text) for n, text in enumerate(named, 1)]
    label = None
    if len(head.labels) > 1:
        _, first = views.class_question(head, read[0]).key
        session.CLASS.keep_within(head.labels, head.labels[first])
        with this_page().beside:
            label = st.selectbox("Class", head.labels, first, key=session.CLASS, bind="query-params", width=200)
    where = [f" in document {n}" for n in (1, 2)] if len(read) == 2 else [""]
    return [views.class_question(head, sentence, label, own) for sentence, own in zip(read, where)]


def _similarity(encoder: Encoder, text: str) -> list[Question]:
    pooling = _of_folder(encoder, "pooling", load_pooling)
    other = _field("Sentence B", FIRST.second, session.B)
    st.pills(
        "Examples", [pair.name for pair in TEXT_PAIRS], key=session.SIMILAR, on_change=_use_example,
        label_visibility="collapsed",
    )  # fmt: skip
    read = {name: _as_read(encoder, pooling, own, name) for name, own in (("A", text), ("B", other))}
    sides = {name: encoding for name, (encoding, _) in read.items()}
    whole = {name: text for name, (_, text) in read.items()}
    cut = [name for name in sides if len(sides[name].ids) < len(whole[name].ids)]
    if cut and all(len(each.ids) <= encoder.max_tokens for each in whole.values()):
        all_read = replace(pooling, max_tokens=None)
        vectors = [
            [encoding.vector(encoder.n_layers, all_read.positions(encoding)) for encoding in texts]
            for texts in (sides.values(), [cached_encode(encoder, each.text) for each in whole.values()])
        ]
        as_it_is, whole_cosine = (numbers.cosine(float(cosine_similarity(*own, dim=0))) for own in vectors)
        say(f"The cosine is {as_it_is}; read whole it would be {whole_cosine}.")
    return views.similarity_questions(encoder, pooling, sides, {name: whole[name] for name in cut})


def _as_read(encoder: Encoder, pooling: Pooling, text: str, name: str) -> tuple[Encoding, Tokens]:
    """The text as the embedder's users have it read, and the whole; the page says what is lost."""
    check_length(text)
    read, whole = pooling.read(encoder, text)
    if len(read.ids) == len(whole.ids):
        return (encoding := encode_or_stop(encoder, text, f"Sentence {name}")), encoding
    st.warning(literal(lost(encoder.title, whole, read, f" of {name}")), icon=":material/content_cut:")
    encoding = cached(encoder, ("encoding", read.text, None, len(read.ids)), lambda _: encoder.encode(read))
    this_page().texts[name] = encoder, encoding
    return encoding, whole


def _use_example() -> None:
    for pair in TEXT_PAIRS:
        if pair.name == session.SIMILAR.get():
            open_sentences(None, pair.first, pair.second, "", "")


def _tag(encoder: Encoder, text: str) -> list[Question]:
    """A tag of one word, with every word's tag above."""
    head = _of_folder(encoder, "token-classification head", load_tag_head)
    sentence = encode_or_stop(encoder, text, "The sentence")
    words = _words_or_stop(sentence)
    found = head.tags(sentence)
    surest, asked = views.most_certain(found), st.query_params.get(session.TAGGED)
    at = words.index(asked) if asked in words else surest
    this_page().address[session.TAGGED] = None if at == surest else words[at]
    missing = "The link asks for the word {!r}, which the sentence hasn't got.".format
    say_what_is_missing(session.TAGGED, words, words[at], missing)
    with this_page().beside:
        label = st.selectbox("Tag", head.labels, head.labels.index(found["tag"][at]), key=f"tag of {at}", width=150)
    show_panel(views.tags(sentence, found, at), choose=partial(_choose_word, words), states=("word",))
    return [views.tag_question(head, sentence, at, label)]


def _choose_word(words: Sequence[str], _: str, at: Any) -> None:
    if type(at) is int and 0 <= at < len(words):  # it comes from a browser
        note_in_address({session.TAGGED: words[at]})


def _words_or_stop(tokens: Tokens) -> list[str]:
    """The words as labels; where there is none, the page says so and ends."""
    if not tokens.words:
        st.error("The sentence has no word. Type one.", icon=":material/error:")
        st.stop()
    return views.words_of(tokens)


def _gap(encoder: Encoder, text: str) -> list[Question]:
    head = _of_folder(encoder, "masked-language head", load_masked_head)
    check_length(text)
    tokens = encoder.tokenize(text)
    words = _words_or_stop(tokens)
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


def show_similar(encoder: Encoder, first: Question, second: Question) -> None:
    """Which words make two texts similar, and how similar unrelated ones are: stored, or measured when the visitor asks."""
    place, key = st.container(), encoder_key(encoder)
    kept = stored_report(UnrelatedPairs, encoder)
    unrelated = kept and kept.report
    if not kept and session.UNRELATED.get() == key:
        make, title = partial(made_once, "unrelated_pairs", encoder), "1,000 unrelated pairs ..."
        try:
            unrelated = cached(encoder, "unrelated pairs", lambda progress: make(progress=progress), title, costly=True)
        except TextError as error:  # of an encoder that reads short texts only
            show_error(error)
    make = partial(similar, encoder, first.sentence, second.sentence, unrelated=unrelated, code=this_page().python)
    costly = any(len(each.sentence.tokens) > SHORT for each in (first, second))
    texts, names = zip(*((each.sentence.text, views.words_of(each.sentence)) for each in (first, second)))
    with place:
        found = cached(
            encoder, ("similar", *texts, unrelated is not None), lambda progress: make(progress=progress), "Hiding each word ...",
            costly=costly,
        )  # fmt: skip
        panel = replace(found, live=found.live and found.live.changed(hidden=_hidden_now(names)))
        show_panel(panel, key="two texts", choose=partial(_hide, found, names), states=("hidden",))
    if not unrelated:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Compare with 1,000 unrelated pairs", on_click=session.UNRELATED.set, args=(key,))
            st.caption("One pass over some 700 sentences. What is measured is kept.")


def _hidden_now(names: Sequence[Sequence[str]]) -> list[int | None]:
    """The words of A and of B that the address hides, by their numbers."""
    hidden: list[int | None] = []
    for name, own, key in zip("AB", names, session.HIDE.values()):
        asked = st.query_params.get(key, "")
        hidden.append(own.index(asked) if asked in own else None)
        missing = f"The link hides {{!r}}, which {name} hasn't got.".format
        say_what_is_missing(key, own, asked if asked in own else "nothing hidden", missing)
        this_page().address[key] = asked if asked in own else None
    return hidden


def _hide(panel: Panel, names: Sequence[Sequence[str]], _: str, given: Any) -> None:
    """Keep the hidden words in the address. They come from a browser: what this figure doesn't offer is passed over."""
    shown, *hidden = given if isinstance(given, list) and len(given) == 3 else [None]
    if panel.live is None or shown != panel.live.data["key"]:
        return
    for key, own, at in zip(session.HIDE.values(), names, hidden):
        if at is None or (type(at) is int and 0 <= at < len(own)):
            note_in_address({key: None if at is None else own[at]})
    st.rerun(["two texts"])


def explained(encoder: Encoder, question: Question, words: Sequence[Word] | None = None) -> Explained:
    """The question's words (None: each) and heads, the chosen head run as well, from the cache or now."""
    sentence, target = question.sentence, question.asked(question.sentence)
    found = cached(
        encoder, (*_key("explained", question), words is None),
        lambda progress: explain(encoder, sentence, target, words=words, progress=progress), "Hiding each word ...",
        costly=len(sentence.tokens) > SHORT,
    )  # fmt: skip
    return _with_chosen_head(encoder, question, found)


def sentences_explained(encoder: Encoder, question: Question) -> HiddenSentences:
    """The question's sentences, the words of those that lead, and heads, likewise."""
    text, target = question.sentence, question.asked(question.sentence)
    make = partial(hidden_sentences, encoder, text, target)
    title = "Hiding each sentence, then the words of those that matter most ..."
    found = stoppable(encoder, _key("sentences", question), title, lambda progress: make(progress=progress))
    return replace(found, explained=_with_chosen_head(encoder, question, found.explained))


def _key(what: str, question: Question) -> tuple:
    return (what, question.sentence.text, question.sentence.pair, len(question.sentence.ids), *question.key)


def _with_chosen_head(encoder: Encoder, question: Question, found: Explained) -> Explained:
    head = this_page().head
    if found.heads.isnan().all() or found.heads[head].isfinite():
        return found
    (without,) = cached(
        encoder,
        (*_key("without", question), head),
        lambda _: removed_in_turn(encoder, question.sentence, found.target, [head]),
    )
    heads = found.heads.clone()
    heads[head] = without - found.number
    return replace(found, heads=heads)


def copied(question: Question, ask: str) -> str:
    """Lines of Python that ask the question of `encoder` by the function `ask`, and keep the answer in `found`."""
    texts = ", ".join(repr(text) for text in (question.sentence.text, question.sentence.pair) if text is not None)
    sentence = f"sentence = encoder.encode({texts})"
    return f"{question.python}\n{sentence}\nfound[{question.said!r}] = {ask}(encoder, sentence, asked(sentence))"


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
questions = pick_question(encoder)
this_page().address |= dict.fromkeys(session.HIDE.values())
first = questions[0]
if any(is_long(question.sentence) for question in questions):
    this_page().python = lines(
        "from selfattn.analysis.hidden_sentences import hidden_sentences",
        load(encoder),
        "found = {}",
        *(copied(question, "hidden_sentences") for question in questions),
        "notebook.hidden_sentences(found)",
    )
    hidden = {question: sentences_explained(encoder, question) for question in questions}
    rows = [Row(question.where, each, question.whole) for question, each in hidden.items()]
    cosine = first.key[0] == "similarity"
    kept = stored_report(UnrelatedPairs, encoder) if cosine else None
    answer = beside(rows[0].hidden.number, kept and kept.report) if cosine else ""
    show_panel(long_text(first.what, first.write, rows, answer))
    found = {question: each.explained for question, each in hidden.items()}
elif first.key[0] == "similarity":
    texts = ", ".join(repr(question.sentence.text) for question in questions)
    this_page().python = lines(load(encoder), f"notebook.similar(encoder, {texts})")
    show_part("two texts", partial(show_similar, encoder, *questions))
    found = {question: explained(encoder, question, words=()) for question in questions}
else:
    found = {question: explained(encoder, question) for question in questions}
    this_page().python = lines(
        "from selfattn.analysis.explaining import explain",
        load(encoder),
        "found = {}",
        *(copied(question, "explain") for question in questions),
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
if questions[0].key[0] != "tag":  # of one word of this sentence
    with st.expander("Over many of your sentences"):
        show_over_table(encoder, questions[0])
