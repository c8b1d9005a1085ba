"""Learned, not ruled."""

import streamlit as st
import torch

from selfattn.charts.curves import lines
from selfattn.charts.heatmap import heatmap
from selfattn.charts.lesson_steps import kernel_code
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import gradients
from selfattn.lessons.worked_example import TOKENS

TITLE = "Learned, not ruled"
STEP = "a real head"
IDEA = (
    'No rule says that "bank" or "it" should attend to anything. Each step can be differentiated, so training can ask which way '
    "to push a number so that *that* weight grows: the answer is the **gradient**."
)
QUESTION = "Training wants *it* to attend to *street*. What does it change?"
OPTIONS = ("every number a little, along the gradient", "a rule for *it*", "only the key of *street*")
LEARN = {
    "gradient": "gradient = torch.autograd.grad(weights[0, target], (query, key))",
    "query": "query = query + rate * gradient[0] / weights[0, target]   # and so the keys",
}
REASON = "A weight depends on the query and, by the sum it is divided by, on every key: each number has a slope."
TAKE = "Attention is learned: its weights follow from projections, and those from nothing but gradients."


def show(picture, numbers) -> None:
    with numbers:
        token = st.radio("Make “it” attend to", TOKENS, index=1, key="learned.target", horizontal=True)
        n_steps = st.slider("Steps of learning", 0, 60, 20, key="learned.steps")
        rate = st.slider("Learning rate", 0.0, 1.0, 0.1, 0.05, key="learned.rate")
    target, theme = TOKENS.index(token), current_theme()
    gradient = gradients.weight_gradient(target)
    history = gradients.learn(target, n_steps, rate)
    weight = history[history["position"] == target]["weight"]
    matrix = torch.cat([gradient.query[None], gradient.keys])
    rows = ("query of it", *(f"key of {key}" for key in TOKENS))
    table = heatmap(
        matrix, rows, theme, columns=("1", "2"), kind="signed", names=("vector", "number"), cell=56, numbers="+.3f"
    )
    curve = lines(history, "step", "weight", theme, "token", domain=(0, 1), size=(330, 230))
    charts = {
        "gradient": (f"Gradient of the weight on “{token}”", table),
        "weights": ("Following it, step by step", curve),
    }
    caption = (
        f"The weight is {gradient.weight:.3f}; blue numbers should grow, red ones shrink. "
        f'After {n_steps} steps "{token}" has {weight.iloc[-1]:.2f} instead of {weight.iloc[0]:.2f}.'
    )
    with picture:
        teaching.steps(charts, caption, kernel_code("weights") | LEARN)
        teaching.formula(r"\frac{\partial w_i}{\partial q} = \frac{w_i}{\sqrt{d_k}}\Big(k_i - \sum_j w_j k_j\Big)")
