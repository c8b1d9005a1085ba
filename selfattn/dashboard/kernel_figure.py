"""Show the kernel figure: every step of one head's attention, for one token."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, cached_separate_error, encoder_key
from selfattn.dashboard.figures import show_panel, this_page
from selfattn.dashboard.link import linked, say_what_is_missing
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.panel import Panel
from selfattn.views.kernel_row import word_row
from selfattn.views.kernel_view import kernel_panel
from selfattn.views.one_head import Sides


def queries_now(encoder: Encoder, sides: Sides) -> dict[str, int]:
    """Return, for each sentence, the position of the token whose row of weights is shown."""
    found = {}
    for name, side in sides.items():
        tokens, first, key = side.sentence.tokens, side.positions[0], session.PIECE.get(name)
        asked = linked(key).partition(":")[0] if key else ""  # older links have "5: ##bank"
        if asked.isdecimal() and int(asked) < len(tokens):
            _keep(encoder, sides, side, int(asked))
        found[name] = position = session.QUERIES.get().get(_kept_by(encoder, side), first)
        if key:
            this_page().address[key] = None if position == first else str(position)
            possible = [text for at, token in enumerate(tokens) for text in (str(at), f"{at}: {token}")]
            missing = f"The link asks for token {{!r}}, which sentence {name} doesn't have.".format
            say_what_is_missing(key, possible, f"token {position}", missing)
    return found


def kernel_of(encoder: Encoder, sides: Sides, head: Head, queries: Mapping[str, int]) -> Panel:
    """Return the panel that shows one head's attention step by step, for the tokens at `queries`."""

    def make(_: object) -> Panel:
        rows = [word_row(side, head, name, query=queries[name]) for name, side in sides.items()]
        return kernel_panel(rows, head=head, errors=errors_of(encoder, [*sides.values()], head))

    return cached(encoder, ("kernel figure", head, *rows_key(sides, queries)), make)


def rows_key(sides: Sides, queries: Mapping[str, int]) -> tuple[Hashable, ...]:
    return tuple((name, side.key, repr(side.sentence.hides), queries[name]) for name, side in sides.items())


def show_kernel(
    panel: Panel, encoder: Encoder, sides: Sides, choose_above: Callable[[str, Any], object] | None = None, **more: Any
) -> None:
    """Show the panel. A click on a token makes this token the query.

    choose_above: called if, in the figure above this one, the visitor chooses a head ("head"), hides a word ("hidden"), or
        hides a word whose effects in single heads are unknown ("heads").
    """
    states = ("query",) if choose_above is None else ("query", "head", "hidden", "heads")
    show_panel(panel, choose=partial(_choose, encoder, sides, choose_above), states=states, **more)


def errors_of(encoder: Encoder, sides: Sequence[PlacedWord[Encoding]], head: Head) -> tuple[float, float | None]:
    """Return the largest differences between the attention weights from our code (the kernel) and those from the model.

    For the first number, both compute the weights from the same queries and keys. For the second number, the model's weights
    come from a separate forward pass (None without such a pass).
    """
    differences = [side.sentence.weights(*head) - side.sentence.own_weights(*head) for side in sides]
    plain = all(side.sentence.pair is None and not side.sentence.hides for side in sides)
    separate = [cached_separate_error(encoder, side.sentence.text, head) for side in sides] if plain else [None]
    known = [error for error in separate if error is not None]
    return max(float(each.abs().max()) for each in differences), max(known) if len(known) == len(separate) else None


def _choose(
    encoder: Encoder, sides: Sides, choose_above: Callable[[str, Any], object] | None, state: str, value: Any
) -> None:
    """Store the position of a clicked token. Ignore invalid values, because a browser can send any value."""
    if state != "query" and choose_above:
        choose_above(state, value)
    match state, value:
        case "query", [int(number), int(position)] if 0 <= number < len(sides):
            name, side = list(sides.items())[number]
            if 0 <= position < len(side.sentence.tokens):
                _keep(encoder, sides, side, position)
                if key := session.PIECE.get(name):
                    st.query_params[key] = str(position)


def _keep(encoder: Encoder, sides: Sides, side: PlacedWord[Encoding], position: int) -> None:
    """Store the position of the token chosen in a sentence. Forget the tokens chosen in sentences that aren't shown."""
    shown, kept = [_kept_by(encoder, each) for each in sides.values()], session.QUERIES.get()
    session.QUERIES.set({key: kept[key] for key in shown if key in kept} | {_kept_by(encoder, side): position})


def _kept_by(encoder: Encoder, side: PlacedWord[Encoding]) -> tuple[Any, ...]:
    return encoder_key(encoder), side.key
