"""A hand-made HiddenPair. One of its words occurs twice, and one has no measurement (NaN)."""

import math
from types import SimpleNamespace

import torch

from selfattn.analysis.hiding import HiddenPair
from selfattn.encoders.placed_word import PlacedWord
from selfattn.words import Word

TEXTS = (["the", "bank", "of", "the", "river", "."], ["A", "huge", "bank", "."])
AT = (1, 2)  # the index of "bank" in each sentence
WORDS = tuple(tuple(Word(text, at + 1, at + 2) for at, text in enumerate(texts)) for texts in TEXTS)
PLACED = tuple(
    PlacedWord(SimpleNamespace(words=words, text=" ".join(texts)), words[at].positions)
    for words, texts, at in zip(WORDS, TEXTS, AT)
)
SHARES = ([0.1, 0.2, -0.026, 0.5, 0.9], [0.25, torch.nan, 0.0])
BY_HEAD = tuple(side + torch.arange(n * 6).reshape(n, 2, 3) / 100 for side, n in ((0, 5), (1, 3)))
EXACT = {("A", 5): torch.arange(6).reshape(2, 3) / -7}


def hidden_pair_of(**other) -> HiddenPair:
    """Return the hand-made pair. Each keyword argument replaces the field of the same name."""
    curves = torch.arange(6 * 4 * 3).reshape(6, 4, 3) / 72
    curves[:, 2] = torch.nan
    fields = {
        "placed": PLACED, "words": tuple(words[:at] + words[at + 1 :] for words, at in zip(WORDS, AT)),
        "share": tuple(map(torch.tensor, SHARES)), "cosine": curves[..., -1], "curves": curves, "control_cosine": 0.55,
        "control_hidden": 0.66, "by_head": BY_HEAD, "top": (3, 0), "ways": (torch.ones(4), torch.ones(4)), "senses": None,
        "nearest": None, "places": (math.nan, math.nan), "notes": (),
    }  # fmt: skip
    return HiddenPair(**fields | other)
