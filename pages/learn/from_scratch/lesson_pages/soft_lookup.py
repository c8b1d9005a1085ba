"""Attention as a soft lookup in a filing cabinet."""

from functools import partial

import pandas as pd
import streamlit as st

from selfattn.charts.bars import bar_list
from selfattn.charts.lesson_steps import kernel_code
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import soft_lookup
from selfattn.lessons.soft_lookup import DRAWERS, KEYS, QUERY

TITLE = "A lookup that blends"
STEP = "embeddings"
IDEA = (
    "In *The bank of the river*, *bank* must find out which bank it is, so it asks the other words. That is a lookup, but a "
    "*soft* one: it opens every drawer a little, the better fitting ones more."
)
QUESTION = "All labels are made ten times as long, [0, 3] becomes [0, 30], and so on. What becomes of the soft lookup?"
OPTIONS = ("nearly a hard one: river alone", "it stays as it is", "it becomes more even")
REASON = "Fits are label times question: river's 3 and bank's 2 become 30 and 20, and soft turns hard as they part."
TAKE = "A query is compared with every key; the better the fit, the more of that value ends up in the answer."
TEMPERATURES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
LONGER = 10.0


def show(picture, numbers) -> None:
    with numbers, teaching.messages():
        st.markdown(
            "| | filing cabinet | library | in a head |\n|---|---|---|---|\n| I look for | sticky note | question | query |\n"
            "| filed under | label | spine | key |\n| hands over | contents | book | value |"
        )
        names = [f"{place} {word}" for place, word in enumerate(DRAWERS, start=1)]
        typed = teaching.vectors("soft-lookup", {"query": QUERY, **dict(zip(names, KEYS))}, 110)
        st.text("Both numbers: about money, about water.")
        temperature = st.select_slider("Temperature T", TEMPERATURES, 1.0, key="soft-lookup.t")
        keys = [typed[name] for name in names]
        soft = soft_lookup.look_up(typed["query"], keys, temperature)
        longer = soft_lookup.look_up(typed["query"], [[LONGER * n for n in key] for key in keys], temperature)
    weights = soft.trace.weights[0].tolist()
    frame = pd.DataFrame(
        {
            "token": DRAWERS,
            "score": soft.trace.scores[0].tolist(),
            "hard": [float(place == soft.best) for place in range(len(DRAWERS))],
            "weight": weights,
            "longer": longer.trace.weights[0].tolist(),
        }
    )
    draw = partial(bar_list, frame, theme=current_theme(), width=104, marked=soft.best)  # in all four
    charts = {
        "scores": ("How well each fits", draw("score")),
        "hard": ("Hard lookup", draw("hard", domain=(0, 1.4))),
        "weights": (f"Soft, T = {temperature:g}", draw("weight", domain=(0, 1.4))),
        "weights longer": ("Soft, labels × 10", draw("longer", domain=(0, 1.4))),
    }
    code = kernel_code("scores") | {"hard": "hard = value[scores.argmax()]   # a database's answer"}
    caption = (
        f'"{DRAWERS[soft.best]}" fits best. Soft it gets {weights[soft.best]:.2f} of 1, with labels ten times as long '
        f"{longer.trace.weights[0, soft.best]:.2f}. About water, hard hands over {soft.hard:.1f}, soft {soft.soft:.1f}."
    )
    with picture:
        teaching.steps(charts, caption, code | kernel_code("weights", "context"))
        teaching.prose(
            "T divides the fits: down, and the lookup becomes hard; up, and every drawer counts the same. Nudge a label and the "
            "soft answer moves a little: that is why labels can be *learned*."
        )
