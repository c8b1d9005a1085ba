"""Define the keys of a visitor's session state, with their meanings and first values. No other file writes a key as a string.

A meaning that begins with a page's title, such as "Senses:", is about that page only. A key that a widget binds to the address
must keep its name, because links have it. A key that only its widget's own code uses ("scaling.n") isn't here.
"""

from collections.abc import Collection
from functools import cache
from types import MappingProxyType
from typing import Any

import streamlit as st


class Key(str):
    """A key of the session state. A name with `{}` is a template that `of` fills in."""

    meaning: str
    first: Any  # the value until one is set

    def __new__(cls, name: str, meaning: str = "", first: Any = None) -> "Key":
        key = super().__new__(cls, name)
        key.meaning, key.first = meaning, first
        return key

    @cache  # noqa: B019  keys are kept until the server stops
    def of(self, part: str) -> "Key":
        """Return the key for which the template is filled in with this part."""
        return Key(self.format(part), self.meaning, self.first)

    def get(self) -> Any:
        """Return the key's value in this visitor's session."""
        return st.session_state.get(self, self.first)

    def set(self, value: Any) -> None:
        """Set the key's value. A widget's value must be set before the widget is drawn, or in a callback."""
        st.session_state[self] = value

    def keep_within(self, options: Collection[Any], default: Any) -> None:
        """Set the default if the value is no longer an option. Call it before the widget is drawn."""
        if st.session_state.get(self, default) not in options:
            self.set(default)


# The visitor's sentences and word, which pages share. They are in the address too.
A = Key("a", "sentence A, also on pages that show one sentence")
B = Key("b", "sentence B")
C = Key("c", "the control sentence; empty: none")
EXAMPLE = Key("example", "the example that the sentences come from; None: the visitor's own sentences")
MORE = Key("more", "the example chosen from the list of further examples")
WORD = Key("word", "the chosen word, as A spells it")
HIDE = {"A": Key("hide_a", "the word that is hidden in A"), "B": Key("hide_b", "the word that is hidden in B")}
AT = {"A": Key("at_a", "the word's chosen occurrence in A, from 1"), "B": Key("at_b", "its chosen occurrence in B")}
CHOICE = (EXAMPLE, A, B, C, WORD, *AT.values())
MODEL = Key("model", "the encoder in the picker, or `another ...`")
SECOND = Key("second", "Two encoders: the second encoder in the picker, or `another ...`")
SENTENCE = Key("sentence", "All heads: which sentences are shown: A, B, or both", "A")
SENTENCES = Key("sentences", "Two encoders: the sentences over which two checkpoints are compared, one per line")

# Heads by name, such as "L0 H10". They are in the address, but no widget binds them. None: the page's default head.
HEAD = Key("head", "the chosen head")
SECOND_HEAD = Key("head2", "Two encoders: the second encoder's head, if the encoders' heads don't correspond")

# The origin of the choice.
WORD_CHOSEN = Key("word_chosen", "True if the visitor chose the word; False: the word follows the example", False)
CONTROL_TYPED = Key("typed", "the control sentence that the visitor typed, and sentence A at that time", ("", ""))
WORD_MISSED = Key("word_missed", "the last word typed by the visitor that isn't in both sentences", "")

# The address.
LINK = Key("link", "parameters of the first address that are neither used nor dropped yet", MappingProxyType({}))
INSTEAD = Key("instead", "by key: the value shown instead of the link's value")
DEFAULT_OF = Key("default of {}", "a bound widget's default in the previous run")
LINKED_TO = Key("{} linked to", "by picker: the encoder and revision that only a link names; None: load without asking")
PAGE = Key("page", "the address of the page whose pickers were drawn last")

# The frame (app.py).
RECORD = Key("page_record", "the record (figures.Page) of this run of a page")
MENU = Key("menu", "the pages of the menu, built once")

DOWNLOAD = Key("download", 'True while "Download" is open', False)

# The main view.
WAY = Key("way", "the way whose whole length is a share of 1: between the senses, or the sentences")
HIDDEN = Key("hidden", "the answer's key, and the numbers of the words that the visitor hides in A and B", (None, None))
HEADS = Key("heads", "the key of the answer whose map of heads was opened")
GUESS = Key(
    "guessed", '"asked" while the page asks for a guess; then the guessed word\'s sentence and number; False: given up'
)
VIEW = Key("view", "the source of the weights in the chosen head's maps; on Pronouns, the open view")

# The kernel figure.
PIECE = {"A": Key("piece_a", "A's token whose row is shown"), "B": Key("piece_b", "B's token whose row is shown")}
QUERIES = Key("queries", "positions of these tokens, by encoder and placed word", MappingProxyType({}))

# The two switches of every map of weights.
BY_WORDS = Key("words", "True: join word pieces to words", False)
HIDE_SPECIAL = Key("hide", "True: leave special tokens out", False)

# Other pages and their parts.
MEASURE = Key("measure", "All heads: the measure that the bars show")
ASKED = Key("asked", "Predictions: the kind of answer: a class, a pair, a similarity, a tag or a gap")
SIMILAR = Key("similar", "Predictions: the example that the two texts come from")
UNRELATED = Key("unrelated", "Predictions: the key of the encoder for which the visitor wants unrelated pairs")
DOCUMENT = Key("document", "Predictions: a second document for the query; empty: none")
CLASS = Key("class", "Predictions: the name of the class to explain")
TAGGED = Key("tagged", "Predictions: the word whose tag is explained")
TAG = Key("tag", "Predictions: the word, and the tag to explain; None: the likeliest tag")
PASSAGE = Key("passage", "Predictions: the sentence whose words are shown: its text's row and its number there, from 1")
GAP = Key("gap", "Predictions: the number of the masked word")
TARGET = Key("target", "Predictions: the number of the word to explain in the gap")
STOPPED = Key("stopped", "the encoder and key of the work that was stopped")
HIDDEN_ASKED = Key("hidden_asked", "Senses: the encoder and key of the hidden-words report to compute")
OPENED = Key("opened", "Senses: the main view's address parameters for the sentences to open")
TABLE_READ = Key("table_read", "Senses: the uploaded file's id, usable rows, broken rows and digest", (None, None))
PROOF = Key("proof", "Models and proof: the encoder's key with the text, and the proof for them", (None, None))
PROJECTOR = Key("projector", "From scratch: larger type, the menu folded away", False)
STOP = Key("choice of stop", "From scratch: the stop (page of the lesson) that the picker shows")
RACE = Key("recurrence.race", "Before attention: the device, and the times measured on it")
TRAINED = Key("tiny.run", "Train a tiny one: the last training's settings, and its state after each epoch", (None, ()))
REAL_HEAD = Key("{}.head", "a lesson's stop: the chosen head, by its name")
REVEALED = Key("{}.shown", "a lesson's stop: True if the answer is shown without a guess", False)
ASKING = Key("{}.asking", "a lesson's stop: the token whose row of attention is shown")
PUBLISHED = Key("{}.published", "a lesson's stop: the numbers with which its fields were last filled")
