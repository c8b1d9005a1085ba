"""Define the keys of the session state.

Links contain the keys that are bound to the address: don't rename them.
"""

from collections.abc import Collection
from functools import cache
from types import MappingProxyType
from typing import Any

import streamlit as st


class Key(str):
    """A key of the session state. With `{}` in the name: a template for several keys."""

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
A = Key("a", "sentence A, or the only sentence of a page")
B = Key("b", "sentence B")
C = Key("c", "the control sentence; empty: none")
EXAMPLE = Key("example", "the example that the sentences come from; None: the visitor's own sentences")
MORE = Key("more", "the example chosen from the list of further examples")
WORD = Key("word", "the chosen word, as sentence A spells it")
HIDE = {"A": Key("hide_a", "the word that is hidden in A"), "B": Key("hide_b", "the word that is hidden in B")}
AT = {
    name: Key(f"at_{name.lower()}", f"which occurrence of the word in {name} is chosen, counted from 1")
    for name in "AB"
}
CHOICE = (EXAMPLE, A, B, C, WORD, *AT.values())
MODEL = Key("model", "the encoder chosen in the sidebar, or `another ...`")
SECOND = Key("second", "Two encoders: the encoder chosen in the picker of the second encoder, or `another ...`")
SENTENCE = Key("sentence", "All heads: which sentences are shown: A, B, or both", "A")
SENTENCES = Key("sentences", "Two encoders: the sentences over which two checkpoints are compared, one per line")

# Names of heads, such as "L0 H10".
HEAD = Key("head", "the chosen head")
SECOND_HEAD = Key("head2", "Two encoders: the second encoder's head, if the encoders' heads don't correspond")

# Who chose the word and the control sentence.
WORD_CHOSEN = Key("word_chosen", "True: the visitor chose the word; False: it is the example's word", False)
CONTROL_TYPED = Key("typed", "the control sentence that the visitor typed, and sentence A at that time", ("", ""))
WORD_MISSED = Key("word_missed", "the last word that the visitor chose or typed and that isn't in both sentences", "")

# Links and the page's address.
LINK = Key("link", "parameters of the session's first address, until they are used or dropped", MappingProxyType({}))
INSTEAD = Key("instead", "for each key whose value in the link can't be used: the value shown instead")
DEFAULT_OF = Key("default of {}", "the default that the widget with the key {} had in the previous run")
LINKED_TO = Key("{} linked to", "a picker's encoder and revision, if only a link names them; None: load without asking")
PAGE = Key("page", "the address of the page whose pickers were drawn last")

# Kept by app.py for all pages.
RECORD = Key("page_record", "the record (figures.Page) of this run of a page")
MENU = Key("menu", "the pages of the menu, built once")

DOWNLOAD = Key("download", 'True while "Download" is open', False)

# The main view. An answer (answer.Answer) has the effects of hiding words.
WAY = Key("way", "the distance that counts as 100 %: between the senses' means, or between the two sentences' vectors")
HIDDEN = Key("hidden", "an answer's key, and the indices of the words that the visitor hides in A and B", (None, None))
HEADS = Key("heads", "the key of the answer for which the visitor opened the map of heads")
GUESS = Key("guessed", '"asked" while the page asks for a guess; then the sentence and index of the word; False: none')
VIEW = Key("view", "the kind of weights in the chosen head's maps (one_head.SOURCES); on Pronouns, the open tab")

# The kernel figure, which shows one token's row of attention weights.
PIECE = {name: Key(f"piece_{name.lower()}", f"the position of the token of {name} whose row is shown") for name in "AB"}
QUERIES = Key("queries", "for each encoder, sentence and word: the position of the chosen token", MappingProxyType({}))

# The switches of every map of weights.
BY_WORDS = Key("words", "True: join word pieces to words", False)
HIDE_SPECIAL = Key("hide", "True: leave special tokens out", False)

# Keys of single pages.
MEASURE = Key("measure", "All heads: the measure that the bars show")
ASKED = Key("asked", "Predictions: what the encoder is asked for, such as a class, a similarity or a masked word")
SIMILAR = Key("similar", "Predictions: the example that the two texts come from")
UNRELATED = Key("unrelated", "Predictions: the encoder's cache key, once the visitor compares with unrelated pairs")
DOCUMENT = Key("document", "Predictions: a second document for the query; empty: none")
CLASS = Key("class", "Predictions: the name of the class to explain")
TAGGED = Key("tagged", "Predictions: the word whose tag is explained")
TAG = Key("tag", 'Predictions: the tag to explain, after its word, as in "bank: NOUN"; None: the likeliest tag')
PASSAGE = Key("passage", 'Predictions: the sentence whose words are shown, as "TEXT.SENTENCE", both counted from 1')
GAP = Key("gap", "Predictions: the index of the word that is masked")
TARGET = Key("target", "Predictions: the index of the word to explain in the list of predicted words")
STOPPED = Key("stopped", "the cache keys of the encoder and of the work that the visitor stopped")
HIDDEN_ASKED = Key("hidden_asked", "Senses: the cache keys of the encoder and of the hidden-words report to compute")
OPENED = Key("opened", "Senses: address parameters with which to open the main view")
TABLE_READ = Key("table_read", "Senses: the uploaded file's id, usable rows, broken rows and digest", (None, None))
PROOF = Key("proof", "Models and proof: the encoder's key and the text, and the proof made with them", (None, None))
PROJECTOR = Key("projector", "From scratch: True to show larger type and no menu, for a projector", False)
STOP = Key("choice of stop", "From scratch: the stop (page of the lesson) that the picker shows")
RACE = Key("recurrence.race", "Before attention: the device, and the times measured on it")
TRAINED = Key("tiny.run", "Train a tiny model: the last run's settings, and its state after each epoch", (None, ()))
# One key for each lesson page ("stop").
REAL_HEAD = Key("{}.head", "the name of the head that the visitor chose")
REVEALED = Key("{}.shown", "True if the visitor asked for the answer without a guess", False)
ASKING = Key("{}.asking", "the position of the token whose row of attention weights is shown")
PUBLISHED = Key("{}.published", "the published numbers that were last written into the stop's fields")
