"""For class: the lesson plan, links that open a question unanswered, and a worksheet with its answer sheet."""

import streamlit as st

from pages.learn.from_scratch.lesson_pages import STOPS, number
from selfattn.lessons import worksheet

MINUTES = 4  # a core stop: at most 250 words, two minutes read aloud, and two to guess and try
PLAN = (  # the stops, and what to do there
    (("one-vector",), "Vote, then reveal. Move the layers from 0 up and watch one point become six"),
    (("soft-lookup", "projections", "dot-product"), "Vote at each; turn T down, and read one product term by term"),
    (("three-words", "scaling"), "Raise the score of *river* and watch the others pay; worksheet part 1"),
    (("causal-mask", "hide-a-word"), "Vote at each, then hide each other word in turn; worksheet part 3"),
    (("worked-example",), "The example *it*: worksheet part 2, compared on screen"),
    (("real-head",), "Vote, then reveal: the same in a real encoder"),
)
LAST = "Follow *On: guess which word*, and let the class type a sentence of its own; part 4 is for home"


def rows(address: str = "") -> list[tuple[str, str, str]]:
    """The plan: minutes, the stops with their numbers, linked where an address is known, and what to do."""
    listed, begin = [], 0
    for slugs, what in PLAN:
        end = begin + MINUTES * len(slugs)
        names = (f"{number(slug)}. {STOPS[slug].TITLE}" for slug in slugs)
        named = (f"[{name}]({link(address, slug)})" if address else name for name, slug in zip(names, slugs))
        listed.append((f"{begin} to {end}", "; ".join(named), what))
        begin = end
    return [*listed, (f"{begin} to {begin + 5}", "A word in two sentences", LAST)]


def show() -> None:
    """At the foot of the guided path: the lesson plan, a link to every question, the sheets to print."""
    with st.expander("For class: a 45-minute lesson, a link to each question, worksheets", icon=":material/school:"):
        address = st.context.url or ""
        table = [
            "| minutes | stops | what to do |",
            "|---|---|---|",
            *(f"| {' | '.join(row)} |" for row in rows(address)),
        ]
        st.markdown("\n".join(table))
        st.markdown("Each link opens a question with its answer hidden. Add `&reveal=yes` to open it answered.")
        lines = (f"{number(slug)}. {plain_question(slug)}\n{link(address, slug)}" for slug in STOPS)
        st.code("\n\n".join(lines), language=None, wrap_lines=True)
        st.markdown("The worked example and the map of *bank* on paper, a page each: print them from the browser.")
        for name, answers in (("Worksheet", False), ("Answer sheet", True)):
            file = f"self-attention-{name.lower().replace(' ', '-')}.html"
            st.download_button(name, worksheet.page(answers), file, "text/html", on_click="ignore", key=f"class.{name}")


def plain_question(slug: str) -> str:
    """What the class sees: the question with its choices, as plain text."""
    stop = STOPS[slug]
    return f"{stop.QUESTION} ({' / '.join(sorted(stop.OPTIONS))})".replace("*", "").replace("`", "")


def link(address: str, stop: str) -> str:
    """The address of a stop on this server."""
    return f"{address.partition('?')[0]}?stop={stop}"
