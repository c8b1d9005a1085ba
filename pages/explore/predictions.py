"""Show a model's answer, and the words that the answer depends on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

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
from selfattn.dashboard.typed_text import check_length, encode_or_stop
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
from selfattn.senses import UnrelatedPairs
from selfattn.stored_reports import made_once
from selfattn.views import predictions as views
from selfattn.views.explained import lost
from selfattn.views.predictions import Question
from selfattn.views.similar import beside, similar
from selfattn.words import numbered

T = TypeVar("T")


def pick_question(encoder: Encoder) -> list[Question]:
    """Draw the pickers and the prediction. Return a `Question` for each text."""
    first = views.first_asked(encoder, session.GAP in st.query_params)
    previous = session.DEFAULT_OF.of(session.ASKED)
    if session.ASKED.get() is not None and session.ASKED.get() == previous.get():
        session.ASKED.set(first)  # no choice yet: take the kind that the encoder was trained for
    previous.set(first)
    with this_page().beside:
        names = {kind: name for kind, (name, *_) in KINDS.items()}
        kind = segmented("What is asked", names, default=first, key=session.ASKED)
    this_page().own = st.container(horizontal=True, gap="medium")
    _, label, ask = KINDS[kind]
    try:
        questions = ask(encoder, _field(label, FIRST.first, session.A))
    except TextError as error:  # the text is too long, or already has a gap
        show_error(error)
        st.stop()
    if questions[0].answer:
        with st.container(key="answer"):
            st.markdown(literal("; ".join(question.answer for question in questions)))
    if kind == "gap":
        say(isolated(questions[0].sentence.text))
    return questions


def _field(label: str, first: str, key: session.Key) -> str:
    """Draw a text area; a one-line field would join pasted lines."""
    return this_page().own.text_area(label, first, key=key, bind="query-params", width=350, height=90)


def _load_or_stop(encoder: Encoder, what: str, load: Callable[[Encoder], T]) -> T:
    """Load a task head or the pooling. If the encoder has none, say so and stop the page's run."""

    def make(_: object) -> T | str:
        try:
            return load(encoder)
        except (NoHead, NoPooling) as error:
            return str(error)

    loaded = cached(encoder, what, make, f"Loading the {what} ...")
    if isinstance(loaded, str):
        st.info("This encoder can't make this kind of prediction. Choose another kind, or another encoder.")
        say(loaded)
        st.stop()
    return loaded


def _pick(label: str, options: Sequence[Any], first: int, key: str, **more: Any) -> Any:
    with this_page().beside:
        return st.selectbox(label, options, first, key=key, width=200, **more)


def _linked(key: session.Key, options: Sequence[str], shown: str, missing: str) -> int | None:
    """Return the index of the option that the URL names; None if there is no such option.

    shown: the option that the page shows if the option in the URL doesn't exist
    missing: the warning that the page then shows
    """
    named = st.query_params.get(key, "")
    offered = named in options
    say_what_is_missing(key, options, named if offered else shown, missing.format)
    this_page().address[key] = named if offered else None
    return options.index(named) if offered else None


def _link(key: session.Key, options: Sequence[str], index: Any) -> None:
    """Store a choice in the URL. index: from the browser, so it is checked here."""
    if index is None or (type(index) is int and 0 <= index < len(options)):
        note_in_address({key: None if index is None else options[index]})


def _class(encoder: Encoder, text: str, pairs: Sequence[str | None] = (None,)) -> list[Question]:
    """Return one `Question` for each pair (text, second text), about its class. None in `pairs`: the text alone."""
    head = _load_or_stop(encoder, "classification head", load_class_head)
    names = ["The sentence" if pair is None else f"Document {n}" for n, pair in enumerate(pairs, 1)]
    encodings = [encode_or_stop(encoder, text, name, pair=pair) for name, pair in zip(names, pairs)]
    label = None
    if len(head.labels) > 1:
        _, likeliest = views.class_question(head, encodings[0]).key
        session.CLASS.keep_within(head.labels, head.labels[likeliest])
        label = _pick("Class", head.labels, likeliest, session.CLASS, bind="query-params")
    where = [f" in {name.lower()}" if len(names) > 1 else "" for name in names]
    return [views.class_question(head, encoding, label, place) for encoding, place in zip(encodings, where)]


def _pair(encoder: Encoder, query: str) -> list[Question]:
    texts = [_field("Document", FIRST.second, session.B), _field("Second document", "", session.DOCUMENT)]
    return _class(encoder, query, [text for text in texts if text.strip()] or texts[:1])


def _similarity(encoder: Encoder, text: str) -> list[Question]:
    pooling = _load_or_stop(encoder, "pooling", load_pooling)
    other = _field("Sentence B", FIRST.second, session.B)
    st.pills(
        "Examples", [pair.name for pair in TEXT_PAIRS], key=session.SIMILAR, on_change=_use_example,
        label_visibility="collapsed",
    )  # fmt: skip
    read = {name: _as_read(encoder, pooling, typed, name) for name, typed in (("A", text), ("B", other))}
    encodings = {name: encoding for name, (encoding, _) in read.items()}
    cut = {name: whole for name, (encoding, whole) in read.items() if len(encoding.ids) < len(whole.ids)}
    if cut and all(len(whole.ids) <= encoder.max_tokens for whole in cut.values()):
        uncut = replace(pooling, max_tokens=None)
        wholes = [cached_encode(encoder, whole.text) for _, whole in read.values()]
        as_read, as_whole = (
            cosine_similarity(*(each.vector(encoder.n_layers, uncut.positions(each)) for each in texts), dim=0)
            for texts in (encodings.values(), wholes)
        )
        cosines = numbers.cosine(float(as_read)), numbers.cosine(float(as_whole))
        say(f"The cosine is {cosines[0]} if long texts are cut, and {cosines[1]} for the whole texts.")
    return views.similarity_questions(encoder, pooling, encodings, cut)


def _as_read(encoder: Encoder, pooling: Pooling, text: str, name: str) -> tuple[Encoding, Tokens]:
    """Return the text as the embedder reads it (cut if it is too long), and the uncut text."""
    check_length(text)
    read, whole = pooling.read(encoder, text)
    if len(read.ids) == len(whole.ids):
        encoding = encode_or_stop(encoder, text, f"Sentence {name}")
        return encoding, encoding
    st.warning(literal(lost(encoder.title, whole, read, f" of {name}")), icon=":material/content_cut:")
    encoding = cached(encoder, ("encoding", read.text, None, len(read.ids)), lambda _: encoder.encode(read))
    this_page().texts[name] = encoder, encoding
    return encoding, whole


def _use_example() -> None:
    for pair in TEXT_PAIRS:
        if pair.name == session.SIMILAR.get():
            open_sentences(None, pair.first, pair.second, "", "")


def _tag(encoder: Encoder, text: str) -> list[Question]:
    head = _load_or_stop(encoder, "token-classification head", load_tag_head)
    sentence = encode_or_stop(encoder, text, "The sentence")
    words, tags = _labels_or_stop(sentence), head.tags(sentence)
    surest = views.most_certain(tags)
    linked = _linked(
        session.TAGGED, words, words[surest], 'The link asks for the word "{}", which isn\'t in the sentence.'
    )
    at = surest if linked is None else linked
    previous = session.DEFAULT_OF.of(session.TAG)
    if previous.get() not in (None, text):  # the tag was chosen in another sentence
        st.query_params.pop(session.TAG, None)
    previous.set(text)
    options, likeliest = [f"{words[at]}: {label}" for label in head.labels], head.labels.index(tags["tag"][at])
    first = _linked(session.TAG, options, options[likeliest], 'The link asks for the tag "{}", which doesn\'t exist.')
    label = _pick("Tag", head.labels, likeliest if first is None else first, f"tag of {words[at]} in {text}")
    number = head.labels.index(label)
    this_page().address[session.TAG] = None if number == likeliest else options[number]
    choose = lambda _, to: _link(session.TAGGED, words, to)  # noqa: E731
    show_panel(views.tags(sentence, tags, at), key="tags", choose=choose, states=("word",))
    return [views.tag_question(head, sentence, at, label)]


def _labels(tokens: Tokens) -> list[str]:
    return numbered([word.text for word in tokens.words])


def _labels_or_stop(tokens: Tokens) -> list[str]:
    if not tokens.words:
        st.error("The sentence has no words. Type a sentence.", icon=":material/error:")
        st.stop()
    return _labels(tokens)


def _gap(encoder: Encoder, text: str) -> list[Question]:
    head = _load_or_stop(encoder, "masked-language head", load_masked_head)
    check_length(text)
    tokens = encoder.tokenize(text)
    words = _labels_or_stop(tokens)
    if (session.GAP.get() or 0) >= len(words):
        del st.session_state[session.GAP]
    first = min(1, len(words) - 1)
    gap = _pick("Mask", range(len(words)), first, session.GAP, format_func=words.__getitem__, bind="query-params")
    masked = encode_or_stop(encoder, replace_word(tokens, gap, head.mask_token), "The sentence")
    question = views.gap_question(head, masked, session.TARGET.get() or 0)
    token = question.answers["token"]
    _pick("Word", range(len(token)), 0, session.TARGET, format_func=token.__getitem__)
    return [question]


Ask = Callable[[Encoder, str], list[Question]]
KINDS: dict[str, tuple[str, str, Ask]] = {  # name, first field's label, function
    "class": ("A class", "Sentence", _class),
    "pair": ("Query and document", "Query", _pair),
    "similarity": ("Two sentences", "Sentence A", _similarity),
    "tag": ("A tag", "Sentence", _tag),
    "gap": ("A gap", "Sentence", _gap),
}


def show_similar(encoder: Encoder, first: Question, second: Question) -> None:
    place, key = st.container(), encoder_key(encoder)
    kept = stored_report(UnrelatedPairs, encoder)
    unrelated = kept and kept.report
    if not kept and session.UNRELATED.get() == key:
        make, title = partial(made_once, "unrelated_pairs", encoder), "Encoding 1,000 pairs of unrelated sentences ..."
        try:
            unrelated = cached(encoder, "unrelated pairs", lambda progress: make(progress=progress), title, costly=True)
        except TextError as error:  # the labelled sentences are too long for the encoder
            show_error(error)
    make = partial(similar, encoder, first.sentence, second.sentence, unrelated=unrelated, code=this_page().python)
    costly = any(len(each.sentence.tokens) > SHORT for each in (first, second))
    texts, names = zip(*((each.sentence.text, _labels(each.sentence)) for each in (first, second)))
    with place:
        found = cached(
            encoder, ("similar", *texts, unrelated is not None), lambda progress: make(progress=progress), "Hiding each word ...",
            costly=costly,
        )  # fmt: skip
        panel = replace(found, live=found.live and found.live.changed(hidden=_hidden_now(names)))
        show_panel(panel, key="two texts", choose=partial(_hide, found, names), states=("hidden",))
    if not unrelated:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Compare with 1,000 pairs of unrelated sentences", on_click=session.UNRELATED.set, args=(key,))
            st.caption("Encoding about 700 sentences takes a minute or two. The result is saved.")


def _hidden_now(names: Sequence[Sequence[str]]) -> list[int | None]:
    """Return for each text the index of the hidden word, or None."""
    return [
        _linked(key, labels, "nothing hidden", f'The link hides "{{}}", but sentence {name} doesn\'t have this word.')
        for labels, (name, key) in zip(names, session.HIDE.items())
    ]


def _hide(panel: Panel, names: Sequence[Sequence[str]], _: str, given: Any) -> None:
    """Store the hidden words in the URL. given: the figure's key, and the hidden words' indices in texts A and B."""
    shown, *hidden = given if isinstance(given, list) and len(given) == 3 else [None]
    if panel.live is None or shown != panel.live.data["key"]:
        return
    for key, labels, index in zip(session.HIDE.values(), names, hidden):
        _link(key, labels, index)
    st.rerun(["two texts"])


def show_words(panel: Panel) -> None:
    """Show how hiding each word, or each sentence of a long text, changes the prediction."""
    rows = panel.live.data["rows"] if panel.live else []
    places = [[n, at] for n, row in enumerate(rows) for at in range(len(row["words"])) if "read" in row]
    named = [f"{n + 1}.{at + 1}" for n, at in places]
    opened = _linked(
        session.PASSAGE,
        named,
        "the sentence with the largest effect",
        "The link opens sentence {}, which doesn't exist.",
    )
    if opened is not None and panel.live:
        panel = replace(panel, live=panel.live.changed(opened=places[opened]))

    def choose(_: str, place: Any) -> None:
        _link(session.PASSAGE, named, places.index(place) if place in places else -1)
        st.rerun(["hidden words"])

    show_panel(panel, key="hidden words", choose=choose, states=("opened",))


def explained(encoder: Encoder, question: Question, long: bool, words: tuple | None = None) -> Explained:
    """Return `explain`'s result, with the chosen head's effect. long: hide whole sentences first, then words."""
    sentence, target, head = question.sentence, question.asked(question.sentence), this_page().head
    make = partial(explain, encoder, sentence, target, sentences=sentences_of(sentence) if long else (), words=words)
    key = (sentence.text, sentence.pair, len(sentence.ids), *question.key, long, words)
    title = "Hiding each sentence, then words of the most important sentences ..." if long else "Hiding each word ..."
    compute = stoppable if long else partial(cached, costly=len(sentence.tokens) > SHORT)
    found = compute(encoder, ("explained", *key), title=title, make=lambda progress: make(progress=progress))
    if session.HEAD.get() is None or found.heads.isnan().all() or found.heads[head].isfinite():
        return found
    (without,) = cached(encoder, ("without", *key, head), lambda _: removed_in_turn(encoder, sentence, target, [head]))
    heads = found.heads.clone()
    heads[head] = without - found.number
    return replace(found, heads=heads)


def copied(encoder: Encoder, found: Mapping[Question, Explained]) -> str:
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
    panels = [views.heads(asked, each, str(chosen or each.leading[0]), encoder.dtype) for asked, each in found.items()]
if len(first.answers):
    panels.append(views.answers(first))
for panel, place in zip(panels, side_by_side(len(panels))):
    with place:
        show_panel(panel)
