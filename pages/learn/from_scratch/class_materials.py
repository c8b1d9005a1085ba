"""For class: the lesson plan, links that open a question unanswered, and a worksheet with its answer sheet."""

from collections.abc import Mapping
from types import ModuleType

import pandas as pd
import streamlit as st

from selfattn.lessons import worksheet

PLAN = (  # minutes, page, what to do
    ("0 to 5", "A word in two sentences",
     "Guess first: which word would change “bank” most? Then hide it and watch the curve: it begins at 1, one vector for both"),
    ("5 to 12", "From scratch, stops 1 to 4",
     "A lookup that blends, project, dot product, length. Which key wins? Predict, then reveal"),
    ("12 to 20", "Stops 5 to 7", "Why divide by the root of d_k, softmax and its budget, the causal mask; worksheet part 1"),
    ("20 to 28", "Stops 9 to 11", "All four steps, their geometry, and what is added; worksheet part 2, compared on screen"),
    ("28 to 35", "Train a tiny one", "Watch the column of position 4 darken, cut the edge, then train on random labels"),
    ("35 to 42", "Pronouns and negation", "Vote first, then reveal"),
    ("42 to 45", "What it cannot tell", "Each pupil picks one counter-example and says it in one sentence"),
)  # fmt: skip


def show(stops: Mapping[str, ModuleType]) -> None:
    """At the foot of the guided path: the lesson plan, a link to every question, the sheets to print."""
    with st.expander("For class: a 45-minute lesson, a link to each question, worksheets", icon=":material/school:"):
        st.table(pd.DataFrame(PLAN, columns=["minutes", "page", "what to do"]).set_index("minutes"))
        st.markdown("Each link opens a question with its answer hidden. Add `&reveal=yes` to open it answered.")
        questions = [(stop.QUESTION.replace("*", ""), link(st.context.url or "", slug)) for slug, stop in stops.items()]
        st.dataframe(pd.DataFrame(questions, columns=["question", "link"]), hide_index=True)
        st.markdown("The worked example and the map of *bank* on paper: print them from the browser.")
        for name, answers in (("Worksheet", False), ("Answer sheet", True)):
            file = f"self-attention-{name.lower().replace(' ', '-')}.html"
            st.download_button(name, worksheet.page(answers), file, "text/html", on_click="ignore", key=f"class.{name}")


def link(address: str, stop: str) -> str:
    """The address of a stop on this server."""
    return f"{address.partition('?')[0]}?stop={stop}"
