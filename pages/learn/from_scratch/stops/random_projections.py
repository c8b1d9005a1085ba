"""The first step: three learned matrices make a query, a key and a value of every embedding."""

import streamlit as st

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import random_projections
from selfattn.lessons.random_projections import EMBEDDINGS, SEED, TOKENS

TITLE = "Project: one embedding, three roles"
STEP = "project"
ROW = 1  # the word whose numbers are spelled out


def show() -> None:
    teaching.prose(
        "Each word starts as an **embedding**: a row of numbers. Three matrices, the *projections*, turn it into a "
        "query, a key and a value. So one word can look for one thing, be found by another, and contribute a third.\n\n"
        "In a trained model the projections are learned. Here they are drawn at random from a seed, as in S. Raschka, "
        "*Build a Large Language Model (From Scratch)*, section 3.4, from page 64: the very same numbers come out."
    )
    teaching.formula(r"Q = X W_Q \qquad K = X W_K \qquad V = X W_V")
    with teaching.messages():
        typed = teaching.vectors("projections", dict(zip(TOKENS, EMBEDDINGS)))
        seed = st.number_input("Seed of the projections", 0, 9999, SEED, key="projections.seed", width=200)
        projected = random_projections.project(list(typed.values()), int(seed))
    _figures(projected)


def _figures(projected: random_projections.Projected) -> None:
    embeddings, trace = projected.embeddings, projected.trace
    looks = {"theme": current_theme(), "kind": "signed", "names": ("word", "number")}
    top = float(max(trace.query.abs().max(), trace.key.abs().max(), trace.value.abs().max()))
    numbers = [str(number) for number in range(1, embeddings.shape[1] + 1)]
    with teaching.row():
        chart = heatmap(embeddings, TOKENS, **looks, columns=numbers, cell=34)
        teaching.figure("Embeddings X", chart, f"{len(TOKENS)} words, {embeddings.shape[1]} numbers each.", 300)
        for name, matrix in (("Queries Q", trace.query), ("Keys K", trace.key), ("Values V", trace.value)):
            chart = heatmap(matrix, TOKENS, **looks, columns=("1", "2"), maximum=top, cell=34)
            row = ", ".join(f"{number:.2f}" for number in matrix[ROW].tolist())
            teaching.figure(name, chart, f'"{TOKENS[ROW]}" becomes ({row}).', 250)
    weights, context = (", ".join(f"{n:.4f}" for n in row[ROW].tolist()) for row in (trace.weights, trace.context))
    teaching.prose(
        f'What comes of it, for "{TOKENS[ROW]}": weights {weights}; context ({context}). '
        "The next stops show where these come from."
    )
