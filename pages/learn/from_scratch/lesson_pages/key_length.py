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
from selfattn.dashboard import teaching
from selfattn.kernel import attend
from selfattn.numbers import decimal, plain, vector

TITLE = "Score: length counts too"
STEP = "scores"
IDEA = (
    "A key has a direction, what it is about, and a length, how loud it says so. A score is length × length × cosine: both "
    "count."
)
QUESTION = (
    "*bank* asks [1, 1]; the key of *river* is [0, 3], half a right angle off. You may add a piece of length 1 to that key. "
    "Which way must it point to raise the score most?"
)
OPTIONS = ("the query's way", "the key's own way, to make it longest", "no matter: the piece has length 1")
REASON = (
    f"Made longer, [0, 4], it scores 4; pulled the query's way, 3 + √2 = {3 + math.sqrt(2):.2f}, for it turns, too."
)
EXAMPLES = {  # the query; the keys by name
    "bank": ((1.0, 1.0), {"bank": (1.0, 1.0), "river": (0.0, 3.0), "of": (-1.0, -1.0)}),
    "the source's": (
        (3.0, 1.0),
        {"short, aligned": (1.5, 0.5), "long, misaligned": (1.0, 4.0), "long, aligned": (3.0, 1.0)},
    ),
}
TAKE = "Long keys draw attention. Dividing by √d_k doesn't change that: it divides every score by the same number."


def show(picture, numbers) -> None:
    with numbers:
        query, published = EXAMPLES[teaching.example("magnitude", tuple(EXAMPLES))]
        compared = partial(compare, names=list(published))
        wanted, *keys = teaching.vectors("magnitude", {"query": query, **published}, check=compared).values()
        found = compared(wanted, *keys)
        twice = compare(wanted, 2 * keys[1], names=["twice as long"]).scaled[0]
    short, long = found.iloc[0], found.iloc[1]
    titles = {"score": "Score: the dot product", "scaled": "Scaled: ÷ √d_k", "cosine": "Cosine: the angle alone"}
    charts = {
        {"score": "scores"}.get(column, column): (title, teaching.bars(found, column, width=110))
        for column, title in titles.items()
    }
    with picture:
        caption = (
            f"{long.token}: {plain(long.score)}; {short.token}: {plain(short.score)}. Scaled: the same order. By angle alone "
            f"{short.token} has {decimal(short.cosine)}, {long.token} {decimal(long.cosine)}."
        )
        own = {"cosine": "cosine = scores / (query.norm() * key.norm())   # not in attention"}
        teaching.steps(charts, caption, ("scores", "scaled", "cosine"), own)
        teaching.prose(
            f"**Does dividing by √d_k cure it?** No: the scaled score of the key {vector(keys[1])} is {long.scaled:.2f}, of one "
            f"twice as long {twice:.2f}. Comparing *cosines* would remove length altogether; attention doesn't do that, and a "
            "model may use a key's length to draw attention."
        )


def compare(query: Tensor, *keys: Tensor, names: Sequence[str]) -> pd.DataFrame:
    """One row a key: token (its name), score, scaled (over sqrt d_k), cosine (to the query); ValueError for a zero vector."""
    key = torch.stack(keys)
    trace = attend(query[None], key, key)
    columns = {"score": trace.scores[0].tolist(), "scaled": trace.scaled[0].tolist()}
    return pd.DataFrame({"token": list(names), **columns, "cosine": [cosine(query, each) for each in keys]})
