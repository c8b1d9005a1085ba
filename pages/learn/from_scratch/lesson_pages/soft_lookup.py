"""Attention as a soft lookup: a blend of all that is filed instead of the one that fits best. Asked by "bank" in the thread.

Source: Bahdanau et al. 2015 (soft search over positions); Graves et al. 2014, "Neural Turing Machines", section 3.3.1
(content addressing with a sharpness), whose inverse is the temperature here.
"""

import streamlit as st
import torch
from torch.nn.functional import one_hot

from selfattn.dashboard import teaching
from selfattn.kernel import attend
from selfattn.lessons.one_head_by_hand import BANK, WORDS, compute
from selfattn.numbers import decimal
from selfattn.views.stage import SHARE, Column, Scene

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


def draw(answered: bool) -> Scene:
    made, temperature = compute().trace, 1.0
    names = [f"{place} {word}" for place, word in enumerate(DRAWERS, start=1)]
    published = {"query": made.query[BANK], **dict(zip(names, made.key))}
    typed = published
    if answered:
        st.markdown(
            "| | filing cabinet | library | in attention |\n|---|---|---|---|\n| I look for | sticky note | question | query |\n"
            "| filed under | label | spine | key |\n| hands over | contents | book | value |"
        )
        help_ = "Divides the fits: low, and the lookup is hard; high, and every drawer counts equally."
        temperature = st.select_slider("Temperature", TEMPERATURES, 1.0, key="soft-lookup.t", help=help_)
        with st.expander("Your own labels"):
            typed = teaching.vectors("soft-lookup", published, 110)
    query, *keys = typed.values()
    key, water = torch.stack(keys), made.value[:, 1:]  # what each hands over: how much more about water than money
    scale = made.scale / temperature  # at 1 as in the head: the stop on √d_k says why
    soft, longer = (attend(query[None], labels, water, scale=scale) for labels in (key, 10 * key))
    scores, weights = soft.scores[0], soft.weights[0]
    best = int(scores.argmax())  # the drawer that a hard lookup opens: the first of equals
    hard = one_hot(scores.argmax(), len(DRAWERS)).to(scores)
    title = "soft" if temperature == 1 else f"soft, T = {temperature:g}"
    return Scene(
        f'"{DRAWERS[best]}" fits best: hard it gets all, soft {decimal(weights[best])}, with labels × 10 '
        f"{decimal(longer.weights[0, best])}.",
        DRAWERS,
        (
            Column("key", "label", key, above=("“bank” asks", query[None])),
            Column("score", "fit", scores, _ends(scores)),
            Column("hard", "hard", hard, SHARE),
            Column("weights", title, weights, SHARE),
            Column("longer", "labels × 10", longer.weights[0], SHARE, asked=True),
        ),
        asks=BANK,
        lit=best,
        lines=[
            f"{word}: fit {' + '.join(f'{a:g} × {b:g}' for a, b in zip(query.tolist(), label.tolist()))} = {score:g}"
            for word, label, score in zip(DRAWERS, key, scores.tolist())
        ],
        note=f"About water, hard hands over {decimal(water[best, 0], 1)}, soft {decimal(soft.context[0, 0], 1)}.",
    )


def _ends(scores) -> tuple[float, float]:
    return min(0.0, float(scores.min())), max(1.0, float(scores.max()))
