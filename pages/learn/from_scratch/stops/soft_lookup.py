"""S2: attention as a soft lookup in a filing cabinet."""

import pandas as pd
import streamlit as st

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import soft_lookup

TITLE = "A lookup that blends"
STEP = "idea"


def show() -> None:
    parts.prose(
        "Picture a filing cabinet. You come with a **query**: what you look for. Each drawer is filed under a **key**. "
        "In it lies a **value**: what it hands over.\n\n"
        "A *hard* lookup opens the one drawer that fits best. A *soft* lookup opens all of them a little: the better "
        "the key fits the query, the more of that value ends up in the answer. Attention is a soft lookup. "
        "Here both numbers of a query or key say how much something is about *(money, water)*."
    )
    parts.formula(r"\text{answer} = \sum_i w_i\,v_i \qquad w = \mathrm{softmax}(\text{query}\cdot\text{key}_i\,/\,T)")
    published = {"query": soft_lookup.QUERY, **dict(zip(soft_lookup.DRAWERS, soft_lookup.KEYS))}
    with parts.messages():
        typed = parts.vectors("soft-lookup", published)
        exponent = st.slider("Temperature T, as a power of ten", -2.0, 2.0, 0.0, 0.1, key="soft-lookup.t", width=420)
        keys = [typed[name] for name in soft_lookup.DRAWERS]
        found = soft_lookup.look_up(typed["query"], keys, temperature=10**exponent)
    _figures(found)


def _figures(found: soft_lookup.SoftLookup) -> None:
    theme = current_theme()
    frame = pd.DataFrame(
        {
            "token": soft_lookup.DRAWERS,
            "score": found.trace.scores[0].tolist(),
            "weight": found.trace.weights[0].tolist(),
            "sheets": soft_lookup.SHEETS,
        }
    )
    best, top = soft_lookup.DRAWERS[found.best], float(found.trace.weights.max())
    with parts.row():
        with parts.figure("Score: how well each key fits"):
            show_chart(charts.bars(frame, "score", theme), f'"{best}" fits best.', width="content")
        with parts.figure("Weight: how much of each drawer"):
            show_chart(
                charts.bars(frame, "weight", theme, domain=(0, 1.2)),
                f"At T = {found.temperature:.3g} the best drawer gets {top:.2f} of 1.00.",
                width="content",
            )
        with parts.figure("Value: sheets in each drawer"):
            show_chart(
                charts.bars(frame, "sheets", theme, number=".0f"),
                f"Hard: {float(found.hard):.0f} sheets, all from one drawer. Soft: {float(found.soft):.1f}.",
                width="content",
            )
    parts.prose(
        f"**Hard answer {float(found.hard):.1f}, soft answer {float(found.soft):.1f}.** Turn the temperature down and "
        "the soft lookup becomes the hard one; turn it up and every drawer counts the same. The soft one has a great "
        "advantage: nudge a key and the answer moves a little, so the keys can be *learned*."
    )
