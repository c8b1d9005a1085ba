"""Show the materials for teachers."""

import streamlit as st

from pages.learn.from_scratch import worksheet
from pages.learn.from_scratch.lesson_pages import CORE, NUMBERS, STOPS
from selfattn.dashboard import permissions

MINUTES = 4  # per lesson page: two to read at most 250 words, two to vote and do the exercise
LAST = "Open *Next: guess which word*, and let the students type their own sentences. The worksheet is homework"
ASKED = {  # a student's question, and the answer
    "Hiding *The* moves *bank* 10 % of the way to its other sense, and hiding *loan* 12 %. Why nearly the same?": "Both moves "
    "may be chance, because they are below the noise level of 21 %. Over many sentences, moves this small often lead away "
    "from the other sense. No single word of this sentence decides the sense. Hiding *approved* and *loan* "
    "together moves *bank* 29 %.",
    "Why does *bank* attend to itself?": "The key of *bank* also fits the query of *bank*. In the hand-made head, this adds "
    "nothing to the context, because the value of *bank* is [0, 0].",
    "Who wrote the numbers?": "We wrote the numbers of the hand-made head. The real encoder learned its numbers in training.",
}


def rows(address: str = "") -> list[tuple[str, str, str]]:
    """Return the rows of the lesson plan: minutes, title, exercise."""
    listed = []
    for begin, slug in zip(range(0, 100, MINUTES), CORE):
        name = f"{NUMBERS[slug]}. {STOPS[slug].title}"
        linked = f"[{name}]({link(address, slug)})" if address else name
        listed.append((f"{begin} to {begin + MINUTES}", linked, STOPS[slug].do))
    end = MINUTES * len(CORE)
    return [*listed, (f"{end} to {end + 5}", "A word in two sentences", LAST)]


def show() -> None:
    with st.expander("For class: a 45-minute lesson, a link to each question, worksheets", icon=":material/school:"):
        address = st.context.url or ""
        table = [f"| {' | '.join(row)} |" for row in rows(address)]
        st.markdown(
            "\n".join(["| minutes | vote on the question, then show its answer | exercise |", "|---|---|---|", *table])
        )
        st.markdown(
            "**Students' questions**\n\n" + "\n".join(f"- {question} {answer}" for question, answer in ASKED.items())
        )
        st.markdown("Each link opens a question without its answer. Add `&reveal=yes` to the link to show the answer.")
        if not permissions.beyond_localhost():
            st.markdown(
                "The links work on this computer only. To share them with the class, start `selfattn --address` with "
                "this computer's name or IP address."
            )
        lines = (f"{NUMBERS[slug]}. {plain_question(slug)}\n{link(address, slug)}" for slug in STOPS)
        st.code("\n\n".join(lines), language=None, wrap_lines=True)
        st.markdown(
            "The worksheet is homework on paper: the worked example and the attention map of *bank*. You can also print any "
            "page of this lesson from the browser; each page fits on one sheet."
        )
        for name, answers in (("Worksheet", False), ("Answer sheet", True)):
            file = f"self-attention-{name.lower().replace(' ', '-')}.html"
            st.download_button(name, worksheet.page(answers), file, "text/html", on_click="ignore", key=f"class.{name}")


def plain_question(slug: str) -> str:
    stop = STOPS[slug]
    return f"{stop.question} ({' / '.join(sorted(stop.options))})".replace("*", "").replace("`", "")


def link(address: str, stop: str) -> str:
    return f"{address.partition('?')[0]}?stop={stop}"
