"""What captions are given, case by case: numbers that choose each branch, at its very edge where there is one.

What is said of each case stands once, in said.json: `python -m tests.captions` writes it anew, to be read before it is kept.
"""

import math
from collections.abc import Callable
from functools import partial

import torch

from selfattn.analysis.patterns import PATTERNS, nearest_first
from selfattn.captions import vectors
from selfattn.tidy_tables import heads_frame
from selfattn.views import all_heads, layer_by_layer
from tests.small_hidden_pair import hidden_pair_of

NAN = math.nan
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

UNMEASURED = hidden_pair_of(
    share=(tensor(*[NAN] * 5), tensor(*[NAN] * 3)), senses=("river side", "money house"), control_cosine=NAN,
    control_hidden=NAN, top=(None, None),
)  # fmt: skip

HIDDEN_WORDS: Cases = {
    "compared": partial(layer_by_layer.compared, hidden_pair_of()),
    "compared, one word hidden": partial(layer_by_layer.compared, hidden_pair_of(top=(None, 0), control_hidden=NAN)),
    "compared, no control": partial(layer_by_layer.compared, UNMEASURED),
    "beside its sense, one as far": partial(
        layer_by_layer.beside_its_sense, hidden_pair_of(cosine=torch.full((6, 4), 0.125)), "river side",
        tensor(0.125, 0.92),
    ),
}  # fmt: skip


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
    "vectors": VECTORS,
}
