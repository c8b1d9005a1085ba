"""Draw what lesson pages share: questions, fields, pickers and layout.

The functions' argument `stop` is a lesson page's name. The keys of the page's widgets begin with this name.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.charts.arrows import arrows
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import session
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import show_panel
from selfattn.dashboard.pickers import chosen_head, pick_head
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.kernel import AttentionTrace
from selfattn.lessons import one_head_by_hand, typed_numbers
from selfattn.lessons.terms import TERMS
from selfattn.numbers import WEIGHT, vector
from selfattn.views.kernel_row import QueryRow
from selfattn.views.kernel_view import kernel_panel
from selfattn.views.lesson import Drawing, drawing, lesson_panel

REAL = one_head_by_hand.REAL.first
TEXT_WIDTH = PICTURE = 760  # pixels: about 90 characters
BESIDE = 352  # pixels: text beside a picture, in a window of 1440
ROOM = 280  # pixels: width of one of two maps side by side
FITS = 28  # pixels: smallest cell with room for a number
MOST_TOKENS = 64  # tokens in a lesson's map, at most


def prose(text: str) -> None:
    """Show Markdown text. Never pass a visitor's words."""
    st.markdown(text, width=TEXT_WIDTH)


def formula(text: str) -> None:
    """Show one line of mathematics below the prose."""
    with st.container(width=TEXT_WIDTH):
        st.latex(text)


def explain(*terms: str) -> None:
    prose(" ".join(TERMS[term] for term in terms))


def row() -> st.delta_generator.DeltaGenerator:
    """Return a container that shows figures side by side."""
    return st.container(horizontal=True, gap="medium")


def sides() -> tuple[st.delta_generator.DeltaGenerator, st.delta_generator.DeltaGenerator]:
    """Return a container for the picture and a container for the text, side by side."""
    both = st.container(horizontal=True, gap="medium", key="sides")
    return both.container(width=PICTURE), both.container(width=BESIDE)


def asked(matrix: Tensor, answered: bool, *rows: int) -> Tensor:
    """Return the matrix to draw. Until the page shows the answer, the rows `rows` (by default all rows) are NaN."""
    shown = matrix.double().clone()
    if not answered:
        shown[list(rows) if rows else slice(None)] = math.nan
    return shown


def example(stop: str, names: Sequence[str] | Mapping[str, str], label: str = "Example", key: str = "example") -> str:
    """Draw radio buttons, and return the chosen name. names: the names, or a label for each name."""
    labels = names if isinstance(names, Mapping) else dict(zip(names, names))
    return st.radio(
        label, list(labels), format_func=labels.__getitem__, key=f"{stop}.{key}", horizontal=key == "example"
    )


def steps(
    name: str,
    finding: str,
    charts: Mapping[str, Drawing],
    *,
    columns: int = 0,
    width: int | Literal["stretch"] = "stretch",
    key: str | None = None,
    answered: bool = True,
    **said: str,
) -> None:
    """Show a lesson's panel. Until the page shows the answer, leave out the panel's texts."""
    if not answered:
        finding, said = "", {}
    with st.container(width=width):
        show_panel(lesson_panel(name, finding, charts, columns, **said), key=key)


def kernel(stop: str, trace: AttentionTrace, tokens: Sequence[str], asks: int, text: str = "", **said: Any) -> None:
    """Show every step of the attention of one token (a row). A click on a token shows the token's row.

    asks: the position of the token whose row is shown at first; -1 if the query isn't a token.
    text: the name of a query that isn't a token.
    said: the arguments `finding` and `back` of `kernel_panel`.
    """
    key, whole = session.ASKING.of(stop), len(trace.query) == len(tokens) > 1
    chosen = key.get() if whole and key.get() in range(len(tokens)) else asks
    row = QueryRow(trace=trace, tokens=tuple(tokens), query=chosen, first=0 if whole else asks, text=text)

    def choose(_: str, clicked: Any) -> None:
        # A browser can send any value.
        if isinstance(clicked, list) and len(clicked) == 2 and clicked[1] in range(len(tokens)):
            key.set(clicked[1])

    panel = replace(kernel_panel(row, clicks=whole, **said), method="")
    show_panel(panel, choose=choose, states=("query",) if whole else ())


def small_map(matrix: Tensor, tokens: Sequence[str], room: int = ROOM, **looks: Any) -> Drawing:
    """Return a heatmap of the matrix, at most `room` pixels wide."""
    cell = min(64, room // len(tokens))
    size: dict[str, Any] = {"cell": cell, "numbers": WEIGHT if cell >= FITS else None}
    return drawing(heatmap, matrix, tokens, **(size if cell > FITS / 2 else {"size": room}), **looks)


def plane(vectors: Mapping[str, Tensor], strong: str = "", size: int = 240) -> Drawing:
    """Draw 2-d vectors as arrows. strong: the name of the vector that is drawn in dark ink."""
    frame = pd.DataFrame(torch.stack([*vectors.values()]).tolist(), columns=["x", "y"])
    lengths = [float(vector.norm()) for vector in vectors.values()]
    frame = frame.assign(kind=[*vectors], label=[*vectors], length=lengths)
    return drawing(arrows, frame, thickness="length", strong=strong, size=size)


def take(text: str) -> None:
    """Show the page's summary."""
    st.info(f"**Take with you.** {text}", icon=":material/backpack:", width="stretch")


def heads_chart(values: Tensor, **looks: Any) -> Drawing:
    """Return a heatmap of one value per head (n_layers, n_heads)."""
    layers, heads = ([f"{kind}{n}" for n in range(size)] for kind, size in zip("LH", values.shape))
    return drawing(heatmap, values, layers, columns=heads, **{"names": ("layer", "head"), "cell": 36, **looks})


def choose_sentence(stop: str, sentence: str, encoder: Encoder | None = None) -> tuple[Encoder, Encoding]:
    """Draw a field for a sentence. Return encoder and encoding, or stop the page's run with a message."""
    encoder = encoder or current_encoder()
    key = f"{stop}.sentence"
    st.session_state.setdefault(key, sentence)
    typed = st.text_input("Sentence", key=key, max_chars=500, width=TEXT_WIDTH)
    encoding = encode_or_stop(encoder, typed, "Sentence", most=MOST_TOKENS)
    if not encoder.recomputable:
        st.warning("selfattn can't recompute this encoder's queries and keys. Choose another encoder.")
        st.stop()
    return encoder, encoding


def choose_head(stop: str, sentence: str) -> tuple[Encoder, Encoding, Head]:
    """Draw a field for a sentence, and a map of all heads to choose from. Return encoder, encoding and head."""
    encoder, encoding = choose_sentence(stop, sentence)
    key = session.REAL_HEAD.of(stop)
    head = chosen_head(encoder, Head(0, 4), key)
    pick_head(encoder, head, "Head", key)
    return encoder, encoding, head


def own_numbers(
    stop: str, published: Mapping[str, Any], width: int = 110, check: Callable[..., object] | None = None
) -> dict[str, Tensor]:
    """Call `vectors` inside a collapsed expander, and return its result."""
    with st.expander("Your own numbers"):
        return vectors(stop, published, width, check)


def vectors(
    stop: str,
    published: Mapping[str, Sequence[float] | Tensor],
    width: int = 150,
    check: Callable[..., object] | None = None,
) -> dict[str, Tensor]:
    """Draw a text field for each vector (d,) of `published`; return the fields' vectors in float64.

    check: raises ValueError if the fields' vectors don't fit together. `published` is then returned.
    """
    texts = {f"{stop}.{name}": ", ".join(f"{number:g}" for number in row) for name, row in published.items()}
    filled = session.PUBLISHED.of(stop)
    if st.session_state.setdefault(filled, texts) != texts:  # another example was chosen
        st.session_state.update(texts | {filled: texts})
    typed = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, key in zip(published, texts):
            st.session_state.setdefault(key, texts[key])
            typed[name] = st.text_input(name, key=key, width=width, max_chars=80)
        reset(stop, texts)
    found = {name: numbers(name, text, published[name]) for name, text in typed.items()}
    try:
        if check:
            check(*found.values())
    except ValueError as error:
        refuse(f"{error} Until you correct your numbers, the page shows the published numbers.")
        return {name: torch.as_tensor(row, dtype=torch.float64) for name, row in published.items()}
    return found


def numbers(name: str, text: str, published: Sequence[float] | Tensor) -> Tensor:
    """Return `text` as a vector (d,) in float64, or `published` if the text can't be used."""
    try:
        return typed_numbers.parse(name, text, len(published))
    except ValueError as error:
        fallback = torch.as_tensor(published, dtype=torch.float64)
        refuse(f"{error} Until you correct your numbers, the page shows {vector(fallback)}.")
        return fallback


def refuse(why: str, what: str = "These numbers can't be used.") -> None:
    """Show the error `what`, and the reason `why` as plain text."""
    st.error(what, icon=":material/error:")
    st.text(why)


def reset(stop: str, published: Mapping[str, object], label: str = "Reset to the published numbers") -> None:
    """Draw a button that restores the published values. published: the published value for each widget key."""
    st.button(
        label,
        key=f"{stop}.reset",
        on_click=lambda: st.session_state.update(published),
        disabled=all(st.session_state.get(key) == value for key, value in published.items()),
    )


@contextmanager
def messages(what: str = "These numbers can't be used.") -> Iterator[None]:
    """If the `with` block raises ValueError, show the error and stop drawing the page."""
    try:
        yield
    except ValueError as error:
        refuse(str(error), what)
        st.stop()


def answered(stop: str) -> bool:
    """Return True if the lesson page shows its answer."""
    chosen, shown = st.session_state.get(f"{stop}.prediction"), session.REVEALED.of(stop).get()
    return chosen is not None or shown or st.query_params.get("reveal") == "yes"


def predict(stop: str, question: str, options: Sequence[str], answer: str, reason: str) -> bool:
    """Ask the question. After a guess, or if the visitor asks for the answer, show the answer and return True."""
    key = f"{stop}.prediction"
    with st.container(border=True, width=TEXT_WIDTH):
        st.markdown(f"**Predict first.** {question}")
        choice = st.radio("Your prediction", options, index=None, key=key, label_visibility="collapsed")
        if not answered(stop):
            shown = session.REVEALED.of(stop)
            st.button("Just show me", key=f"{stop}.show", on_click=shown.set, args=(True,), type="tertiary")
            return False
        if choice is None:
            st.markdown(f"The answer: **{answer}**. {reason}")
        elif choice == answer:
            st.markdown(f":green[**Yes: {answer}.**] {reason}")
        else:
            st.markdown(f"Your guess: *{choice}*. Answer: **{answer}**. {reason}")
    return True
