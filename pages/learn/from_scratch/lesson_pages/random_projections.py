"""The first step: three matrices make a query, a key and a value of every embedding; the thread's, or drawn at random.

Source: S. Raschka, "Build a Large Language Model (From Scratch)", section 3.4: six made-up embeddings of "Your journey
starts with one step", projections from `torch.rand(3, 2)` after `torch.manual_seed(123)`, figures for token 2.
"""

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import one_head_by_hand as thread
from selfattn.lessons.terms import TERMS
from selfattn.numbers import plain, vector
from selfattn.views.lesson import drawing

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
TOKENS = ("Your", "journey", "starts", "with", "one", "step")
EMBEDDINGS = torch.tensor(
    ((0.43, 0.15, 0.89), (0.55, 0.87, 0.66), (0.57, 0.85, 0.64), (0.22, 0.58, 0.33), (0.77, 0.25, 0.10), (0.05, 0.80, 0.55))
)  # fmt: skip
SEED = 123


def show(picture) -> None:
    which = teaching.example("projections", {"bank": "bank", "raschka": "Raschka's six words"})
    if which == "bank":
        typed = teaching.vectors("projections", thread.embeddings_of("river"), 110)
        made = thread.compute("river", typed)
        words, embeddings, trace, columns = made.words, made.embeddings, made.trace, thread.ABOUT
        matrices = [thread.W_QUERY, thread.W_KEY, thread.W_VALUE]
    else:
        words, columns = TOKENS, ("1", "2", "3")
        typed = teaching.vectors("projections", dict(zip(words, EMBEDDINGS)), 150)
        seed = st.number_input("Seed of the projections", 0, 9999, SEED, key="projections.seed")
        embeddings = torch.stack(list(typed.values())).float()  # in float32, as published
        matrices, trace = project(embeddings, int(seed))
        teaching.prose(
            "S. Raschka, *Build a Large Language Model (From Scratch)*, section 3.4, from page 64: the matrices are drawn "
            "at random there, and the very same numbers come out here."
        )
    st.dataframe(_shapes(len(words), embeddings.shape[1], trace.query.shape[1]), hide_index=True)
    with picture:
        role = st.radio("Make the", list(ROLES), key="projections.role", horizontal=True)
        matrix = dict(zip(ROLES, matrices))[role]
        _product(role, words, columns, embeddings, matrix, getattr(trace, role))


def project(embeddings: Tensor = EMBEDDINGS, seed: int = SEED) -> tuple[Tensor, AttentionTrace]:
    """The three matrices (3, 3, 2), drawn at random, and the attention that follows of embeddings (n, 3) in float32."""
    matrices = torch.rand(3, 3, 2, generator=torch.Generator().manual_seed(seed))
    return matrices, attend(*(embeddings @ matrices))


def _product(role: str, words, columns, embeddings: Tensor, matrix: Tensor, made: Tensor) -> None:
    name, numbers = ROLES[role], [str(n + 1) for n in range(made.shape[1])]
    drawn = {
        "X: the embeddings": (embeddings, words, columns, ("word", "number")),
        name: (matrix, columns, numbers, ("of X", "to")),
        f"X {name}: a {role}": (made, words, numbers, ("word", role)),
    }
    charts = {
        title: drawing(heatmap, values, rows, columns=across, names=names, kind="signed", cell=46)
        for title, (values, rows, across, names) in drawn.items()
    }
    n, (d_model, d_k) = len(words), matrix.shape
    shapes = f"# ({n}, {d_model}) @ ({d_model}, {d_k}) -> ({n}, {d_k})"
    code = (f"{each} = embeddings @ w_{each}   {shapes}" for each in ROLES)
    terms = " + ".join(f"({plain(x)} × {plain(w)})" for x, w in zip(embeddings[ROW].tolist(), matrix[:, 0].tolist()))
    finding = f'"{words[ROW]}" becomes the {role} {vector(made[ROW], 2)}.'
    teaching.steps(role, finding, charts, *code, note=f"Its first number: {terms} = {plain(float(made[ROW, 0]))}.")


def _shapes(n: int, d_model: int, d_k: int) -> pd.DataFrame:
    shapes = {
        "X": f"{n} × {d_model}", "W_Q, W_K, W_V": f"{d_model} × {d_k}", "Q, K, V": f"{n} × {d_k}",
        "scores Q Kᵀ": f"{n} × {n}", "weights": f"{n} × {n}", "context": f"{n} × {d_k}",
    }  # fmt: skip
    return pd.DataFrame(shapes.items(), columns=["step", f"shape (n = {n}, d_model = {d_model}, d_k = {d_k})"])
