"""Small hand-made results about an encoder's own answer, for tests of sentences and pictures."""

import math

import pandas as pd
import torch

from selfattn.analysis.explaining import Explained
from selfattn.senses import TargetReport
from selfattn.words import Word

NAN = math.nan


def explained(effect=(0.02, -0.3, -0.4), together=-0.9, named=("We", "sat", ".")):
    words = tuple(Word(text, at, at + 1) for at, text in enumerate(named))
    return Explained(
        sentence=None, target=None, number=1.5, words=words, effect=torch.tensor(effect), together=together,
        by_gradient=torch.tensor([[0.5, -0.2], [0.05, 0.2]]), heads=torch.tensor([[NAN, -0.3], [NAN, 0.1]]), notes=(),
    )  # fmt: skip


MANY = TargetReport(
    words=pd.DataFrame(
        [("the", 9, 0.5, -0.1, 1.0), ("sat", 3, -0.4, -0.6, -0.2), ("we", 1, 2.0, NAN, NAN)],
        columns=["word", "n", "effect", "low", "high"],
    ),
    heads=pd.DataFrame(
        [(0, 1, 9, -0.3, -0.5, -0.1, 0.2), (1, 0, 9, NAN, NAN, NAN, 0.9)],
        columns=["layer", "head", "n", "effect", "low", "high", "by_gradient"],
    ),
    sentences=pd.DataFrame({"number": [1.0, 2.0], "sum": [-1.0, -2.0], "together": [-3.0, -1.0]}),
    rejected=pd.DataFrame(), note="",
)  # fmt: skip
