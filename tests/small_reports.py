"""A hand-made result of `explain`."""

import math

import torch

from selfattn.analysis.explaining import Explained
from selfattn.words import Word

NAN = math.nan


def explained(effect=(0.02, -0.3, -0.4), together=-0.9, named=("We", "sat", ".")):
    words = tuple(Word(text, at, at + 1) for at, text in enumerate(named))
    return Explained(
        sentence=None, target=None, number=1.5, words=words, effect=torch.tensor(effect), together=together,
        by_gradient=torch.tensor([[0.5, -0.2], [0.05, 0.2]]), heads=torch.tensor([[NAN, -0.3], [NAN, 0.1]]), notes=(),
    )  # fmt: skip
