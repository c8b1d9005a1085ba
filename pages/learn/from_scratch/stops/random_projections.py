"""The first step: three learned matrices make a query, a key and a value of every embedding."""

import streamlit as st

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import random_projections as projections

TITLE = "Project: one embedding, three roles"
STEP = "project"


def show() -> None:
    parts.prose(
        "Each word starts as an **embedding**: a row of numbers. Three matrices, the *projections*, turn it into a "
        "query, a key and a value. So one word can look for one thing, be found by another, and hand over a third.\n\n"
        "In a trained model the projections are learned. Here they are drawn at random from a seed, as in Raschka's "
        "book: the very same numbers come out."
    )
    parts.formula(r"Q = X W_Q \qquad K = X W_K \qquad V = X W_V")
    with parts.messages():
        published = dict(zip(projections.TOKENS, projections.EMBEDDINGS))
        typed = parts.vectors("projections", published)
        seed = st.number_input("Seed of the projections", 0, 9999, projections.SEED, key="projections.seed", width=200)
        found = projections.project(list(typed.values()), int(seed))
    _figures(found)


def _figures(found: projections.Projected) -> None:
    theme = current_theme()
    tokens, trace = projections.TOKENS, found.trace
    top = float(max(trace.query.abs().max(), trace.key.abs().max(), trace.value.abs().max()))
    with parts.row():
        with parts.figure("Embeddings X", 300):
            show_chart(
                charts.heatmap(found.embeddings, tokens, ("1", "2", "3"), theme, signed=True, names=("word", "number")),
                f"{len(tokens)} words, {found.embeddings.shape[1]} numbers each.",
                width="content",
            )
        for name, matrix in (("Queries Q", trace.query), ("Keys K", trace.key), ("Values V", trace.value)):
            with parts.figure(name, 250):
                chart = charts.heatmap(matrix, tokens, ("1", "2"), theme, True, highest=top, names=("word", "number"))
                row = ", ".join(f"{number:.2f}" for number in matrix[1].tolist())
                show_chart(chart, f'"{tokens[1]}" becomes ({row}).', width="content")
    weights = ", ".join(f"{weight:.4f}" for weight in trace.weights[1].tolist())
    context = ", ".join(f"{number:.4f}" for number in trace.context[1].tolist())
    parts.prose(
        f'What comes of it, for "{tokens[1]}": weights {weights}; context ({context}). '
        "The next stops show where these come from."
    )
