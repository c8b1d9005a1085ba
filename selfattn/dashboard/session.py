"""Define the keys of the session state.

Links contain the keys that are bound to the address: don't rename them.
"""

from collections.abc import Collection
from functools import cache
from types import MappingProxyType
from typing import Any

import streamlit as st


class Key(str):
    """A key of the session state. A key with `{}` in its name is a template for several keys."""

    meaning: str
    first: Any  # what `get` returns until a value is set

    def __new__(cls, name: str, meaning: str = "", first: Any = None) -> "Key":
        key = super().__new__(cls, name)
        key.meaning, key.first = meaning, first
        return key

    @cache  # noqa: B019  keys are kept until the server stops
    def of(self, part: str) -> "Key":
        """Return the key with `{}` replaced by `part`."""
        return Key(self.format(part), self.meaning, self.first)

    def get(self) -> Any:
        return st.session_state.get(self, self.first)

    def set(self, value: Any) -> None:
        """Set the value. Call this before the widget is drawn, or in a callback."""
        st.session_state[self] = value

    def keep_within(self, options: Collection[Any], default: Any) -> None:
        """Set the default if the value isn't an option. Call this before the widget is drawn."""
        if st.session_state.get(self, default) not in options:
            self.set(default)


# The visitor's sentences and word, which are also in the address.
A = Key("a", "sentence A, or the page's only sentence")
B = Key("b", "sentence B")
C = Key("c", "the control sentence, or an empty text")
EXAMPLE = Key("example", "the chosen example, or None for the visitor's own sentences")
MORE = Key("more", 'the example chosen from "More examples"')
WORD = Key("word", "the chosen word, as sentence A spells it")
HIDE = {"A": Key("hide_a", "the word that is hidden in A"), "B": Key("hide_b", "the word that is hidden in B")}
AT = {
    name: Key(f"at_{name.lower()}", f"the chosen occurrence of the word in sentence {name}, counted from 1")
    for name in "AB"
}
CHOICE = (EXAMPLE, A, B, C, WORD, *AT.values())
MODEL = Key("model", "the encoder chosen in the sidebar, or the menu entry `another ...`")
SECOND = Key("second", "page Two encoders: the second encoder, or the menu entry `another ...`")
SENTENCE = Key("sentence", "page All heads: the sentences shown (A, B or both)", "A")
SENTENCES = Key("sentences", "page Two encoders: the sentences for comparing two checkpoints, one per line")

# Names of heads, such as "L0 H10".
HEAD = Key("head", "the chosen head")
SECOND_HEAD = Key("head2", "page Two encoders: the second encoder's head, if the two encoders' heads don't correspond")

WORD_CHOSEN = Key("word_chosen", "True if the visitor chose the word, False if it is the example's word", False)
CONTROL_TYPED = Key("typed", "the control sentence that the visitor typed, and sentence A at that time", ("", ""))
WORD_MISSED = Key("word_missed", "the word that was chosen before the visitor typed a sentence without it", "")

# Keys for links and for the page's address.
LINK = Key("link", "the URL parameters that the session began with, except those already used", MappingProxyType({}))
INSTEAD = Key("instead", "for each unusable value of the link, the value shown instead")
DEFAULT_OF = Key("default of {}", "the default of the widget {} in the previous run")
LINKED_TO = Key(
    "{} linked to",
    "the encoder and revision that a link names; None after the visitor agreed to load this encoder or chose another",
)
PAGE = Key("page", "the address of the page that was drawn last")

# Set by app.py, whichever page is open.
RECORD = Key("page_record", "the current run's figures.Page")
MENU = Key("menu", "the pages of the menu")

DOWNLOAD = Key("download", 'True while "Download" is open', False)

# Keys of the main view. An `answer.Answer` says how far hiding each word moves the chosen word's vector.
WAY = Key(
    "way", "whether an effect of 100 % is the distance between the word's senses, or between its vectors in A and B"
)
HIDDEN = Key(
    "hidden", "an answer (as Answer.key), and the indices of the words hidden in its sentences A and B", (None, None)
)
HEADS = Key("heads", "the Answer.key of the answer whose map of heads is open")
GUESS = Key("guessed", '"asked" while the page waits for a guess; then the guessed word, or False if none was guessed')
VIEW = Key("view", "the kind of weights in the maps (one_head.SOURCES); on page Pronouns, the open tab")

# Keys of the kernel figure, which shows one token's row of attention weights.
PIECE = {name: Key(f"piece_{name.lower()}", f"the position of the chosen token in sentence {name}") for name in "AB"}
QUERIES = Key("queries", "the chosen token's position, for each encoder, sentence and word", MappingProxyType({}))

# Keys of the switches that change every map of weights.
BY_WORDS = Key("words", "True to join word pieces", False)
HIDE_SPECIAL = Key("hide", "True to leave out special tokens", False)

# Each of these keys is used by only one page.
MEASURE = Key("measure", "page All heads: the measure that the bars show")
ASKED = Key("asked", "page Predictions: the kind of prediction, such as a class, a similarity or a masked word")
SIMILAR = Key("similar", "page Predictions: the example that the two texts come from")
UNRELATED = Key(
    "unrelated",
    "page Predictions: the cache key of the encoder for which the visitor asked to compare unrelated pairs of texts",
)
DOCUMENT = Key("document", "page Predictions: a second document for the query, or an empty text")
CLASS = Key("class", "page Predictions: the name of the class to explain")
TAGGED = Key("tagged", "page Predictions: the word whose tag is explained")
TAG = Key("tag", 'page Predictions: the word and tag to explain, such as "bank: NOUN"; None for the likeliest tag')
PASSAGE = Key("passage", 'page Predictions: the sentence whose words are shown, such as "1.2" for sentence 2 of text 1')
GAP = Key("gap", "page Predictions: the index of the masked word among the text's words")
TARGET = Key("target", "page Predictions: the index of the explained word in the list of predicted words")
STOPPED = Key("stopped", "the cache keys of the encoder and of the stopped computation")
HIDDEN_ASKED = Key(
    "hidden_asked", "page Senses: the cache keys of the encoder and of the hidden-words report to compute"
)
OPENED = Key("opened", "page Senses: the parameters of the URL that opens the main view")
TABLE_READ = Key(
    "table_read",
    "page Senses: (id, usable rows, broken rows, digest) of the uploaded file; (None, None) before an upload",
    (None, None),
)
PROOF = Key(
    "proof",
    "page Models and proof: ((cache key of the encoder, text), table of each head's errors on the text)",
    (None, None),
)
PROJECTOR = Key("projector", "page From scratch: True for larger text and no menu", False)
STOP = Key("choice of stop", "page From scratch: the chosen stop (a page of the lesson)")
RACE = Key("recurrence.race", "page Before attention: the device, and the times of attention and recurrence on it")
TRAINED = Key(
    "tiny.run",
    "page Train a tiny model: the settings of the last training run, and the model after each epoch",
    (None, ()),
)
# Templates of keys: on each lesson page ("stop"), the page's name replaces `{}`.
REAL_HEAD = Key("{}.head", "the name of the head that the visitor chose")
REVEALED = Key("{}.shown", "True if the visitor saw the answer without guessing first", False)
ASKING = Key("{}.asking", "the position of the token whose row of attention weights is shown")
PUBLISHED = Key("{}.published", "the published numbers with which an example fills the lesson page's fields")
