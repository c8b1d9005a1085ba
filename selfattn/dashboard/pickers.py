"""Draw the pickers that pages share."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from torch import Tensor

from selfattn.analysis.compare import rarest_first
from selfattn.analysis.word_map import WordMap, word_map
from selfattn.dashboard import session
from selfattn.dashboard.answer import answer_of, leading_head_of
from selfattn.dashboard.browser_history import carry_choice
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.encoder_picker import current_encoder, pick_encoder, show_encoder
from selfattn.dashboard.figures import heading, literal, show_heads, this_page
from selfattn.dashboard.link import keep_in_address, linked, say_what_is_missing, spell
from selfattn.dashboard.navigation import Entry
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import PAIRS
from selfattn.panel import Live
from selfattn.views.heads_data import plain_heads
from selfattn.words import fold, has_runs

FIRST = PAIRS[0]
EXAMPLES = {pair.word: pair for pair in PAIRS}
# Only these words of `EXAMPLES` have a button.
SHOWN = ("bank", "trunk", "mouse", "seal", "star", "match")
PICKER = 300  # pixels: the small map of all heads
ZOOM = 64  # rows: larger maps get a slider for the range


def pick_for(entry: Entry) -> None:
    """Draw the page's pickers, and store the choices in `this_page()`.

    entry.pickers:
    "pair": two sentences, and a small map to choose a head
    "maps": two sentences; the page draws its own map of heads
    "main": two sentences; the page sets `head`
    "sentence": one sentence
    "head": no picker; the head that was chosen last is kept
    "": only the encoder
    """
    page = this_page()
    page.asked, view = pick_encoder(), entry.pickers
    carry_choice(entry.address)
    if not view:
        return
    heading(entry.title, question=view == "main")
    encoder = current_encoder()
    page.encoder = encoder
    page.later.append(partial(show_encoder, encoder))
    if view in ("sentence", "head"):
        page.beside = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
        if view == "sentence":
            page.sentence = page.beside.text_input(
                "Sentence", FIRST.first, key=session.A, bind="query-params", width=420
            )
        page.head = settled_head(encoder, Head(0, 10))
        return
    row = st.container(horizontal=True, gap="medium")
    with row.container():
        page.pair, page.beside, page.own = pick_pair(encoder)
        if view == "main":
            return
        show_sentences(page.pair)
    page.head = settled_head(encoder, leading_head_of(encoder, answer_of(encoder, page.pair)))
    if view == "pair":
        with row:
            pick_head(encoder, page.head, "Head")


def show_sentences(pair: Pair) -> None:
    """Show sentences A and B with the word marked."""
    with st.container(key="both_sentences", gap=None):
        for (name, side), color in zip(pair.sides, ("violet", "orange")):
            text, (start, stop) = side.sentence.text, side.word.span
            before, own, after = map(literal, (text[:start], text[start:stop], text[stop:]))
            st.markdown(f":{color}[**{name}**]&emsp;{before}:{color}[**{own}**]{after}")


def chosen_head(encoder: Encoder, default: Head, key: session.Key = session.HEAD) -> Head:
    """Return the chosen head, or the default."""
    if (name := key.get()) and (named := [head for head in encoder.all_heads if str(head) == name]):
        return named[0]
    return default if default in encoder.all_heads else encoder.all_heads[0]


def settled_head(encoder: Encoder, default: Head, key: session.Key = session.HEAD) -> Head:
    """Return the chosen head, and keep it in the address."""
    head = chosen_head(encoder, default, key)
    this_page().address[key] = None if head == default else str(head)
    missing = f"The link asks for the head {{}}, which {encoder.title} doesn't have.".format
    say_what_is_missing(key, [str(each) for each in encoder.all_heads], str(head), missing)
    return head


def pick_head(encoder: Encoder, head: Head, label: str, key: session.Key = session.HEAD) -> None:
    """Show a small map of all heads. A click chooses a head."""
    with st.container(width=PICKER):
        show_heads(label, Live("heads", plain_heads(encoder.n_layers, encoder.n_heads, head, label)), key)


def pick_pair(encoder: Encoder) -> tuple[Pair, Any, Any]:
    """Draw the buttons of the examples, and a popover with fields for the visitor's own sentences.

    Returns the chosen pair, the row of buttons and the popover.
    """
    asked = st.query_params
    has_sentences = session.A in asked or session.B in asked
    if has_sentences and session.EXAMPLE not in asked and session.EXAMPLE not in st.session_state:
        session.EXAMPLE.set(None)
    row, where = st.container(horizontal=True, vertical_alignment="center", gap="small"), st.container()
    named = session.EXAMPLE.get() or asked.get(session.EXAMPLE) or FIRST.word
    names = [*SHOWN, *([named] if named in EXAMPLES and named not in SHOWN else [])]
    name = row.pills(
        "Example", names, key=session.EXAMPLE, default=FIRST.word, on_change=_use_example, bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    own = "" if name else session.WORD.get() or asked.get(session.WORD, "")
    popover = row.popover(
        literal(f"Your own: {own}" if own else "Your own ..."),
        icon=":material/edit:",
        type="secondary" if name else "primary",
    )
    popover.selectbox(
        "More examples", [each for each in EXAMPLES if each not in SHOWN], index=None, key=session.MORE,
        on_change=_use_more, placeholder="choose a word",
    )  # fmt: skip
    start = EXAMPLES[name] if name else FIRST  # a link may name an example without its sentences
    sides = {}
    for key, label, text in (session.A, "Sentence A", start.first), (session.B, "Sentence B", start.second):
        typed = popover.text_input(label, text, key=key, bind="query-params", on_change=_typed, args=(key,))
        with where:
            sides[key] = encode_or_stop(encoder, typed, label)
    shared = rarest_first(sides[session.A], sides[session.B], session.WORD.get() or asked.get(session.WORD, ""))
    word = _pick_word(popover, shared, name, where, any(has_runs(side.text) for side in sides.values()))
    control = _pick_control(encoder, popover, where, start.control if session.A.get() == start.first else "", word)
    asked_for = (
        (session.EXAMPLE, list(EXAMPLES), name or "none", "example {!r}, which doesn't exist."),
        (session.WORD, shared, word, "word {!r}, which isn't in both sentences."),
    )
    with where:
        for key, possible, shown, what in asked_for if session.LINK.get() else ():
            say_what_is_missing(key, possible, shown, f"The link asks for the {what}".format)
    a, b = (_pick_place(where, sides[key], word, key.upper()) for key in sides)
    return Pair(a, b, control), row, popover


def segmented(label: str, options: Sequence[Any] | Mapping[str, str], *, default: Any = None, **more: Any) -> Any:
    """Draw a segmented control, and return the chosen name.

    options: names, or a label for each name.
    default: a name; None for the first.
    """
    default = next(iter(options)) if default is None else default
    chosen = st.segmented_control(
        label, list(options), default=default, required=True, bind="query-params",
        format_func=options.__getitem__ if isinstance(options, Mapping) else str, **more,
    )  # fmt: skip
    return default if chosen is None else chosen


def _use_example() -> None:
    if pair := EXAMPLES.get(session.EXAMPLE.get()):
        open_sentences(pair.word, *pair.sentences, pair.word)


def _use_more() -> None:
    session.EXAMPLE.set(session.MORE.get())
    session.MORE.set(None)
    _use_example()


def open_sentences(example: str | None, a: str, b: str, control: str, word: str, chosen: bool = False) -> None:
    """Set the sentences and the word. Call this before their pickers are drawn."""
    keys = (session.EXAMPLE, session.A, session.B, session.C, session.WORD, session.WORD_CHOSEN, session.WORD_MISSED)
    st.session_state.update(zip(keys, (example, a, b, control, word, chosen, "")))


def _typed(edited: str) -> None:
    # The URL needs all three sentences, and the session may lack some.
    start = EXAMPLES.get(session.EXAMPLE.get(), FIRST)
    for key, text in ((session.A, start.first), (session.B, start.second), (session.C, start.control)):
        key.set(st.session_state.get(key, text))
    session.EXAMPLE.set(None)
    if edited == session.C:
        session.CONTROL_TYPED.set((session.C.get(), session.A.get()))
    elif edited == session.A and session.C.get() != session.CONTROL_TYPED.get()[0]:
        session.C.set("")  # the example's control fits only the example's A


def _pick_word(place, shared: Sequence[str], example: str | None, where, typed: bool) -> str:
    """Draw the picker of words. typed: True if visitors may also type a word that isn't listed."""
    if not shared:
        text = "No word is in both sentences. Write two sentences that contain the same word."
        where.error(text, icon=":material/error:")
        st.stop()
    default = example if example and example in shared else shared[0]
    link = st.query_params
    st.session_state.setdefault(session.WORD_CHOSEN, session.WORD in st.session_state or session.WORD in link)
    asked = session.WORD.get() or link.get(session.WORD, "")
    # The link may spell the word in another letter case than the sentences.
    if same := [word for word in shared if word != asked and fold(word) == fold(asked)]:
        session.WORD.set(same[0]) if session.WORD in st.session_state else spell(session.WORD, same[0])
    if typed and session.WORD.get() and session.WORD.get() not in shared and not linked(session.WORD):
        session.WORD_MISSED.set(session.WORD.get())
    missed = session.WORD_MISSED.get()  # stored, because the page may rerun without a click
    if missed and missed not in shared:
        where.info(literal(f'"{missed[:80]}" isn\'t in both sentences. Shown instead: "{default}".'))
    if session.WORD.get() not in shared or not session.WORD_CHOSEN.get():
        session.WORD.set(default)
    keep_in_address(session.WORD, default)
    picked = place.selectbox(
        "Word", shared, index=shared.index(default), key=session.WORD, bind="query-params",
        on_change=_choose_word, accept_new_options=typed and linked(session.WORD) in ("", *shared),
    )  # fmt: skip
    return picked if picked in shared else default


def _choose_word() -> None:
    session.WORD_CHOSEN.set(True)
    session.WORD_MISSED.set("")


def _pick_control(encoder: Encoder, place, where, default: str, word: str) -> PlacedWord[Encoding] | None:
    keep_in_address(session.C, default)
    text = place.text_input(
        "Control (A's sense)", default, key=session.C, bind="query-params", on_change=_typed, args=(session.C,),
        placeholder="A third sentence with the word in A's sense",
        help="A third sentence, in which the word has the same sense as in A. An effect that also appears between A and the "
        "control isn't about the sense.",
    )  # fmt: skip
    hint = place.empty()  # always drawn: the elements below stay in place
    if not text.strip():
        hint.caption(
            literal(
                f'There is no control sentence yet. Write a third sentence in which "{word}" has the same sense as in A.'
            )
        )
        return None
    with where:
        encoding = encode_or_stop(encoder, text, "The control sentence")
    places = encoding.places(word)
    if not places:
        why = encoding.why_unknown(word)
        lacks = (
            f"{why} So the control sentence isn't used." if why else f'The control sentence doesn\'t contain "{word}".'
        )
        where.info(literal(f'{lacks} Write a sentence in which "{word}" has the same sense as in A.'))
        return None
    typed, its_a = session.CONTROL_TYPED.get()
    if text == typed and its_a != session.A.get():
        where.info(literal(f'Sentence A has changed. Does "{word}" still have the same sense in the control as in A?'))
    return places[0]


def _pick_place(where, encoding: Encoding, word: str, sentence: str) -> PlacedWord[Encoding]:
    found = encoding.places(word)
    index, key = 0, session.AT[sentence]
    if len(found) > 1:
        options = list(range(1, len(found) + 1))
        key.keep_within(options, 1)
        question = f"The word occurs {len(found)} times in sentence {sentence}. Which occurrence do you mean?"
        index = where.selectbox(question, options, key=key, bind="query-params", width=320) - 1
    if session.LINK.get() and not linked(session.WORD):  # else the number belongs to another word
        with where:
            places = [str(number) for number in range(1, len(found) + 1)]
            say_what_is_missing(
                key, places, f"occurrence {index + 1}",
                lambda asked: f"The link asks for occurrence {asked} of {word!r}, but sentence {sentence} has "
                f"{word!r} {'once' if len(found) == 1 else f'{len(found)} times'}.",
            )  # fmt: skip
    return found[index]


def pick_map_options(place, **more: Any) -> None:
    """Draw the switches "Words" and "Hide special tokens"."""
    place.toggle(
        "Words",
        key=session.BY_WORDS,
        bind="query-params",
        help="Show one row and one column for each word. If a word is split into pieces, their columns are added and their "
        "rows are averaged. Rows still sum to 1.",
        **more,
    )
    place.toggle(
        "Hide special tokens",
        key=session.HIDE_SPECIAL,
        bind="query-params",
        help="Leave out [CLS], [SEP] and padding, and rescale each row to sum to 1. The text below the maps says how much "
        "weight was left out.",
        **more,
    )


def whole(weights: Tensor, encoding: Encoding, other: Tensor | None = None) -> WordMap:
    """Return the map of `weights` (n, n), or of `weights` minus `other`."""
    drawn = partial(word_map, encoding, words=session.BY_WORDS.get(), special=not session.HIDE_SPECIAL.get())
    return drawn(weights) if other is None else drawn(weights).minus(drawn(other))


def zoomed(view: WordMap, key: str) -> WordMap:
    """Draw a slider for a long map. Return the chosen part, in bins if that part is still long."""
    n = len(view.labels)
    if n > ZOOM:
        start, last = st.slider(
            "Rows and columns drawn", 0, n - 1, (0, n - 1), key=f"range-{key}-{n}", bind="query-params"
        )
        view = view.part(range(start, last + 1))
    return view.binned()
