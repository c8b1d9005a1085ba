"""Attention as a soft lookup: a blend of all that is filed instead of the one that fits best. Asked by "bank" in the thread.

Source: Bahdanau et al. 2015 (soft search over positions); Graves et al. 2014, "Neural Turing Machines", section 3.3.1
(content addressing with a sharpness), whose inverse is the temperature here.
"""

import pandas as pd
import streamlit as st
import torch

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.kernel import attend
from selfattn.lessons.one_head_by_hand import BANK, WORDS, compute
from selfattn.views.lesson import drawing

TITLE = "A lookup that blends"
STEP = "embeddings"
IDEA = (
    "In *The bank of the river*, *bank* asks the other words: *am I money or land?* That is a lookup, but a *soft* one: it "
    "opens every drawer a little, the better fitting ones more."
)
QUESTION = (
    "*bank* asks [1, 1]: money 1, water 1. The drawer of *river* is labelled [0, 3], its own [1, 1]. All labels are made ten "
    "times as long. What becomes of the soft lookup?"
)
OPTIONS = ("nearly a hard one: river alone", "it stays as it is", "it becomes more even")
REASON = "A fit is label × question, number by number, added up: river's 3 and bank's 2 become 30 and 20, and soft turns hard."
TAKE = "A query is compared with every key; the better the fit, the more of that value ends up in the answer."
TEMPERATURES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
DRAWERS = WORDS["river"]


def show(picture) -> None:
    st.markdown(
        "| | filing cabinet | library | in attention |\n|---|---|---|---|\n| I look for | sticky note | question | query |\n"
        "| filed under | label | spine | key |\n| hands over | contents | book | value |"
    )
    names = [f"{place} {word}" for place, word in enumerate(DRAWERS, start=1)]
    made = compute().trace  # two numbers each: about money, about water
    published = {"query": made.query[BANK], **dict(zip(names, made.key))}
    query, *keys = teaching.vectors("soft-lookup", published, 110).values()
    temperature = st.select_slider("Temperature T", TEMPERATURES, 1.0, key="soft-lookup.t")
    key, water = torch.stack(keys), made.value[:, 1:]  # what each hands over: how much more about water than money
    # A low temperature sharpens the blend to one drawer, a high one evens it out.
    soft, longer = (attend(query[None], labels, water, scale=1 / temperature) for labels in (key, 10 * key))
    scores, weights, sharper = (numbers[0].tolist() for numbers in (soft.scores, soft.weights, longer.weights))
    best = scores.index(max(scores))  # the drawer that a hard lookup opens: the first of equals
    hard = [float(place == best) for place in range(len(DRAWERS))]
    frame = pd.DataFrame({"token": DRAWERS, "score": scores, "hard": hard, "weight": weights, "longer": sharper})
    charts = {
        title: drawing(bar_list, frame, column, width=104, marked=best, domain=domain)
        for title, column, domain in (
            ("How well each fits", "score", None),
            ("Hard lookup", "hard", (0, 1.4)),
            (f"Soft, T = {temperature:g}", "weight", (0, 1.4)),
            ("Soft, labels × 10", "longer", (0, 1.4)),
        )
    }
    finding = f'"{DRAWERS[best]}" fits best: hard it gets all, soft {weights[best]:.2f} of 1.'
    note = f"About water, hard hands over {water[best, 0]:.1f}, soft {soft.context[0, 0]:.1f}."
    with picture:
        own = "hard = value[scores.argmax()]   # a database's answer"
        teaching.steps("lookup", finding, charts, "scores", own, "weights", "context", note=note)
        teaching.prose(
            "The slider T divides the fits: small, and the lookup is hard; large, and every drawer counts equally. Nudge a "
            "label and the soft answer moves a little: so labels can be *learned*."
        )
