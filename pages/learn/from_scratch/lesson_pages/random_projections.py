"""The first step: three matrices make a query, a key and a value of every embedding; the thread's, or drawn at random.

Source: S. Raschka, "Build a Large Language Model (From Scratch)", section 3.4: six made-up embeddings of "Your journey
starts with one step", projections from `torch.rand(3, 2)` after `torch.manual_seed(123)`, figures for token 2.
"""

import streamlit as st
import torch
from torch import Tensor

from selfattn.dashboard import teaching
from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import one_head_by_hand as thread
from selfattn.lessons.terms import TERMS
from selfattn.numbers import plain, vector
from selfattn.views.stage import Column, Scene

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
ROLES = ("query", "key", "value")
ROW = 1  # the word whose numbers are spelled out
TOKENS = ("Your", "journey", "starts", "with", "one", "step")
EMBEDDINGS = torch.tensor(
    ((0.43, 0.15, 0.89), (0.55, 0.87, 0.66), (0.57, 0.85, 0.64), (0.22, 0.58, 0.33), (0.77, 0.25, 0.10), (0.05, 0.80, 0.55))
)  # fmt: skip
SEED = 123


def draw(answered: bool) -> Scene:
    raschka = answered and teaching.example("projections", {"bank": "bank", "raschka": "Raschka's six words"}) != "bank"
    if not raschka:
        typed = thread.embeddings_of("river")
        if answered:
            with st.expander("Your own embeddings"):
                typed = teaching.vectors("projections", typed, 110)
        made = thread.compute("river", typed)
        return _scene(made.words, made.embeddings, [thread.W_QUERY, thread.W_KEY, thread.W_VALUE], made.trace)
    with st.expander("Your own embeddings and matrices"):
        typed = teaching.vectors("projections", dict(zip(TOKENS, EMBEDDINGS)), 150)
        seed = st.number_input("Seed of the projections", 0, 9999, SEED, key="projections.seed")
    teaching.prose(
        "S. Raschka, *Build a Large Language Model (From Scratch)*, section 3.4, from page 64: the matrices are drawn "
        "at random there, and the very same numbers come out here."
    )
    embeddings = torch.stack(list(typed.values())).float()  # in float32, as published
    return _scene(TOKENS, embeddings, *project(embeddings, int(seed)))


def project(embeddings: Tensor = EMBEDDINGS, seed: int = SEED) -> tuple[Tensor, AttentionTrace]:
    """The three matrices (3, 3, 2), drawn at random, and the attention that follows of embeddings (n, 3) in float32."""
    matrices = torch.rand(3, 3, 2, generator=torch.Generator().manual_seed(seed))
    return matrices, attend(*(embeddings @ matrices))


def _scene(words, embeddings: Tensor, matrices, trace: AttentionTrace) -> Scene:
    (n, d_model), d_k = embeddings.shape, trace.query.shape[1]
    made = {role: getattr(trace, role) for role in ROLES}
    columns = [Column("embedding", "X", embeddings, shape=f"{n} × {d_model}")]
    for (role, rows), matrix in zip(made.items(), matrices):
        name = role[0].upper()
        tips = [[product(x, w, value) for w, value in zip(matrix.T, row)] for x, row in zip(embeddings, rows)]
        above = f"W_{name} {d_model} × {d_k}", matrix
        columns.append(Column(role, f"{name} = X W_{name}", rows, None, f"{n} × {d_k}", above, tips=tips, asked=True))
    lines = [
        f"{word}, first number of its query: {product(x, matrices[0][:, 0], row[0])}"
        for word, x, row in zip(words, embeddings, trace.query)
    ]
    spelled = [
        f"the {role} {vector(rows[ROW], None if bool((rows == rows.round()).all()) else 2)}"
        for role, rows in made.items()
    ]
    return Scene(
        f'"{words[ROW]}" becomes {spelled[0]}, {spelled[1]} and {spelled[2]}.', words, tuple(columns), asks=ROW, lit=ROW,
        lines=lines,
        note=f"n = {n} words, d_model = {d_model} numbers each, d_k = {d_k} in a query.",
    )  # fmt: skip


def product(row: Tensor, column: Tensor, result: Tensor) -> str:
    """A number of X W, term by term."""
    terms = " + ".join(f"({plain(x)} × {plain(w)})" for x, w in zip(row.tolist(), column.tolist()))
    return f"{terms} = {plain(float(result))}"


def show_details() -> None:
    """The shapes of every step, beneath the picture."""
    with st.expander("Details: the shape of every step"):
        st.markdown(
            "| step | shape | here |\n|---|---|---|\n| X | n × d_model | 5 × 3 |\n| W_Q, W_K, W_V | d_model × d_k | 3 × 2 |\n"
            "| Q, K, V | n × d_k | 5 × 2 |\n| scores Q Kᵀ | n × n | 5 × 5 |\n| weights | n × n | 5 × 5 |\n"
            "| context | n × d_k | 5 × 2 |"
        )
