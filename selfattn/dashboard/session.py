"""Define the keys of a visitor's session, with their meanings and first values. No other file writes a key as a string.

A key that a widget binds to the address must keep its name. A key that is used only next to its widget ("scaling.n") isn't here.
"""

from collections.abc import Collection
from functools import cache
from types import MappingProxyType
from typing import Any

import streamlit as st


class Key(str):
    """A key of the session by its name. A name with `{}` is a template that `of` fills in."""

    meaning: str
    first: Any  # the value until one is set

    def __new__(cls, name: str, meaning: str = "", first: Any = None) -> "Key":
        key = super().__new__(cls, name)
        key.meaning, key.first = meaning, first
        return key

    @cache  # noqa: B019  a key is kept as long as the server runs
    def of(self, part: str) -> "Key":
        """Fill in the template."""
        return Key(self.format(part), self.meaning, self.first)

    def get(self) -> Any:
        """Return the key's value in this visitor's session."""
        return st.session_state.get(self, self.first)

    def set(self, value: Any) -> None:
        """Set the key's value. A widget's value must be set before the widget is drawn, or in a callback."""
        st.session_state[self] = value

    def keep_within(self, options: Collection[Any], default: Any) -> None:
        """Set the default if the value is no longer among the options. Call it before the widget."""
        if st.session_state.get(self, default) not in options:
            self.set(default)


# The choice that all views of two sentences share; it is in the address.
A = Key("a", "sentence A; views of one sentence show it")
B = Key("b", "sentence B")
C = Key("c", "the control sentence; empty: none")
EXAMPLE = Key("example", "the example that the sentences come from; None: the visitor's own sentences")
MORE = Key("more", "an example that is chosen from the list of all others")
WORD = Key("word", "the chosen word, as A spells it")
HIDE = {"A": Key("hide_a", "the word that is hidden in A"), "B": Key("hide_b", "the same in B")}
AT = {"A": Key("at_a", "the number of the word's place in A, from 1"), "B": Key("at_b", "the same in B")}
CHOICE = (EXAMPLE, A, B, C, WORD, *AT.values())
MODEL = Key("model", "the encoder, one of those offered or `another ...`")
SECOND = Key("second", "Two encoders: the second encoder, one of those offered or `another ...`")
SENTENCE = Key("sentence", "All heads: the sentence that is shown: A, B, or both", "A")
SENTENCES = Key("sentences", "Two encoders: the sentences over which two checkpoints are compared, one per line")

# Heads, by their names, such as "L0 H10"; they are in the address, but no widget binds them. None: the page's default.
HEAD = Key("head", "the chosen head")
SECOND_HEAD = Key("head2", "Two encoders: the second encoder's head, if heads have no counterparts")

# The origin of the choice.
WORD_CHOSEN = Key("word_chosen", "True if the visitor chose the word; else it follows the example", False)
CONTROL_TYPED = Key("typed", "the typed control, and A at that time; if A changes, the page asks about it", ("", ""))
WORD_MISSED = Key("word_missed", "the word asked for last that isn't in both sentences", "")

# The address.
LINK = Key("link", "the address at the session's start, without parameters applied or dropped", MappingProxyType({}))
INSTEAD = Key("instead", "by the link's key: the value shown in its place")
DEFAULT_OF = Key("default of {}", "a bound widget's default in the previous run")
LINKED_TO = Key(
    "{} linked to", "by picker: the encoder and revision that a link names; None: load it without a question"
)
PAGE = Key("page", "the address of the page whose pickers were drawn last")

# The frame.
RECORD = Key("page_record", "the record of this run of a page")
MENU = Key("menu", "the pages of the menu, built once")

DOWNLOAD = Key("download", 'True while "Download" is open', False)

# The main view.
WAY = Key("way", "the way of which shares are parts: between the senses, or between the two sentences")
HIDDEN = Key("hidden", "the answer's key; the number of the word that the visitor hides in A, and in B", (None, None))
HEADS = Key("heads", "the key of the answer whose map of heads was opened")
GUESS = Key(
    "guessed", '"asked" while the page asks for a guess; then the guessed word\'s sentence and number; False: given up'
)
VIEW = Key("view", "the source of the weights in the chosen head's maps; on Pronouns, the open view")

# The kernel figure.
PIECE = {"A": Key("piece_a", "the token of A whose row the figure shows"), "B": Key("piece_b", "the same in B")}
QUERIES = Key("queries", "the token's position, by the encoder and the word's sentence and place", MappingProxyType({}))

# Every map's two switches.
BY_WORDS = Key("words", "True: join word pieces to words", False)
HIDE_SPECIAL = Key("hide", "True: leave special tokens out", False)

# Other pages and their parts.
MEASURE = Key("measure", "All heads: the measure in the bars")
ASKED = Key("asked", "Predictions: the kind of question, a class, a pair, a similarity, a tag or a gap")
SIMILAR = Key("similar", "Predictions: the example that the two texts come from")
UNRELATED = Key("unrelated", "Predictions: the key of the encoder whose unrelated pairs are asked for")
DOCUMENT = Key("document", "Predictions: a second document for the query; empty: none")
CLASS = Key("class", "Predictions: the class that is asked about, by its name")
TAGGED = Key("tagged", "Predictions: the word whose tag is asked about")
TAG = Key("tag", "Predictions: that word, and the tag that is asked about; None: the likeliest tag")
PASSAGE = Key("passage", "Predictions: the sentence whose words are open, by its text's row and its own place, from 1")
GAP = Key("gap", "Predictions: the number of the masked word")
TARGET = Key("target", "Predictions: the number of the word in the gap that is asked about")
STOPPED = Key("stopped", "the encoder and key of the work that was stopped")
HIDDEN_ASKED = Key("hidden_asked", "Senses: the encoder and key of the hidden-words report that was asked for")
OPENED = Key("opened", "Senses: the sentences to open in the main view, by their parameters in its address")
TABLE_READ = Key("table_read", "Senses: the uploaded file's id, usable rows, broken rows and digest", (None, None))
PROOF = Key("proof", "Models and proof: the encoder's key and the text, and their proof", (None, None))
PROJECTOR = Key("projector", "From scratch: larger type, the menu folded away", False)
STOP = Key("choice of stop", "From scratch: the stop that the picker shows")
RACE = Key("recurrence.race", "Before attention: the device, and the times measured on it")
TRAINED = Key("tiny.run", "Train a tiny one: the settings and the states of the last training", (None, ()))
REAL_HEAD = Key("{}.head", "a lesson's stop: the chosen head, by its name")
REVEALED = Key("{}.shown", "a lesson's stop: True if the answer is shown without a guess", False)
ASKING = Key("{}.asking", "a lesson's stop: the token whose row of the kernel is shown")
PUBLISHED = Key("{}.published", "a lesson's stop: the published numbers that its fields were filled with")
