"""S18: learned, not ruled."""

import streamlit as st
import torch

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import gradients as learned
from selfattn.lessons import worked_example

TITLE = "Learned, not ruled"
STEP = "consequences"


def show() -> None:
    tokens = worked_example.TOKENS
    parts.prose(
        'No rule says that "it" should look at "animal". Each step can be differentiated, so training can ask: which '
        "way must I push this number so that *that* weight grows? The answer is the **gradient**. In a real model it "
        "flows on into the projections, and nothing else ever sets the weights."
    )
    parts.formula(r"\frac{\partial w_i}{\partial q} = \frac{w_i}{\sqrt d}\Big(k_i - \sum_j w_j k_j\Big)")
    with st.container(horizontal=True):
        wanted = st.radio("Make “it” look at", tokens, index=1, key="learned.target", horizontal=True)
        n_steps = st.slider("Steps of learning", 0, 60, 20, key="learned.steps", width=260)
        rate = st.slider("Learning rate", 0.0, 1.0, 0.1, 0.05, key="learned.rate", width=260)
    target = tokens.index(wanted)
    _figures(target, n_steps, rate)


def _figures(target: int, n_steps: int, rate: float) -> None:
    tokens, theme = worked_example.TOKENS, current_theme()
    found = learned.weight_gradient(target)
    history = learned.learn(target, n_steps, rate)
    wanted = history[history["position"] == target]["weight"]
    with parts.row():
        with parts.figure(f"Gradient of the weight on “{tokens[target]}”", 360):
            matrix = torch.cat([found.query[None], found.keys])
            rows = ("query of it", *(f"key of {token}" for token in tokens))
            chart = charts.heatmap(
                matrix, rows, ("1", "2"), theme, signed=True, names=("vector", "number"), cell=56, number="+.3f"
            )
            show_chart(
                chart, f"The weight is {found.weight:.3f}; blue numbers should grow, red ones shrink.", width="content"
            )
        with parts.figure("Following it, step by step", 460):
            chart = charts.lines(
                history, "step", "weight", theme, "token", titles=("step", "weight"), domain=(0, 1), size=(380, 230)
            )
            reading = (
                f'After {n_steps} steps "{tokens[target]}" has {wanted.iloc[-1]:.2f} instead of {wanted.iloc[0]:.2f}.'
            )
            show_chart(chart, reading, width="content")
