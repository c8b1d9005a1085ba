"""The pickers that views share: two sentences and their word, one head, the switches of a map. All are in the page's link.

The frame draws those of the sentences and the head: so they are one and the same on every view, and keep their values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn.analysis.word_map import MOST, WordMap, word_map
from selfattn.dashboard.address import carry_choice
from selfattn.dashboard.choice import Occurrence, Pair
from selfattn.dashboard.encoder_picker import current_encoder, encode_or_stop, pick_encoder, show_encoder
from selfattn.dashboard.figures import heading, this_page
from selfattn.dashboard.link import keep_in_address, linked, say_what_is_missing
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.examples import PAIRS
from selfattn.frames import weights_frame
from selfattn.words import find, shared_words

FIRST = PAIRS[0]
EXAMPLES = {pair.word: pair for pair in PAIRS}
OWN = "your own"
ZOOM = 64  # a map of more rows than this gets a range to zoom into


def pick_for(view: str, title: str) -> None:
    """What the frame draws above a page: the sidebar's encoder and, for a view of heads, its title and its pickers.

    view: "pair" (two sentences and a head), "sentence" (one and a head), "head", or "" for a page of its own. What is picked
    stands in `this_page()`; where it can't be used, the page says so and ends.
    """
    page = this_page()
    page.asked = pick_encoder()
    if not view:
        return
    carry_choice(title)
    heading(title)
    encoder = current_encoder()
    show_encoder(encoder)
    if view == "pair":
        page.pair = pick_pair(encoder)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if view == "sentence":
            page.sentence = st.text_input("Sentence", FIRST.first, key="a", bind="query-params", width=420)
        with st.container(width=552):
            page.head = head_slider(encoder, "Head (arrow keys move it)", "head", "L0 H10")
        page.beside = st.container(width="stretch")


def pick_pair(encoder: Encoder) -> Pair:
    """The row of pickers: an example or one's own sentences, and the word. Where something is missing, the page says it."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with row:
        names = [OWN, *EXAMPLES]
        name = st.selectbox("Example", names, 1, key="example", on_change=_use_example, bind="query-params", width=130)
        start = EXAMPLES.get(name, FIRST)  # so that a link that names only the example opens its sentences
        text_a = st.text_input("Sentence A", start.first, key="a", bind="query-params", on_change=_own, width=356)
        text_b = st.text_input("Sentence B", start.second, key="b", bind="query-params", on_change=_own, width=356)
        word = st.container(width=130)
        with st.popover("Control", help="A third sentence, with the word in the same sense as in A."):
            text_c = st.text_input("The word in the same sense as in A", start.control, key="c", bind="query-params")
    a, b = encode_or_stop(encoder, text_a, "Sentence A"), encode_or_stop(encoder, text_b, "Sentence B")
    with word:
        chosen = _pick_word(a, b)
    where = st.container()
    with where:
        say_what_is_missing(
            "example", names, name, lambda asked: f"The link asks for the example {asked!r}, which there isn't."
        )
        shared = shared_words(a.words, b.words)
        say_what_is_missing(
            "word",
            shared,
            chosen,
            lambda asked: f"The link asks for the word {asked!r}, which doesn't stand in both sentences.",
        )
    return Pair(
        _occurrence(where, a, chosen, "A"), _occurrence(where, b, chosen, "B"), _control(encoder, text_c, chosen)
    )


def head_slider(encoder: Encoder, label: str, key: str, default: str) -> Head:
    """A slider over an encoder's heads."""
    names = [str(head) for head in encoder.all_heads]
    default = default if default in names else names[0]
    if st.session_state.get(key, default) not in names:  # the encoder changed and has no such head
        st.session_state[key] = default
    keep_in_address(key, default)
    chosen = st.select_slider(label, names, default, key=key, bind="query-params")
    say_what_is_missing(
        key, names, chosen, lambda asked: f"The link asks for the head {asked}, which {encoder.name} hasn't got."
    )
    return encoder.all_heads[names.index(chosen)]


def segmented(label: str, options: Sequence[Any], *, default: Any, **more: Any) -> Any:
    """One of a few options; a link with nothing after its key ("sentence=") means the default, not None."""
    chosen = st.segmented_control(label, options, default=default, required=True, bind="query-params", **more)
    return default if chosen is None else chosen


def _use_example() -> None:
    if pair := EXAMPLES.get(st.session_state.example):
        st.session_state.update(a=pair.first, b=pair.second, c=pair.control, word=pair.word)


def _own() -> None:
    # The link must name the sentences that were not typed too. A run cut short may not have drawn their fields yet.
    start = EXAMPLES.get(st.session_state.get("example", FIRST.word), FIRST)
    shown = {"a": start.first, "b": start.second, "c": start.control}
    st.session_state.update({key: st.session_state.get(key, text) for key, text in shown.items()}, example=OWN)


def _pick_word(first: Encoding, second: Encoding) -> str:
    shared = shared_words(first.words, second.words)
    if not shared:
        st.selectbox("Word", ["(none)"], disabled=True)
        st.error(
            "No word stands in both sentences. Change one of them so that they share a word.", icon=":material/error:"
        )
        st.stop()
    default = _most_telling(shared)
    if st.session_state.get("word") not in shared:
        st.session_state.word = default
    keep_in_address("word", default)
    return st.selectbox("Word", shared, shared.index(default), key="word", bind="query-params")


def _most_telling(shared: Sequence[str]) -> str:
    return next((word for word in shared if word.casefold() in EXAMPLES), shared[0])


def _occurrence(where, encoding: Encoding, word: str, sentence: str) -> Occurrence:
    found = [encoding.words[i] for i in find(encoding.words, word)]
    index = 0
    if len(found) > 1:
        key = f"at_{sentence.lower()}"
        options = list(range(1, len(found) + 1))
        if st.session_state.get(key, 1) not in options:
            st.session_state[key] = 1
        with where:
            question = f"The word stands {len(found)} times in {sentence}: which one?"
            index = segmented(question, options, default=1, key=key) - 1
    if not linked("word"):  # else the link's number is another word's
        with where:
            places = [str(number) for number in range(1, len(found) + 1)]
            say_what_is_missing(
                f"at_{sentence.lower()}", places, f"occurrence {index + 1}",
                lambda asked: f"The link asks for occurrence {asked} of {word!r} in {sentence}, where it stands "
                f"{'once' if len(found) == 1 else f'{len(found)} times'}.",
            )  # fmt: skip
    return Occurrence(encoding, found[index])


def _control(encoder: Encoder, text: str, word: str) -> Occurrence | None:
    if not text.strip():
        return None
    encoding = encode_or_stop(encoder, text, "The control sentence")
    found = find(encoding.words, word)
    return Occurrence(encoding, encoding.words[found[0]]) if found else None


@dataclass(frozen=True)
class MapOptions:
    """What the switches say."""

    words: bool
    special: bool


def pick_map_options(place) -> MapOptions:
    """The two switches that every map has."""
    words = place.toggle(
        "Words",
        key="words",
        bind="query-params",
        help="Word pieces are put together: the weight to a split word is the sum over its pieces, from it the mean. "
        "Rows still sum to 1.",
    )
    hide = place.toggle(
        "Hide special tokens",
        key="hide",
        bind="query-params",
        help="[CLS], [SEP] and padding are left out and each row is scaled up to sum to 1 again. How much weight went with "
        "them is said below the maps.",
    )
    return MapOptions(words, not hide)


def chosen_options() -> MapOptions:
    """What the switches say, for what is drawn elsewhere (a file to download)."""
    return MapOptions(bool(st.session_state.get("words")), not st.session_state.get("hide"))


def whole(weights: Tensor, encoding: Encoding, options: MapOptions, other: Tensor | None = None) -> WordMap:
    """A head's map (n, n) as the switches want it; with `other`, the difference of the two maps."""
    view = word_map(encoding, weights, words=options.words, special=options.special)
    if other is None:
        return view
    return view.minus(word_map(encoding, other, words=options.words, special=options.special))


def zoomed(view: WordMap, key: str) -> WordMap:
    """The part of a long map that the visitor chose, in bins where it is still too long to draw each weight."""
    n = len(view.labels)
    if n > ZOOM:
        start, last = st.slider(
            "Rows and columns drawn", 0, n - 1, (0, n - 1), key=f"range-{key}-{n}", bind="query-params"
        )
        view = view.part(range(start, last + 1))
    return view.binned()


def table_of(view: WordMap) -> Callable[[], pd.DataFrame]:
    """The numbers of a map as it is drawn, a line each, made when it is called."""
    return lambda: weights_frame(view.matrix, view.labels)


def binning(view: WordMap) -> str:
    """What a visitor must know of a map in bins, or nothing."""
    if view.step == 1:
        return ""
    return (
        f" Each cell is the largest of {view.step} × {view.step} weights, because a picture holds at most {MOST} rows. "
        "Narrow the range to see each one."
    )
