"""What the lesson pages share: numbers to edit, messages for bad ones, and questions that come before their answer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import streamlit as st

from selfattn.lessons import typed_numbers as inputs

TEXT_WIDTH = 760  # pixels: about 90 characters a line


def prose(text: str) -> None:
    """Running text of our own at a width that reads well. Never for words that a visitor typed."""
    st.markdown(text, width=TEXT_WIDTH)


def formula(text: str) -> None:
    """One line of mathematics, centred under the prose."""
    with st.container(width=TEXT_WIDTH):
        st.latex(text)


def row() -> st.delta_generator.DeltaGenerator:
    """Figures side by side, the next line where the window is narrow."""
    return st.container(horizontal=True, gap="medium")


@contextmanager
def figure(title: str, width: int = 340) -> Iterator[None]:
    """A figure with its title; titles are ours, so they may be Markdown."""
    with st.container(width=width):
        st.markdown(f"**{title}**")
        yield


def vectors(stop: str, published: Mapping[str, Sequence[float]], width: int = 150) -> dict[str, list[float]]:
    """One text box a vector, filled with the published numbers, and a button that brings those back.

    Raises ValueError where a box holds anything but numbers.
    """
    texts = {name: ", ".join(f"{number:g}" for number in numbers) for name, numbers in published.items()}
    typed = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, text in texts.items():
            key = f"{stop}.{name}"
            st.session_state.setdefault(key, text)
            typed[name] = st.text_input(name, key=key, width=width, max_chars=80)
        reset(stop, {f"{stop}.{name}": text for name, text in texts.items()})
    return {name: inputs.parse(name, text) for name, text in typed.items()}


def reset(stop: str, published: Mapping[str, object], label: str = "Reset to the published numbers") -> None:
    """The button that puts the published numbers back; published maps widget keys to values."""
    st.button(
        label,
        key=f"{stop}.reset",
        on_click=lambda: st.session_state.update(published),
        disabled=all(st.session_state.get(key) == value for key, value in published.items()),
    )


@contextmanager
def messages(refusal: str = "These numbers can't be used.") -> Iterator[None]:
    """Turn a ValueError into a message on the page, and end the page there."""
    try:
        yield
    except ValueError as error:
        st.error(refusal, icon=":material/error:")
        # The message may quote what was typed, so it is not Markdown.
        st.text(str(error))
        st.stop()


def predict(stop: str, question: str, options: Sequence[str], answer: str) -> bool:
    """Ask before showing. True once the visitor has chosen, asked to be shown, or came by a link with ?reveal=yes."""
    key = f"{stop}.prediction"
    with st.container(border=True, width=TEXT_WIDTH):
        st.markdown(f"**Predict first.** {question}")
        choice = st.radio("Your prediction", options, index=None, key=key, label_visibility="collapsed")
        shown = st.query_params.get("reveal") == "yes" or st.session_state.get(f"{stop}.shown", False)
        if choice is None and not shown:
            st.button("Just show me", key=f"{stop}.show", on_click=_show, args=(stop,), type="tertiary")
            return False
        if choice is None:
            st.markdown(f"The answer: **{answer}**. The reason is below.")
        elif choice == answer:
            st.markdown(f":green[**Yes: {answer}.**] The reason is below.")
        else:
            st.markdown(f"You said *{choice}*. It is **{answer}**. The reason is below.")
    return True


def _show(stop: str) -> None:
    st.session_state[f"{stop}.shown"] = True
