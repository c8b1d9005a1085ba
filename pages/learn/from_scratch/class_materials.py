"""For class: links that open a question unanswered, and a worksheet with its answer sheet."""

from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from selfattn.lessons import worksheet

QUESTIONS = {
    "magnitude": "Which key scores higher?",
    "scaling": "What happens without the division?",
    "causal-mask": "Why not multiply the scores by 0?",
    "twelve-tokens": "What does “good” attend to?",
    "order": "Dog bites man",
    "drawn-numbers": "Which word will “bank” attend to?",
}


def show() -> None:
    """A popover at the foot of the guided path."""
    with st.popover("For class", icon=":material/school:"):
        st.markdown("These links open a question with its answer hidden. Add `&reveal=yes` to open it answered.")
        for stop, question in QUESTIONS.items():
            st.markdown(f"**{question}**")
            st.code(link(st.context.url or "", stop), language=None)
        st.markdown("The worked example on paper: print it from the browser.")
        for name, answers in (("Worksheet", False), ("Answer sheet", True)):
            st.download_button(
                name,
                worksheet.page(answers),
                f"self-attention-{name.lower().replace(' ', '-')}.html",
                "text/html",
                on_click="ignore",
                key=f"class.{name}",
            )


def link(address: str, stop: str, reveal: bool = False) -> str:
    """The address of a stop on this server."""
    parts = urlsplit(address)
    query = {"stop": stop} | ({"reveal": "yes"} if reveal else {})
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))
