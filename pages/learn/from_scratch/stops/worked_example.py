"""The worked example, all four steps."""

import streamlit as st

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import worked_example
from selfattn.lessons.worked_example import ASKING, KEYS, QUERY, TOKENS, VALUES
from selfattn.numbers import SHARE, share

TITLE = "Mix: the worked example"
STEP = "mix"


def show() -> None:
    teaching.prose(
        'All four steps on three words. In "The animal didn\'t cross the street because it was too tired", the word '
        '"it" asks three others. **Project**: here are its query, their keys and their values. **Score**: query · key. '
        "**Normalise**: divide by √d, softmax. **Mix**: add up the values, each times its weight. "
        'The sum is the *context*: what "it" takes home.'
    )
    teaching.formula(r"\text{context} = \sum_i w_i v_i")
    published = {f'query of "{ASKING}"': QUERY}
    published |= {f'key of "{token}"': key for token, key in zip(TOKENS, KEYS)}
    published |= {f'value of "{token}"': value for token, value in zip(TOKENS, VALUES)}
    with teaching.messages():
        query, *rest = teaching.vectors("worked-example", published).values()
        trace = worked_example.compute(query, rest[: len(TOKENS)], rest[len(TOKENS) :])
    steps = worked_example.steps(trace)
    best = steps.loc[steps.weight.idxmax()]
    with teaching.row():
        for column, title, number, caption in (
            ("score", "Score: q · k", "~g", ", ".join(f"{s:g}" for s in steps.score) + "."),
            ("scaled", f"Scaled: divided by √d = {1 / trace.scale:.2f}", ".2f", "Smaller, in the same order."),
            ("weight", "Weight: softmax", SHARE, f'"{best.token}" gets {share(best.weight)}.'),
        ):
            chart = bar_list(steps, column, current_theme(), number=number, width=200)
            teaching.figure(title, chart, caption, 300)
    terms = "  +  ".join(
        f"{weight:.2f} × [{', '.join(f'{number:g}' for number in value.tolist())}]"
        for weight, value in zip(steps.weight, trace.value)
    )
    teaching.prose("**Mix**")
    st.text(f"{terms}  =  [{', '.join(f'{number:.2f}' for number in trace.context[0].tolist())}]")
    teaching.prose(
        "The source prints queries, keys and all results, but not the values; those here are ours and land on its "
        "context. Change a number and watch every step follow."
    )
