"""Show the materials for class: a lesson plan, links that open a question unanswered, a worksheet and its answers."""

import streamlit as st

from pages.learn.from_scratch import worksheet
from pages.learn.from_scratch.lesson_pages import CORE, NUMBERS, STOPS
from selfattn.dashboard import permissions

MINUTES = 4  # minutes per core stop: two to read at most 250 words aloud, two to vote and do one thing
LAST = "Follow *On: guess which word*, and let the class type a sentence of its own. The worksheet is for home"
ASKED = {  # questions of pupils
    "Why does *The* count nearly as much as *loan*, 10 % and 12 %?": "Neither does: over many sentences, moves under 21 % go the "
    "wrong way too often to count. No single word of this sentence settles the sense; *approved* and *loan* hidden together move "
    "*bank* 29 %.",
    "Why does *bank* attend to itself?": "Its key fits its own query, too. What it hands itself changes nothing in the hand-made "
    "head, whose value of *bank* is [0, 0].",
    "Who wrote the numbers?": "Those of the hand-made head, we did. Those of the real encoder come from training alone.",
}


def rows(address: str = "") -> list[tuple[str, str, str]]:
    """The plan's rows: minutes, the stop (a link, if the address is known), and the one thing to do."""
    listed = []
    for begin, slug in zip(range(0, 100, MINUTES), CORE):
        name = f"{NUMBERS[slug]}. {STOPS[slug].title}"
        linked = f"[{name}]({link(address, slug)})" if address else name
        listed.append((f"{begin} to {begin + MINUTES}", linked, STOPS[slug].do))
    end = MINUTES * len(CORE)
    return [*listed, (f"{end} to {end + 5}", "A word in two sentences", LAST)]


def show() -> None:
    """Show the lesson plan, a link to each question, and the sheets to print."""
    with st.expander("For class: a 45-minute lesson, a link to each question, worksheets", icon=":material/school:"):
        address = st.context.url or ""
        table = [f"| {' | '.join(row)} |" for row in rows(address)]
        st.markdown("\n".join(["| minutes | vote and reveal | then do |", "|---|---|---|", *table]))
        st.markdown(
            "**What pupils ask**\n\n" + "\n".join(f"- {question} {answer}" for question, answer in ASKED.items())
        )
        st.markdown("Each link opens a question with its answer hidden. Add `&reveal=yes` to open it answered.")
        if not permissions.beyond_localhost():
            st.markdown(
                "They open on this computer only. For the class: `selfattn --address` and its name or IP address."
            )
        lines = (f"{NUMBERS[slug]}. {plain_question(slug)}\n{link(address, slug)}" for slug in STOPS)
        st.code("\n\n".join(lines), language=None, wrap_lines=True)
        st.markdown(
            "The worked example and the map of *bank* on paper, for home: print them from the browser, as any stop, a page each."
        )
        for name, answers in (("Worksheet", False), ("Answer sheet", True)):
            file = f"self-attention-{name.lower().replace(' ', '-')}.html"
            st.download_button(name, worksheet.page(answers), file, "text/html", on_click="ignore", key=f"class.{name}")


def plain_question(slug: str) -> str:
    """The stop's question with its choices, as plain text."""
    stop = STOPS[slug]
    return f"{stop.question} ({' / '.join(sorted(stop.options))})".replace("*", "").replace("`", "")


def link(address: str, stop: str) -> str:
    """The address of a stop, unanswered."""
    return f"{address.partition('?')[0]}?stop={stop}"
