"""The keys of a visitor's session: what each is called, what it is at first, what it means. No other file spells one out.

A key that a widget binds to the address keeps its name. Not here: a widget that only its own lines know ("scaling.n").
"""

from collections.abc import Collection
from types import MappingProxyType
from typing import Any

import streamlit as st


class Key(str):
    """A key of the session by its name; `{}` in it stands for what there is one of for each."""

    meaning: str
    first: Any  # its value as long as nobody has set one

    def __new__(cls, name: str, meaning: str = "", first: Any = None) -> "Key":
        key = super().__new__(cls, name)
        key.meaning, key.first = meaning, first
        return key

    def of(self, part: str) -> "Key":
        """The key of one of those that this one stands for."""
        return Key(self.format(part), self.meaning, self.first)

    def get(self) -> Any:
        """Its value in this visitor's session."""
        return st.session_state.get(self, self.first)

    def set(self, value: Any) -> None:
        """Set it; a widget's before the widget is drawn, or in a callback."""
        st.session_state[self] = value

    def keep_within(self, options: Collection[Any], default: Any) -> None:
        """Call before a widget: a value that isn't among its options any more gives way to the default."""
        if st.session_state.get(self, default) not in options:
            self.set(default)


# The choice, which every view of two sentences shares; in the address.
A = Key("a", "sentence A, and the sentence of the views of one")
B = Key("b", "sentence B")
C = Key("c", "the control sentence; empty: none")
EXAMPLE = Key("example", "the example that the sentences come from; None: they are the visitor's own")
WORD = Key("word", "the chosen word, as A spells it")
AT = {"A": Key("at_a", "which of the word's places in A, from 1"), "B": Key("at_b", "the same in B")}
HEAD = Key("head", 'the chosen head, "L0 H10"')
CHOICE = (EXAMPLE, A, B, C, WORD, *AT.values(), HEAD)
MODEL = Key("model", "the encoder, one of those offered or `another ...`")
SECOND = Key("second", "the second encoder of Two encoders, likewise")
SECOND_HEAD = Key("head2", "its head, where heads have no counterparts")
SENTENCE = Key("sentence", "All heads: the sentence it shows, A or B, or both", "A")
SENTENCES = Key("sentences", "Two encoders: the sentences over which two checkpoints are compared, one a line")

# How the choice came about.
WORD_CHOSEN = Key("word_chosen", "whether the word was chosen: else it follows the example", False)
CONTROL_TYPED = Key("typed", "the control as typed, and A then: another A leaves it, and is asked about", ("", ""))
LEADING = Key("leading", "the head that leads in the pair: shown until another is chosen")
CLICKS = Key("choices", "how often the charts were made anew because they held a click that isn't shown", 0)

# The address.
LINK = Key("link", "what the address held when the session began, less what was had or given up", MappingProxyType({}))
INSTEAD = Key("instead", "by key of the link: what was shown in its place")
DEFAULT_OF = Key("default of {}", "a bound widget's default in the run before")
LINKED_TO = Key(
    "{} linked to", "by picker: the encoder and revision that a link names; None: loading it needs no question"
)
PAGE = Key("page", "the title of the page whose pickers were drawn last")

# The frame.
RECORD = Key("page_record", "the record of this run of a page")
MENU = Key("menu", "the pages of the menu, made once")

# The main view.
WAY = Key("way", "what the shares are parts of: the way between the senses, or between the two sentences")
FIGURE = Key(
    "figure", "the live figure as it was begun, and what has been chosen in it since", (None, MappingProxyType({}))
)
RUN = Key("run", "by encoder, pair and way: the words that were chosen, whose heads are run, too", MappingProxyType({}))
COMPLETED = Key("completed", "the encoder, pair and way whose leading words' heads were run last")
GUESS = Key(
    "guessed", '"asked" while a guess is asked for; then the sentence and number of the guessed word; False: given up'
)
WITHOUT = Key("without", "the chosen head as it is, or with the words hidden that are hidden in the figure")

VIEW = Key("view", "whose weights the maps of the chosen head are; on Pronouns, which of its two views is open")

# Every map's two switches.
BY_WORDS = Key("words", "whether word pieces are put together", False)
HIDE_SPECIAL = Key("hide", "whether special tokens are left out", False)

# Other pages and their parts.
MEASURE = Key("measure", "All heads: by which measure the grid is coloured")
TAB = Key("tab", "All heads: the open tab, by its name")
OVERLAID = Key("overlaid", "All heads: the heads, averages and rollout that stand beneath one another", ())
STEP = Key("step", "Inside a head: the step on show")
LARGEST = Key("largest of {}", "Inside a head: the token that was picked for the visitor, by the key of its picker")
ASKED = Key("asked", "Predictions: what is asked, a class, a similarity or a gap")
CLASS = Key("class", "Predictions: the class that is asked about, by its name")
GAP = Key("gap", "Predictions: the number of the masked word")
TARGET = Key("target", "Predictions: the number of the word in the gap that is asked about")
AGAIN = Key("{} again", "whether the stored reports of this name are computed here and now", False)
STOPPED = Key("stopped", "Senses: the encoder and key of the report that was stopped")
HIDDEN_ASKED = Key("hidden_asked", "Senses: the encoder and key whose hidden words were asked for")
TABLE_READ = Key("table_read", "Senses: the uploaded file's id, and what was read of it: its rows ...", (None, None))
SCAN_READ = Key("scan_read", "Senses: the scan's folder and when it changed; the scan, its means, its sources", (None,))
PROOF = Key("proof", "Models and proof: the encoder's key and the text, and their proof", (None, None))
PROJECTOR = Key("projector", "From scratch: larger type, the menu folded away", False)
STOP = Key("choice of stop", "From scratch: the stop that the picker shows")
RACE = Key("recurrence.race", "Before attention: the device, and the times measured on it")
TRAINED = Key("tiny.run", "Train a tiny one: the settings and the states of the last training", (None, ()))
REVEALED = Key("{}.shown", "a lesson's stop: whether the answer is shown without a guess", False)
PUBLISHED = Key("{}.published", "a lesson's stop: the published numbers that its fields were filled with")
