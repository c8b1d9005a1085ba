"""Predictions: the encoder's own answer (a class, a score, a cosine, a tag, a gap), and the words and heads it rests on."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from torch.nn.functional import cosine_similarity

from selfattn import numbers
from selfattn.analysis.explaining import Explained, explain, removed_in_turn
from selfattn.analysis.sentences import is_long, sentences_of
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
from selfattn.views.explained import lost
from selfattn.views.predictions import Question
from selfattn.views.similar import beside, similar
from selfattn.words import numbered

T = TypeVar("T")


def pick_question(encoder: Encoder) -> list[Question]:
    """What the visitor asks, of one text or of two; the answer stands on the page then. Where there is none, it says why."""
    first = views.first_asked(encoder, session.GAP in st.query_params)
    before = session.DEFAULT_OF.of(session.ASKED)
    if session.ASKED.get() is not None and session.ASKED.get() == before.get():
        session.ASKED.set(first)  # of another encoder what it was trained for, until the visitor asks something else
    before.set(first)
    with this_page().beside:
        names = {kind: name for kind, (name, *_) in KINDS.items()}
        kind = segmented("What is asked", names, default=first, key=session.ASKED)
    this_page().own = st.container(horizontal=True, gap="medium")
    _, label, ask = KINDS[kind]
    try:
        questions = ask(encoder, _field(label, FIRST.first, session.A))
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
    return this_page().own.text_area(label, first, key=key, bind="query-params", width=350, height=90)


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


def _pick(label: str, options: Sequence[Any], first: int, key: str, **more: Any) -> Any:
    """A picker in the row of pickers."""
    with this_page().beside:
        return st.selectbox(label, options, first, key=key, width=200, **more)


def _linked(key: session.Key, options: Sequence[str], shown: str, missing: str) -> int | None:
    """The place among the options of what the address names; it stays there. Says where the link names something else.

    shown: what the page shows instead. missing: a sentence with {} for what is missing.
    """
    asked = st.query_params.get(key, "")
    found = asked in options
    say_what_is_missing(key, options, asked if found else shown, missing.format)
    this_page().address[key] = asked if found else None
    return options.index(asked) if found else None


def _link(key: session.Key, options: Sequence[str], at: Any) -> None:
    """Keep in the address what the visitor chose in a figure. It comes from a browser: another place is passed over."""
    if at is None or (type(at) is int and 0 <= at < len(options)):
        note_in_address({key: None if at is None else options[at]})


def _class(encoder: Encoder, text: str, pairs: Sequence[str | None] = (None,)) -> list[Question]:
    """A class of a text, or of a text with each of these."""
    head = _of_folder(encoder, "classification head", load_class_head)
    named = ["The sentence" if pair is None else f"Document {n}" for n, pair in enumerate(pairs, 1)]
    read = [encode_or_stop(encoder, text, name, pair=pair) for name, pair in zip(named, pairs)]
    label = None
    if len(head.labels) > 1:
        _, first = views.class_question(head, read[0]).key
        session.CLASS.keep_within(head.labels, head.labels[first])
        label = _pick("Class", head.labels, first, session.CLASS, bind="query-params")
    where = [f" in {name.lower()}" if len(read) > 1 else "" for name in named]
    return [views.class_question(head, sentence, label, own) for sentence, own in zip(read, where)]


def _pair(encoder: Encoder, query: str) -> list[Question]:
    """A class head asked with a query and one or two documents: a cross-encoder's score."""
    texts = [_field("Document", FIRST.second, session.B), _field("Second document", "", session.DOCUMENT)]
    return _class(encoder, query, [text for text in texts if text.strip()] or texts[:1])


def _similarity(encoder: Encoder, text: str) -> list[Question]:
    pooling = _of_folder(encoder, "pooling", load_pooling)
    other = _field("Sentence B", FIRST.second, session.B)
    st.pills(
        "Examples", [pair.name for pair in TEXT_PAIRS], key=session.SIMILAR, on_change=_use_example,
        label_visibility="collapsed",
    )  # fmt: skip
    read = {name: _as_read(encoder, pooling, own, name) for name, own in (("A", text), ("B", other))}
    cut = {name: whole for name, (encoding, whole) in read.items() if len(encoding.ids) < len(whole.ids)}
    if cut and all(len(whole.ids) <= encoder.max_tokens for whole in cut.values()):
        all_read = replace(pooling, max_tokens=None)
        wholes = [cached_encode(encoder, whole.text) for _, whole in read.values()]
        vectors = (
            [each.vector(encoder.n_layers, all_read.positions(each)) for each in texts]
            for texts in ([encoding for encoding, _ in read.values()], wholes)
        )
        as_it_is, whole_cosine = (numbers.cosine(float(cosine_similarity(*own, dim=0))) for own in vectors)
        say(f"The cosine is {as_it_is}; read whole it would be {whole_cosine}.")
    return views.similarity_questions(encoder, pooling, {name: encoding for name, (encoding, _) in read.items()}, cut)


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
    words, found = _words_or_stop(sentence), head.tags(sentence)
    surest = views.most_certain(found)
    linked = _linked(
        session.TAGGED, words, words[surest], 'The link asks for the word "{}", which the sentence hasn\'t got.'
    )
    at = surest if linked is None else linked
    before = session.DEFAULT_OF.of(session.TAG)
    if before.get() not in (None, text):  # it was chosen in another sentence
        st.query_params.pop(session.TAG, None)
    before.set(text)
    own, likeliest = [f"{words[at]}: {label}" for label in head.labels], head.labels.index(found["tag"][at])
    first = _linked(session.TAG, own, own[likeliest], 'The link asks for the tag "{}", which isn\'t there.')
    label = _pick("Tag", head.labels, likeliest if first is None else first, f"tag of {words[at]} in {text}")
    number = head.labels.index(label)
    this_page().address[session.TAG] = None if number == likeliest else own[number]
    choose = lambda _, to: _link(session.TAGGED, words, to)  # noqa: E731
    show_panel(views.tags(sentence, found, at), key="tags", choose=choose, states=("word",))
    return [views.tag_question(head, sentence, at, label)]


def _words_or_stop(tokens: Tokens) -> list[str]:
    """The words as labels; where there is none, the page says so and ends."""
    if not tokens.words:
        st.error("The sentence has no word. Type one.", icon=":material/error:")
        st.stop()
    return numbered([word.text for word in tokens.words])


def _gap(encoder: Encoder, text: str) -> list[Question]:
    head = _of_folder(encoder, "masked-language head", load_masked_head)
    check_length(text)
    tokens = encoder.tokenize(text)
    words = _words_or_stop(tokens)
    if (session.GAP.get() or 0) >= len(words):
        del st.session_state[session.GAP]
    named = {"format_func": words.__getitem__, "bind": "query-params"}
    gap = _pick("Mask", range(len(words)), min(1, len(words) - 1), session.GAP, **named)
    masked = encode_or_stop(encoder, replace_word(tokens, gap, head.mask_token), "The sentence")
    question = views.gap_question(head, masked, session.TARGET.get() or 0)
    token = question.answers["token"]
    _pick("Word", range(len(token)), 0, session.TARGET, format_func=token.__getitem__)
    return [question]


Ask = Callable[[Encoder, str], list[Question]]
KINDS: dict[str, tuple[str, str, Ask]] = {  # its name, its first field, and what makes the questions
    "class": ("A class", "Sentence", _class),
    "pair": ("Query and document", "Query", _pair),
    "similarity": ("Two sentences", "Sentence A", _similarity),
    "tag": ("A tag", "Sentence", _tag),
    "gap": ("A gap", "Sentence", _gap),
}


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
    texts, names = zip(*((each.sentence.text, _words(each)) for each in (first, second)))
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
            st.caption("One pass over some 700 sentences: a minute or two. What is measured is kept.")


def _words(question: Question) -> list[str]:
    return numbered([word.text for word in question.sentence.words])


def _hidden_now(names: Sequence[Sequence[str]]) -> list[int | None]:
    """The words of A and of B that the address hides, by their numbers."""
    return [
        _linked(key, own, "nothing hidden", f'The link hides "{{}}", which {name} hasn\'t got.')
        for own, (name, key) in zip(names, session.HIDE.items())
    ]


def _hide(panel: Panel, names: Sequence[Sequence[str]], _: str, given: Any) -> None:
    """Keep the hidden words in the address."""
    shown, *hidden = given if isinstance(given, list) and len(given) == 3 else [None]
    if panel.live is None or shown != panel.live.data["key"]:
        return
    for key, own, at in zip(session.HIDE.values(), names, hidden):
        _link(key, own, at)
    st.rerun(["two texts"])


def show_words(panel: Panel) -> None:
    """The words or the sentences, with the sentence open that the address names."""
    shown = panel.live.data if panel.live else {}
    places = [[row, at] for row, own in enumerate(shown["rows"]) for at in range(len(own["words"])) if "read" in own]
    named = [f"{row + 1}.{at + 1}" for row, at in places]
    opened = _linked(session.PASSAGE, named, "the leading one", "The link opens sentence {}, which isn't there.")
    if opened is not None and panel.live:
        panel = replace(panel, live=panel.live.changed(opened=places[opened]))

    def choose(_: str, place: Any) -> None:
        _link(session.PASSAGE, named, places.index(place) if place in places else -1)
        st.rerun(["hidden words"])

    show_panel(panel, key="hidden words", choose=choose, states=("opened",))


def explained(encoder: Encoder, question: Question, long: bool, words: tuple | None = None) -> Explained:
    """The question's words (None: each), of long texts its sentences first; and heads, the chosen one run as well."""
    sentence, target, head = question.sentence, question.asked(question.sentence), this_page().head
    make = partial(explain, encoder, sentence, target, sentences=sentences_of(sentence) if long else (), words=words)
    key = (sentence.text, sentence.pair, len(sentence.ids), *question.key, long, words)
    title = "Hiding each sentence, then the words of those that matter most ..." if long else "Hiding each word ..."
    run = stoppable if long else partial(cached, costly=len(sentence.tokens) > SHORT)
    found = run(encoder, ("explained", *key), title=title, make=lambda progress: make(progress=progress))
    if session.HEAD.get() is None or found.heads.isnan().all() or found.heads[head].isfinite():
        return found
    (without,) = cached(encoder, ("without", *key, head), lambda _: removed_in_turn(encoder, sentence, target, [head]))
    heads = found.heads.clone()
    heads[head] = without - found.number
    return replace(found, heads=heads)


def copied(encoder: Encoder, found: Mapping[Question, Explained]) -> str:
    """Lines of Python that ask the questions and draw the answers in a notebook."""
    asked = []
    for question, each in found.items():
        texts = ", ".join(repr(text) for text in (question.sentence.text, question.sentence.pair) if text is not None)
        more = ", sentences=sentences_of(sentence)" if each.sentences else ""
        asked += [
            f"sentence = encoder.encode({texts})",
            question.python,
            f"found[{question.said!r}] = explain(encoder, sentence, asked(sentence){more})",
        ]
    long = any(each.sentences for each in found.values())
    return lines(
        "from selfattn.analysis.explaining import explain",
        *(["from selfattn.analysis.sentences import sentences_of"] if long else []),
        load(encoder),
        "found = {}",
        *asked,
        "notebook.explained_words(found)",
    )


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
this_page().address |= dict.fromkeys((*session.HIDE.values(), session.PASSAGE, session.TAGGED, session.TAG))
questions = pick_question(encoder)
first, long = questions[0], any(is_long(question.sentence) for question in questions)
two_texts = first.key[0] == "similarity"
if two_texts and not long:
    texts = ", ".join(repr(question.sentence.text) for question in questions)
    this_page().python = lines(load(encoder), f"notebook.similar(encoder, {texts})")
    show_part("two texts", partial(show_similar, encoder, *questions))
    found = {question: explained(encoder, question, long, ()) for question in questions}
else:
    found = {question: explained(encoder, question, long) for question in questions}
    this_page().python = copied(encoder, found)
    kept = stored_report(UnrelatedPairs, encoder) if two_texts else None
    answer = beside(found[first].number, kept and kept.report) if two_texts else ""
    show_part("hidden words", partial(show_words, views.words(found, answer)))
if any(each.notes for each in found.values()):
    st.info("No head can be removed from this encoder.")
    say("\n".join(found[first].notes))
    panels = []
else:
    chosen = session.HEAD.get() and this_page().head
    panels = [views.heads(own, each, str(chosen or each.leading[0]), encoder.dtype) for own, each in found.items()]
if len(first.answers):
    panels.append(views.answers(first))
for panel, place in zip(panels, side_by_side(len(panels))):
    with place:
        show_panel(panel)
if first.key[0] != "tag":  # of one word of this sentence
    with st.expander("Over many of your sentences"):
        show_over_table(encoder, first)
