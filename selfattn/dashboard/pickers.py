"""The pickers that the views share: two sentences and the word they share, and one head. All are in the page's link."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from selfattn.dashboard.address import of_all_pages
from selfattn.dashboard.encoder_picker import encode_or_stop
from selfattn.dashboard.figures import segmented
from selfattn.dashboard.shown import shown
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.examples import PAIRS
from selfattn.words import Word, find, shared_words

FIRST = PAIRS[0]
EXAMPLES = {pair.word: pair for pair in PAIRS}
OWN = "your own"


@dataclass(frozen=True)
class Occurrence:
    """A word where it stands in an encoded sentence."""

    encoding: Encoding
    word: Word

    @property
    def positions(self) -> tuple[int, ...]:
        """The word's token positions."""
        return self.word.positions

    @property
    def place(self) -> tuple[str, tuple[int, ...]]:
        """What caches are keyed by: the text and the positions."""
        return self.encoding.text, self.positions


@dataclass(frozen=True)
class Pair:
    """The shared word in sentence A, in sentence B and, where the control sentence has it, in the control."""

    first: Occurrence
    second: Occurrence
    control: Occurrence | None

    @property
    def word(self) -> str:
        """The word as it is spelled in A."""
        return self.first.word.text

    @property
    def sides(self) -> tuple[tuple[str, Occurrence], tuple[str, Occurrence]]:
        """("A", first), ("B", second)."""
        return ("A", self.first), ("B", self.second)

    @property
    def same_position(self) -> bool:
        """Whether the word stands at the same positions in both sentences."""
        return self.first.positions == self.second.positions


@of_all_pages
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
    return Pair(
        _occurrence(where, a, chosen, "A"), _occurrence(where, b, chosen, "B"), _control(encoder, text_c, chosen)
    )


@of_all_pages
def pick_sentence() -> str:
    """One sentence, where a view needs no pair: it is sentence A of the other views."""
    return st.text_input("Sentence", FIRST.first, key="a", bind="query-params", width=420)


@of_all_pages
def pick_head(encoder: Encoder, default: str = "L0 H10") -> tuple[int, int]:
    """The slider over all heads, whose arrow keys move the choice: (layer, head)."""
    names = [str(head) for head in encoder.all_heads]
    default = default if default in names else names[0]
    if st.session_state.get("head", default) not in names:  # the encoder changed and has no such head
        st.session_state.head = default
    chosen = st.select_slider("Head (arrow keys move it)", names, default, key="head", bind="query-params")
    found = encoder.all_heads[names.index(chosen)]
    shown().head = found
    return found


def choose_head(layer: int, head: int) -> None:
    """Make this the chosen head: for callbacks of charts and buttons."""
    st.session_state.head = str(Head(layer, head))
    st.session_state.choices = st.session_state.get("choices", 0) + 1


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
    if st.session_state.get("word") not in shared:
        st.session_state.word = _most_telling(shared)
    return st.selectbox("Word", shared, key="word", bind="query-params")


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
            index = (
                segmented(
                    f"The word stands {len(found)} times in {sentence}: which one?",
                    options,
                    default=1,
                    required=True,
                    key=key,
                    bind="query-params",
                )
                - 1
            )
    return Occurrence(encoding, found[index])


def _control(encoder: Encoder, text: str, word: str) -> Occurrence | None:
    if not text.strip():
        return None
    encoding = encode_or_stop(encoder, text, "The control sentence")
    found = find(encoding.words, word)
    return Occurrence(encoding, encoding.words[found[0]]) if found else None
