"""The first step: three matrices make a query, a key and a value of every embedding."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn.captions.terms import TERMS
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import one_head_by_hand, random_projections
from selfattn.numbers import plain, vector

TITLE = "Project: one embedding, three roles"
STEP = "Q, K, V"
IDEA = (
    f"{TERMS['embedding']} Three learned matrices turn it into a query, a key and a value, so that one word can look for one "
    "thing, be found by another, and hand over a third."
)
QUESTION = "The embedding has 3 numbers, and a query shall have 2. What shape has the matrix between them?"
OPTIONS = ("3 × 2: three rows, two columns", "2 × 2", "5 × 3, for five words")
REASON = "Each of the 3 numbers needs a row of the matrix, and each of the 2 that come out a column."
TAKE = "Q = X W_Q, K = X W_K, V = X W_V: one embedding, three roles, three matrices. Only the matrices are learned."
ROLES = {"query": "W_Q", "key": "W_K", "value": "W_V"}
ROW = 1  # the word whose numbers are spelled out


def show(picture, numbers) -> None:
    with numbers, teaching.messages():
        which = teaching.example("projections", {"bank": "bank", "raschka": "Raschka's six words"})
        if which == "bank":
            words: Sequence[str] = one_head_by_hand.WORDS["river"]
            published = {word.lower(): one_head_by_hand.EMBEDDINGS[word.lower()] for word in words}
            made = one_head_by_hand.compute("river", teaching.vectors("projections", published, 110))
            embeddings, trace = made.embeddings, made.trace
            matrices = dict(
                zip(
                    ROLES,
                    map(
                        one_head_by_hand.matrix,
                        (one_head_by_hand.W_QUERY, one_head_by_hand.W_KEY, one_head_by_hand.W_VALUE),
                    ),
                )
            )
            columns = ("money", "water", "glue")
        else:
            words, columns = random_projections.TOKENS, ("1", "2", "3")
            typed = teaching.vectors("projections", dict(zip(words, random_projections.EMBEDDINGS)), 150)
            seed = st.number_input("Seed of the projections", 0, 9999, random_projections.SEED, key="projections.seed")
            drawn = random_projections.project(list(typed.values()), int(seed))
            embeddings, trace = drawn.embeddings, drawn.trace
            matrices = dict(zip(ROLES, (drawn.w_query, drawn.w_key, drawn.w_value)))
            st.caption(
                "S. Raschka, *Build a Large Language Model (From Scratch)*, section 3.4, from page 64: the matrices are drawn "
                "at random there, and the very same numbers come out here."
            )
        st.dataframe(_shapes(len(words), embeddings.shape[1], trace.query.shape[1]), hide_index=True)
    with picture:
        role = st.radio("Make the", list(ROLES), key="projections.role", horizontal=True)
        _product(role, words, columns, embeddings, matrices[role], getattr(trace, role))


def _product(role: str, words, columns, embeddings: Tensor, matrix: Tensor, made: Tensor) -> None:
    """X, the matrix and what comes of them, and one number of it term by term."""
    name, numbers = ROLES[role], [str(n + 1) for n in range(made.shape[1])]
    draw = partial(heatmap, theme=current_theme(), kind="signed", cell=46)
    charts = {
        role: ("X: the embeddings", draw(embeddings, words, columns=columns, names=("word", "number"))),
        f"{role} matrix": (name, draw(matrix, columns, columns=numbers, names=("of X", "to"))),
        f"{role} made": (f"X {name}: a {role}", draw(made, words, columns=numbers, names=("word", role))),
    }
    n, (d_model, d_k) = len(words), matrix.shape
    code = {
        each: f"{each} = embeddings @ w_{each}   # ({n}, {d_model}) @ ({d_model}, {d_k}) -> ({n}, {d_k})"
        for each in ROLES
    }
    terms = " + ".join(f"({plain(x)} × {plain(w)})" for x, w in zip(embeddings[ROW].tolist(), matrix[:, 0].tolist()))
    caption = (
        f'"{words[ROW]}" becomes the {role} {vector(made[ROW], 2)}. Its first number, term by term: '
        f"{terms} = {plain(float(made[ROW, 0]))}."
    )
    teaching.steps(charts, caption, code)


def _shapes(n: int, d_model: int, d_k: int) -> pd.DataFrame:
    """n words, d_model numbers a word, d_k numbers a query: the shape of every step."""
    rows = {
        "X": (n, d_model), "W_Q, W_K, W_V": (d_model, d_k), "Q, K, V": (n, d_k), "scores Q Kᵀ": (n, n), "weights": (n, n),
        "context": (n, d_k),
    }  # fmt: skip
    shapes = [f"{a} × {b}" for a, b in rows.values()]
    return pd.DataFrame({"step": list(rows), f"shape (n = {n}, d_model = {d_model}, d_k = {d_k})": shapes})
