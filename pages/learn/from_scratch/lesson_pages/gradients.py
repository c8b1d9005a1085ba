"""Draw the lesson page about the gradient of an attention weight.

Source: Rumelhart, Hinton and Williams 1986 (back-propagation).
"""

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.charts.curves import lines
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.kernel import attend
from selfattn.lessons.worked_example import KEYS, QUERY, TOKENS
from selfattn.views.lesson import drawing


def learned(picture, answered: bool) -> None:
    token = st.radio("Make “it” attend to", TOKENS, index=1, key="learned.target", horizontal=True)
    n_steps = st.slider("Steps of learning", 0, 60, 20, key="learned.steps")
    rate = st.slider("Learning rate", 0.0, 1.0, 0.1, 0.05, key="learned.rate")
    target = TOKENS.index(token)
    matrix, history = learn(target, n_steps, rate)
    weight = history[history["token"] == token]["weight"]
    rows = ("query of it", *(f"key of {key}" for key in TOKENS))
    looks = {"columns": ("1", "2"), "kind": "signed", "names": ("vector", "number"), "cell": 56, "numbers": "+.3f"}
    begun = history.assign(weight=history["weight"].where(answered | (history["step"] == 0)))
    charts = {
        f"Gradient of the weight on “{token}”": drawing(heatmap, teaching.asked(matrix, answered), rows, **looks),
        "Weights, step by step": drawing(
            lines, begun, "step", "weight", series="token", domain=(0, 1), size=(330, 230)
        ),
    }
    finding = (
        f'After {n_steps} steps, the weight of "{token}" is {weight.iloc[-1]:.2f} instead of {weight.iloc[0]:.2f}.'
    )
    with picture:
        note = "To raise this weight, training raises blue numbers (positive gradient) and lowers red ones (negative gradient)."
        teaching.steps("gradient", finding, charts, note=note, answered=answered)
        if answered:
            teaching.formula(r"\frac{\partial w_i}{\partial q} = \frac{w_i}{\sqrt{d_k}}\Big(k_i - \sum_j w_j k_j\Big)")


def learn(target: int, n_steps: int, rate: float) -> tuple[Tensor, pd.DataFrame]:
    """Move query and keys along the gradient of log(weight of key `target`).

    Returns the gradient of the weight itself at step 0, (1 + n_keys, d_head), with row 0 for the query,
    and a table with the columns step, token, weight.
    """
    vectors = torch.cat([QUERY[None], KEYS])
    gradients, rows = [], []
    for step in range(n_steps + 1):
        vectors = vectors.detach().requires_grad_()
        weights = attend(vectors[:1], vectors[1:], vectors[1:]).weights[0]
        gradients += torch.autograd.grad(weights[target], vectors)
        rows += [(step, token, weight) for token, weight in zip(TOKENS, weights.tolist())]
        # d log(weight) = d weight / weight; log(0) has no gradient.
        vectors = vectors + rate * gradients[-1] / weights[target] if weights[target] > 0 else vectors
    return gradients[0], pd.DataFrame(rows, columns=["step", "token", "weight"])
