"""Small reports over many sentences, made by hand, for tests of what is said and drawn of them."""

import math
from types import SimpleNamespace

import pandas as pd
import torch

from selfattn.analysis.explaining import Explained
from selfattn.senses import TargetReport
from selfattn.senses.telling_words import WHAT, HiddenWordsReport
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


def separation(adds_low=(-0.1, -0.2, 0.02, -0.3), n_words=12, low=0.81, first=0.38, each=0.51):
    layers = pd.DataFrame(
        {"layer": ["embedding", 0, 1, 2], "accuracy": [first, 0.71, 0.93, 0.84], "low": low, "high": 0.97}
    ).assign(each_left_out=each, shuffled=0.49)
    columns = {
        "layer": [0, 0, 1, 1], "head": [0, 1, 0, 1], "accuracy": [0.60, 0.62, 0.91, 0.74], "uniform": [0.55, 0.66, 0.79, 0.75],
        "own_value": [0.61, 0.57, 0.80, 0.76], "adds": [0.05, -0.04, 0.12, -0.01], "adds_low": adds_low,
        "adds_high": [0.2, -0.01, 0.22, 0.3], "p_value": [0.2, 0.04, 0.001, 0.05],
    }  # fmt: skip
    layer = [each for each in layers["layer"] for _ in range(n_words)]
    words = pd.DataFrame(
        {"word": [f"w{i}" for i in range(n_words)] * 4, "layer": layer, "accuracy": 0.9, "sentences": 4}
    )
    return SimpleNamespace(
        layers=layers, heads=pd.DataFrame(columns), words=words, items=range(48), chance=0.5, bag=(0.8, 0.7, 0.9),
        threshold=0.57, shuffles=1000,
    )  # fmt: skip


WAYS = {
    "nearest": 0.17, "most attended": 0.35, "largest single weight": 0.25, "weights x V": 0.38, "rollout": 0.28, "gradient": 0.87,
    "value zeroing": 0.85, "[MASK]": 0.73,
}  # fmt: skip
TOLD = dict(zip(WHAT, (0.92, 0.77, 0.92, 0.86, 0.9, 0.89, 0.55, 0.72, 0.61)))


def hidden(accuracy=(), agreement=(), one=(0.34, 0.31, 0.37), two=(0.33, 0.29, 0.37), words=12, reason="", wide=0.03):
    """A report with some numbers changed; an interval reaches `wide` to either side, and over one word there is none."""
    told, ways = TOLD | dict(accuracy), WAYS | dict(agreement)
    known = {**{f"w{n}": 1.0 for n in range(words)}, "all": NAN if words == 1 else 1.0}
    rows = [
        (word, what, value, (value - wide) * sure, (value + wide) * sure)
        for word, sure in known.items()
        for what, value in told.items()
    ]
    pairs = [
        (word, name, named, low * sure, high * sure)
        for word, sure in known.items()
        for name, (named, low, high) in (("one", one), ("two", two))
    ]
    frame = pd.DataFrame(
        [(n, f"w{n}", at, text, 0.1, 0.5) for n in range(words) for at, text in enumerate((*"abcdefghij", "."))],
        columns=["row", "word", "start", "text", "share", "picked"],
    )
    return HiddenWordsReport(
        words=frame,
        accuracy=pd.DataFrame(rows, columns=["word", "what", "accuracy", "low", "high"]),
        agreement=pd.DataFrame(
            [(way, value, value - 0.03, value + 0.03, 0.1) for way, value in ways.items()],
            columns=["way", "agreement", "low", "high", "rank"],
        ),
        between=pd.DataFrame(pairs, columns=["word", "senses", "named", "low", "high"]),
        heads=pd.DataFrame(
            [("all", 0, 0, NAN, NAN, NAN, NAN)], columns=["word", "layer", "head", "share", "low", "high", "leads"]
        ),
        rejected=pd.DataFrame(),
        reason=reason,
    )
