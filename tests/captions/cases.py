"""What captions are given, case by case: numbers that choose each branch, at its very edge where there is one.

What is said of each case stands once, in said.json: `python -m tests.captions` writes it anew, to be read before it is kept.
"""

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pandas as pd
import torch

from selfattn.analysis.hiding import NO_WAY
from selfattn.analysis.patterns import PATTERNS, nearest_first
from selfattn.captions import steps, vectors
from selfattn.encoders.placed_word import PlacedWord
from selfattn.tidy_tables import heads_frame
from selfattn.views import all_heads, layer_by_layer
from selfattn.words import Word
from tests.small_hidden_pair import WORDS, hidden_pair_of

NAN, INF = math.nan, math.inf
Cases = dict[str, Callable[[], object]]


def tensor(*values) -> torch.Tensor:
    return torch.tensor(values)


# Attention


SHARES = dict(zip(PATTERNS, (0.05, 0.06, 0.21, 0.4, 0.1, 0.8)))

ATTENTION: Cases = {
    "head profile, no pattern": partial(all_heads.profile, nearest_first(SHARES), "L3 H7", "In this sentence"),
    "head profile, two patterns": partial(
        all_heads.profile, nearest_first(SHARES | {"next token": 0.5, "broad": 0.91}), "L1 H8", "Over 768 sentences"
    ),
}  # fmt: skip


# Hidden words

TWO_SENSES = ("river side", "money house")
MOSTLY_RIVER, LITTLE = (0.01, 0.16, 0.02, 0.44), (0.01, 0.049, 0.0, 0.02)


def pair(a, b, senses=TWO_SENSES, **other):
    """Of "the of the river ." and "A huge .", with these shares of their words, the stops' NaN."""
    return hidden_pair_of(share=(tensor(*a, NAN), tensor(*b, NAN)), senses=senses, **other)


def alone(word, b, **other):
    """ "bank" and a sign in A, "A huge bank." in B."""
    own = (Word("bank", 1, 2), Word(word, 2, 3))
    a = PlacedWord(SimpleNamespace(words=own), own[0].positions)
    words = (own[1:], hidden_pair_of().words[1])
    return hidden_pair_of(placed=(a, hidden_pair_of().placed[1]), words=words, share=(tensor(0.9), tensor(*b)), **other)


def without_a_way(text, senses=None):
    """A is "the bank of the river." and B this text; nothing lies between the two vectors."""
    both = [SimpleNamespace(text=each, pair=None, words=WORDS[0]) for each in ("the bank of the river.", text)]
    placed = tuple(PlacedWord(each, WORDS[0][1].positions) for each in both)
    return hidden_pair_of(placed=placed, ways=(torch.zeros(4), torch.zeros(4)), senses=senses, notes=(NO_WAY, "Long."))


def report(*words, telling=0.885, every=0.9164):
    """Three sentences of each word, of two words each."""
    accuracy = [("all", "as it is", every), ("all", "the word alone", telling), ("bank", "as it is", 0.1)]
    rows = [(row, word) for word in words for row in range(3) for _ in range(2)]
    return SimpleNamespace(
        accuracy=pd.DataFrame(accuracy, columns=["word", "what", "accuracy"]), words=pd.DataFrame(rows, columns=["row", "word"])
    )  # fmt: skip


SENSED, BETWEEN = pair(MOSTLY_RIVER, (0.0, 0.2)), pair(MOSTLY_RIVER, (0.0, 0.2), senses=None)
UNMEASURED = pair((NAN,) * 4, (NAN, NAN), control_cosine=NAN, control_hidden=NAN, top=(None, None))
RUN = tensor([0.1, 0.3, 0.2], [0.0, NAN, 0.05])


HIDDEN_WORDS: Cases = {
    "compared": partial(layer_by_layer.compared, hidden_pair_of()),
    "compared, one word hidden": partial(layer_by_layer.compared, hidden_pair_of(top=(None, 0), control_hidden=NAN)),
    "compared, no control": partial(layer_by_layer.compared, UNMEASURED),
    "beside its sense, one as far": partial(
        layer_by_layer.beside_its_sense, hidden_pair_of(cosine=torch.full((6, 4), 0.125)), "river side",
        tensor(0.125, 0.92),
    ),
}  # fmt: skip


# Steps

STEPS: Cases = {
    "hidden tokens": partial(steps.hidden_tokens, {"A": tensor(0.0, -INF, -INF), "B": tensor(0.0, 1.0)}),
    "padding with weight": partial(steps.padding, 12, 4, 2e-9, 3e-8),
}


# Vectors


def noise(measure, precision, columns=vectors.OF_PAIR):
    return lambda: vectors.noise_floor(EFFECTS, measure, precision, columns)[1]


EFFECTS = heads_frame(effect=tensor([0.007, -0.0059, 0.0001]), control=tensor([0.001, 0.02, 0.0]))
EFFECTS["effect_minus_control"] = EFFECTS["effect"] - EFFECTS["control"]

VECTORS: Cases = {
    "noise of an effect": noise("effect", "bfloat16"),
    "noise of two effects": noise("effect_minus_control", "float16"),
    "noise, less of means": noise("effect", "bfloat16", {"effect": 0.4}),
}

CASES: dict[str, Cases] = {
    "attention": ATTENTION,
    "hidden words": HIDDEN_WORDS,
    "steps": STEPS,
    "vectors": VECTORS,
}
