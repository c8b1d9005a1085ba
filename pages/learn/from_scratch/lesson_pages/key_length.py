"""The length of a key counts: a long one that points elsewhere can outscore a short one that points the right way.

Source: the published example has query [3, 1] and the three keys below. The lesson suggests that dividing by sqrt(d_k)
removes the effect; it can't, for it divides every key's score by the same number. Cosine similarity would.
"""

import math
from collections.abc import Sequence
from functools import partial

import pandas as pd
import torch
from torch import Tensor

from pages.learn.from_scratch.lesson_pages.dot_product import cosine
from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.lessons import worked_example
from selfattn.numbers import decimal, plain, vector
from selfattn.views.lesson import drawing

TITLE = "Score: length counts too"
STEP = "scores"
IDEA = (
    "A key has a direction, what it is about, and a length, how loud it says so. A score is length × length × cosine: both "
    "count."
)
QUESTION = (
    "*bank* asks [1, 1]. Its own key, [1, 1], points exactly that way; the key of *river*, [0, 3], points half a right angle "
    "aside and is twice as long. Which gets the larger score?"
)
OPTIONS = ("river", "bank", "both the same")
REASON = "0 + 3 = 3 against 1 + 1 = 2: length makes up for the angle."
IN_A_HEAD = (
    "In head 10 of layer 0 of the bundled encoder the angle does more: in *The bank of the river.* the key of *river* is 1.2 "
    "times as long as that of *bank*, yet the scores are 17.2 and 5.5; the cosines are 0.39 and 0.15."
)
EXAMPLES = {  # the query; the keys by name
    "bank": ((1.0, 1.0), {"bank": (1.0, 1.0), "river": (0.0, 3.0), "of": (-1.0, -1.0)}),
    "the source's": (
        (3.0, 1.0),
        {"short, aligned": (1.5, 0.5), "long, misaligned": (1.0, 4.0), "long, aligned": (3.0, 1.0)},
    ),
}
TAKE = "Long keys draw attention. Dividing by √d_k doesn't change that: it divides every score by the same number."


def show(picture, answered) -> None:
    query, published = EXAMPLES[teaching.example("magnitude", tuple(EXAMPLES))]
    compared = partial(compare, names=list(published))
    wanted, *keys = teaching.vectors("magnitude", {"query": query, **published}, check=compared).values()
    found = compared(wanted, *keys)
    twice = compare(wanted, 2 * keys[1], names=["twice as long"]).scaled[0]
    short, long = found.iloc[0], found.iloc[1]
    titles = {"score": "Score: the dot product", "scaled": "Scaled: ÷ √d_k", "cosine": "Cosine: the angle alone"}
    shown, domain = (found, None) if answered else (found.assign(**dict.fromkeys(titles, math.nan)), (-1, 1))
    charts = {title: drawing(bar_list, shown, column, width=150, domain=domain) for column, title in titles.items()}
    named = dict(zip(["query", *published], [wanted, *keys]))
    charts = {"The query and the keys": teaching.plane(named, "query", 210)} | charts
    with picture:
        finding = (
            f"{long.token} scores {plain(long.score)} and {short.token} {plain(short.score)}; their cosines are "
            f"{decimal(long.cosine)} and {decimal(short.cosine)}."
        )
        own = "cosine = scores / (query.norm() * key.norm())   # not in attention"
        teaching.steps("key length", finding, charts, "scores", "scaled", own, columns=2, answered=answered)
        if not answered:
            return
        teaching.prose(
            f"**Does dividing by √d_k cure it?** No: the scaled score of the key {vector(keys[1])} is {long.scaled:.2f}, of one "
            f"twice as long {twice:.2f}. Comparing *cosines* would remove length altogether; attention doesn't do that, and a "
            f"model may use a key's length to draw attention. {IN_A_HEAD}"
        )


def compare(query: Tensor, *keys: Tensor, names: Sequence[str]) -> pd.DataFrame:
    """One row a key: as `worked_example.steps`, and cosine (to the query); ValueError for a zero vector."""
    trace = worked_example.compute(query, keys := torch.stack(keys), keys)
    return worked_example.steps(trace, names).assign(cosine=[cosine(query, each) for each in keys])
