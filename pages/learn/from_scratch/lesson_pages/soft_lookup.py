"""Attention as a soft lookup in a filing cabinet."""

from functools import partial

import pandas as pd
import streamlit as st

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import soft_lookup
from selfattn.lessons.soft_lookup import DRAWERS, KEYS, QUERY, SHEETS

TITLE = "A lookup that blends"
STEP = "embeddings"
IDEA = (
    'In "The bank of the river", the word *bank* must find out which bank it is, so it asks the other words. Attention is '
    "that lookup, but a *soft* one: it opens every drawer a little, the better fitting ones more."
)
QUESTION = "*bank* asks a little for money (0.3) and much for water (0.9). Which drawer gets the largest weight?"
OPTIONS = ("rivers, the drawer whose label fits best", "loans, the fullest drawer", "all four the same")
REASON = "The labels decide: rivers 0.3 × 0.1 + 0.9 × 1.0 = 0.93, loans 0.3 × 1.0 + 0.9 × 0.1 = 0.39."
TAKE = "A query is compared with every key; the better the fit, the more of that value ends up in the answer."
TEMPERATURES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def show(picture, numbers) -> None:
    with numbers, teaching.messages():
        st.markdown(
            "| | filing cabinet | library | in a head |\n|---|---|---|---|\n| I look for | sticky note | question | query |\n"
            "| filed under | label | spine | key |\n| hands over | contents | book | value |"
        )
        typed = teaching.vectors("soft-lookup", {"query": QUERY, **dict(zip(DRAWERS, KEYS))})
        st.caption("Both numbers say how much something is about money, about water.")
        temperature = st.select_slider("Temperature T", TEMPERATURES, 1.0, key="soft-lookup.t")
        lookup = soft_lookup.look_up(typed["query"], [typed[name] for name in DRAWERS], temperature=temperature)
    hard, soft = float(lookup.hard), float(lookup.soft)
    scores, weights = lookup.trace.scores[0].tolist(), lookup.trace.weights[0].tolist()
    frame = pd.DataFrame({"token": DRAWERS, "score": scores, "weight": weights, "sheets": SHEETS})
    draw = partial(bar_list, frame, theme=current_theme(), width=150, marked=lookup.best)  # in all three
    charts = {
        "scores": ("Score: how well each key fits", draw("score")),
        "weights": ("Weight: how much of each", draw("weight", domain=(0, 1.2))),
        "context": ("Value: sheets in each", draw("sheets", number=".0f")),
    }
    caption = (
        f'"{DRAWERS[lookup.best]}" fits best. At T = {temperature:g} it gets {weights[lookup.best]:.2f} of 1.00. '
        f"Hard answer {hard:.1f} sheets, all from it; soft answer {soft:.1f}."
    )
    with picture:
        teaching.steps(charts, caption, ("scores", "weights", "context"))
        teaching.prose(
            "T divides the scores. Turn it down and the lookup becomes the hard one; up, and every drawer counts the same. Nudge "
            "a key and the soft answer moves a little: that is why keys can be *learned*."
        )
