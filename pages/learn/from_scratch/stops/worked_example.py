"""S7: the worked example, all four steps."""

import streamlit as st

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import worked_example

TITLE = "Mix: the worked example"
STEP = "mix"


def show() -> None:
    parts.prose(
        'All four steps on three words. In "The animal didn\'t cross the street because it was too tired", the word '
        '"it" asks three others. **Project**: here are its query, their keys and their values. **Score**: query · key. '
        "**Normalise**: divide by √d, softmax. **Mix**: add up the values, each times its weight. "
        'The sum is the *context*: what "it" takes home.'
    )
    parts.formula(r"\text{context} = \sum_i w_i v_i")
    with parts.messages():
        found = _typed()
    steps, theme = worked_example.steps(found), current_theme()
    root = 1 / found.scale
    context = ", ".join(f"{number:.2f}" for number in found.context[0].tolist())
    best = steps.loc[steps.weight.idxmax()]
    with parts.row():
        for column, title, number, reading in (
            ("score", "Score: q · k", "~g", " · ".join(f"{s:g}" for s in steps.score)),
            ("scaled", f"Scaled: divided by √d = {root:.2f}", ".2f", "Smaller, in the same order."),
            ("weight", "Weight: softmax", ".0%", f'"{best.token}" gets {best.weight:.0%}.'),
        ):
            with parts.figure(title, 300):
                show_chart(charts.bars(steps, column, theme, number=number, width=200), reading, width="content")
    terms = "  +  ".join(
        f"{weight:.2f} × [{', '.join(f'{number:g}' for number in value.tolist())}]"
        for weight, value in zip(steps.weight, found.value)
    )
    parts.prose("**Mix**")
    st.text(f"{terms}  =  [{context}]")
    parts.prose(
        "The source prints queries, keys and all results, but not the values; those here are ours and land on its "
        "context. Change a number and watch every step follow."
    )


def _typed():
    tokens = worked_example.TOKENS
    published = {f'query of "{worked_example.ASKING}"': worked_example.QUERY}
    published |= {f'key of "{token}"': key for token, key in zip(tokens, worked_example.KEYS)}
    published |= {f'value of "{token}"': value for token, value in zip(tokens, worked_example.VALUES)}
    query, *rest = parts.vectors("worked-example", published).values()
    return worked_example.compute(query, rest[: len(tokens)], rest[len(tokens) :])
