"""What captions are given, case by case: numbers that choose each branch, at its very edge where there is one.

What is said of each case stands once, in said.json: `python -m tests.captions` writes it anew, to be read before it is kept.
"""

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import torch

from selfattn.analysis.compare import SentenceComparison
from selfattn.analysis.hiding import NO_WAY
from selfattn.analysis.patterns import PATTERNS, nearest_first
from selfattn.analysis.steps import Step
from selfattn.captions import attention, steps, vectors
from selfattn.encoders.placed_word import PlacedWord
from selfattn.tidy_tables import heads_frame
from selfattn.views import layer_by_layer
from selfattn.words import Word
from tests.small_hidden_pair import WORDS, hidden_pair_of

NAN, INF = math.nan, math.inf
Cases = dict[str, Callable[[], object]]


def tensor(*values) -> torch.Tensor:
    return torch.tensor(values)


# Attention


LABELS, GAPS = ("the", "crane", "beam", "wings"), np.full((4, 4), np.nan)
GAPS[:2, :3] = [[0.1, 0.4, 0.0], [0.05, 0.1, -0.3]]


def compared(matrix, even):
    side = ("both", "both", "A", "B")
    return SentenceComparison(
        labels=LABELS, side=side, matrix=matrix, chosen=1, matched_weight=(0.61, 0.745), even_weight=even
    )


AGAINST = pd.DataFrame(
    {"text": ["[CLS]", "lifted", "its", "spread"], "only": ["", "A", "B", "B"], "a": [0.5, 0.2, NAN, NAN],
     "b": [0.4, NAN, 0.1, 0.3]}
)  # fmt: skip
SUREST = pd.DataFrame({"word": ["a", "b"], "attends most to": ["b", "[SEP]"], "weight": [0.4, 0.9]})
MEASURED = heads_frame(
    entropy=tensor([1.5, 0.25], [2.75, 2.0]), effect=tensor([0.01, -0.0316], [0.02, 0.0]),
    distance=tensor([0.1, 0.2], [0.45, 0.3]),
)  # fmt: skip
SHARES = dict(zip(PATTERNS, (0.05, 0.06, 0.21, 0.4, 0.1, 0.8)))

ATTENTION: Cases = {
    "surest word": partial(attention.surest_word, SUREST, "Rollout"),
    "surest word of none": partial(attention.surest_word, SUREST[:0], "Rollout"),
    "weight difference, more in A": partial(attention.weight_difference, compared(GAPS, (0.125, 0.2))),
    "weight difference, more in B, of one length": partial(attention.weight_difference, compared(-GAPS, (0.2, 0.2))),
    "only one has": partial(attention.only_one_has, AGAINST, "crane"),
    "only one has, none": partial(attention.only_one_has, AGAINST[:1], "crane"),
    "measure, no unit": partial(attention.measure_by_head, MEASURED, "entropy", "", "L1 H1"),
    "measure, effect": partial(attention.measure_by_head, MEASURED, "effect", "effect", "L0 H0"),
    "head profile, no pattern": partial(attention.head_profile, nearest_first(SHARES), "L3 H7", "In this sentence"),
    "head profile, two patterns": partial(
        attention.head_profile, nearest_first(SHARES | {"next token": 0.5, "broad": 0.91}), "L1 H8", "Over 768 sentences"
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


def step(own, values=(1.0, -2.5)):
    return Step("scores", "", tensor(values), "", None if own is None else tensor(own), "the model's own scores", print)


ROWS = pd.DataFrame(
    [
        ("A", 0, "[CLS]", True, False, 1.0, 0.5, 0.2, 0.1), ("A", 1, "crane", False, True, 1.0, 0.5, 0.1, 0.2),
        ("A", 2, "beam", False, False, 1.0, 0.5, 0.7, 0.7), ("B", 0, "[CLS]", True, False, 1.0, 0.5, 0.8, 0.1),
        ("B", 1, "crane", False, True, 1.0, 0.5, 0.2, 1.013), ("B", 2, "shore", False, False, 1.0, -INF, 0.0, 0.0),
    ],
    columns=["sentence", "place", "text", "special", "chosen", "score", "masked", "weight", "share"],
)  # fmt: skip
QUERY, KEY = tensor(1.0, -2.0, 0.5, 0.0, 3.0, 0.1, 0.2, -1.0), tensor(0.5, 1.0, -0.5, 9.0, -1.0, 0.1, 1.0, 0.25)

STEPS: Cases = {
    "step error, the worst of both": partial(
        steps.step_error, {"A": step((1.0, -2.5)), "B": step((1.0, -2.625), (1.0, -2.75))}
    ),
    "step error, no counterpart": partial(steps.step_error, {"A": step(None)}),
    "vector length": partial(steps.vector_lengths, {"B": tensor(0.0, -1.0)}, "query"),
    "largest": partial(
        steps.largest, {"A": tensor(0.1, 0.7), "B": tensor(-3.0, 0.5)}, {"A": ("of", "sat"), "B": ("x", "y")}, "score"
    ),
    "hidden tokens": partial(steps.hidden_tokens, {"A": tensor(0.0, -INF, -INF), "B": tensor(0.0, 1.0)}),
    "score": partial(steps.score, QUERY * KEY, "crane", "near"),
    "score by terms": partial(steps.score_terms, QUERY, KEY),
    "score by two terms": partial(steps.score_terms, tensor(1.0, -2.0), tensor(3.0, 4.0)),
    "padding with weight": partial(steps.padding, 12, 4, 2e-9, 3e-8),
    "row": partial(steps.row, ROWS),
    "row, nothing hidden, two pieces": partial(steps.row, ROWS[:3], "crane", 2),
    "no steps": partial(steps.no_steps, "It isn't square."),
}


# Vectors


def removals(chosen, *columns):
    names = ("effect", "control")[: len(columns)]
    frame = heads_frame(**{name: tensor(own) for name, own in zip(names, columns)})
    return partial(vectors.by_head, frame, names, chosen, 0.31, '"bank"')


def noise(measure, precision, columns=vectors.OF_PAIR):
    return lambda: vectors.noise_floor(EFFECTS, measure, precision, columns)[1]


EFFECTS = heads_frame(effect=tensor([0.007, -0.0059, 0.0001]), control=tensor([0.001, 0.02, 0.0]))
EFFECTS["effect_minus_control"] = EFFECTS["effect"] - EFFECTS["control"]

VECTORS: Cases = {
    "removals, within the control": removals("L0 H0", [0.02, -0.05], [0.01, 0.05]),
    "removals, beyond the control": removals("L0 H0", [0.02, -0.0501], [-0.05, 0.0]),
    "removals, the chosen one leads": removals("L0 H1", [0.02, -0.05], [0.0, 0.01]),
    "removals, no control": removals("L0 H0", [0.02, -0.05]),
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
