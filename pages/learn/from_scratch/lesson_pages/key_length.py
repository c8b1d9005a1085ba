"""The length of a key counts: a long one that points elsewhere can outscore a short one that points the right way.

Source: the published example has query [3, 1] and the three keys below. The lesson suggests that dividing by sqrt(d_k)
removes the effect; it can't, for it divides every key's score by the same number. Cosine similarity would.
"""

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
    "Head 10 of layer 0 of the bundled encoder reads *The bank of the river.* The key of *river* is 1.2 times as long as that of "
    "*bank* itself. How many times its score does *river* get from *bank*?"
)
OPTIONS = ("about 3 times", "about 1.2 times", "about 1.4 times: length counts twice")
REASON = "The scores are 17.2 and 5.5. There the angle does more than the length: the cosines are 0.39 and 0.15."
EXAMPLES = {  # the query; the keys by name
    "bank": ((1.0, 1.0), {"bank": (1.0, 1.0), "river": (0.0, 3.0), "of": (-1.0, -1.0)}),
    "the source's": (
        (3.0, 1.0),
        {"short, aligned": (1.5, 0.5), "long, misaligned": (1.0, 4.0), "long, aligned": (3.0, 1.0)},
    ),
}
TAKE = "Long keys draw attention. Dividing by √d_k doesn't change that: it divides every score by the same number."


def show(picture) -> None:
    query, published = EXAMPLES[teaching.example("magnitude", tuple(EXAMPLES))]
    compared = partial(compare, names=list(published))
    wanted, *keys = teaching.vectors("magnitude", {"query": query, **published}, check=compared).values()
    found = compared(wanted, *keys)
    twice = compare(wanted, 2 * keys[1], names=["twice as long"]).scaled[0]
    short, long = found.iloc[0], found.iloc[1]
    titles = {"score": "Score: the dot product", "scaled": "Scaled: ÷ √d_k", "cosine": "Cosine: the angle alone"}
    charts = {title: drawing(bar_list, found, column, width=110) for column, title in titles.items()}
    with picture:
        finding = (
            f"{long.token} scores {plain(long.score)} and {short.token} {plain(short.score)}; their cosines are "
            f"{decimal(long.cosine)} and {decimal(short.cosine)}."
        )
        own = "cosine = scores / (query.norm() * key.norm())   # not in attention"
        teaching.steps("key length", finding, charts, "scores", "scaled", own)
        teaching.prose(
            f"**Does dividing by √d_k cure it?** No: the scaled score of the key {vector(keys[1])} is {long.scaled:.2f}, of one "
            f"twice as long {twice:.2f}. Comparing *cosines* would remove length altogether; attention doesn't do that, and a "
            "model may use a key's length to draw attention."
        )


def compare(query: Tensor, *keys: Tensor, names: Sequence[str]) -> pd.DataFrame:
    """One row a key: as `worked_example.steps`, and cosine (to the query); ValueError for a zero vector."""
    trace = worked_example.compute(query, keys := torch.stack(keys), keys)
    return worked_example.steps(trace, names).assign(cosine=[cosine(query, each) for each in keys])
