"""Attention as a soft lookup in a filing cabinet."""

import pandas as pd
import streamlit as st

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import soft_lookup
from selfattn.lessons.soft_lookup import DRAWERS, KEYS, QUERY, SHEETS

TITLE = "A lookup that blends"
STEP = "idea"
TEMPERATURES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def show() -> None:
    teaching.prose(
        "Picture a filing cabinet. You come with a **query**: what you look for. Each drawer is filed under a **key**. "
        "In it lies a **value**: what it hands over.\n\n"
        "A *hard* lookup opens the one drawer that fits best. A *soft* lookup opens all of them a little: the better "
        "the key fits the query, the more of that value ends up in the answer. Attention is a soft lookup. "
        "Here both numbers of a query or key say how much something is about *(money, water)*."
    )
    teaching.formula(
        r"\text{answer} = \sum_i w_i\,v_i \qquad w = \mathrm{softmax}(\text{query}\cdot\text{key}_i\,/\,T)"
    )
    with teaching.messages():
        typed = teaching.vectors("soft-lookup", {"query": QUERY, **dict(zip(DRAWERS, KEYS))})
        temperature = st.select_slider("Temperature T", TEMPERATURES, 1.0, key="soft-lookup.t", width=420)
        keys = [typed[name] for name in DRAWERS]
        lookup = soft_lookup.look_up(typed["query"], keys, temperature=temperature)
    _figures(lookup)


def _figures(lookup: soft_lookup.SoftLookup) -> None:
    theme, hard, soft = current_theme(), float(lookup.hard), float(lookup.soft)
    scores, weights = lookup.trace.scores[0].tolist(), lookup.trace.weights[0].tolist()
    frame = pd.DataFrame({"token": DRAWERS, "score": scores, "weight": weights, "sheets": SHEETS})
    with teaching.row():  # the drawer that fits best is marked in all three
        chart = bar_list(frame, "score", theme, marked=lookup.best)
        teaching.figure("Score: how well each key fits", chart, f'"{DRAWERS[lookup.best]}" fits best.')
        chart = bar_list(frame, "weight", theme, domain=(0, 1.2), marked=lookup.best)
        caption = f"At T = {lookup.temperature:g} the best drawer gets {weights[lookup.best]:.2f} of 1.00."
        teaching.figure("Weight: how much of each drawer", chart, caption)
        chart = bar_list(frame, "sheets", theme, number=".0f", marked=lookup.best)
        caption = f"Hard: {hard:.0f} sheets, all from one drawer. Soft: {soft:.1f}."
        teaching.figure("Value: sheets in each drawer", chart, caption)
    teaching.prose(
        f"**Hard answer {hard:.1f}, soft answer {soft:.1f}.** Turn the temperature down and "
        "the soft lookup becomes the hard one; turn it up and every drawer counts the same. The soft one has a great "
        "advantage: nudge a key and the answer moves a little, so the keys can be *learned*."
    )
