"""The live figure of a word in two sentences: it sends the server only a chosen head, or a word whose heads aren't run.

The browser handles all else. The spec stays as first drawn, whatever the visitor chooses: Streamlit would redraw a new spec
and forget which words the visitor has hidden. Later results arrive as data.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from selfattn.charts.hidden_words import picking
from selfattn.dashboard import session
from selfattn.dashboard.answer import keyed_answer, run_heads_of
from selfattn.dashboard.cache import cached, encoder_key
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.figures import Figure, current_theme, note_figure, this_page, with_tables
from selfattn.dashboard.pickers import chosen_head
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.views.two_sentences import FIGURE, WordInTwoSentences
from selfattn.words import Word

SELECTIONS = ("pick", "hide_a", "hide_b")
ALT = (
    "A word in two sentences: each other word shaded by how far hiding it moves the word; a map of all heads beside it"
)


@dataclass(frozen=True)
class Begun:
    """A figure as first drawn. Another pair, way or theme begins a new one."""

    of: Hashable
    head: Head  # picked at first

    @property
    def key(self) -> str:
        """The key of its element on the page."""
        return f"figure {hash(self)}"


def show_figure(encoder: Encoder, way: str) -> None:
    """Show the figure as first drawn, with the results computed since."""
    page, theme = this_page(), current_theme()
    of, view = keyed_answer(encoder, page.pair, way)
    head = page.head = chosen_head(encoder, view.first_head)
    begun = _begin(encoder, way, view)
    guess = session.GUESS.get() == ASKED
    # Draw it once for all visitors and heads of the pair: it takes half of the page's time.
    drawn = cached(encoder, ("word figure", of, theme.name, guess), lambda _: view.figure(theme, guess=guess))
    spec = picking(drawn, begun.head)
    draw, words = partial(view.figure, theme, head), view.tables["words"]
    note_figure(FIGURE, Figure(draw, view.caption, words, one_head=False, live=True), first=True)
    page.tables |= {"heads of each word": view.tables["heads"], "cosine by layer": view.tables["curves"]}
    exact = {(each.side, each.at) for each in view.heads if each.exact}
    choose = partial(_take_guess, begun.key) if guess else partial(_choose, begun.key, encoder, page.pair, way, exact)
    st.vega_lite_chart(
        with_tables(spec), theme=None, key=begun.key, width="content", alt=ALT,
        on_select=choose, selection_mode=("guess",) if guess else SELECTIONS,
    )  # fmt: skip


def hidden_now(view: WordInTwoSentences) -> dict[str, Word]:
    """The word that the figure hides in each sentence; at first the answer's leading words."""
    _, chosen = session.FIGURE.get()
    numbers = (chosen[name] for name in SELECTIONS[1:])
    return {name: words[at] for name, words, at in zip("AB", view.pair.words, numbers) if 0 <= at < len(words)}


ASKED = "asked"  # value of session.GUESS while the page waits for a guess


def _begin(encoder: Encoder, way: str, view: WordInTwoSentences) -> Begun:
    """Return the present figure if it is of the same pair, way and theme, and shows the chosen head; else a new one."""
    page, (begun, chosen) = this_page(), session.FIGURE.get()
    look = current_theme().name, session.GUESS.get() == ASKED
    of = (encoder_key(encoder), page.pair.key, way, view.pair.senses, *look)
    if begun is None or begun.of != of or chosen["pick"] != page.head:
        begun = Begun(of, page.head)
        hidden = (-1 if top is None else top for top in view.pair.top)
        session.FIGURE.set((begun, dict(zip(SELECTIONS, (page.head, *hidden)))))
    return begun


def _choose(key: str, encoder: Encoder, pair: Pair, way: str, exact: set[tuple[int, int]]) -> None:
    """Handle a click: a head goes into the address and reruns the parts that show it; a word gets its heads run."""
    begun, before = session.FIGURE.get()
    now = _read(st.session_state[key].selection)
    session.FIGURE.set((begun, before | now))
    changed = {name for name, value in now.items() if before.get(name) != value}
    parts = []
    if "pick" in changed:
        session.HEAD.set(str(now["pick"]))
        parts += ["kept_head", "head"]
    words = sorted(changed - {"pick"})
    for name in words:
        at = SELECTIONS.index(name) - 1, now[name]
        if now[name] >= 0 and at not in exact:
            run_heads_of(encoder, pair, way, at)
            parts.append("figure")
    if words:
        parts += ["controls", *["head"] * (session.WITHOUT.get() == "hidden")]
    st.rerun(list(dict.fromkeys(parts)) or ["kept_head"])


def _take_guess(key: str) -> None:
    if picked := st.session_state[key].selection.get("guess"):
        session.GUESS.set((picked[0]["sentence"], int(picked[0]["place"])))
        st.rerun()  # the whole page: the answer is outside this part


def _read(selection: Any) -> dict[str, Any]:
    """Read the selections as a head and word numbers (-1: nothing hidden)."""
    now: dict[str, Any] = {}
    for name in SELECTIONS:
        for one in (selection.get(name) or [])[:1]:
            now[name] = Head(int(one["layer"]), int(one["head"])) if name == "pick" else int(one["next"])
    return now
