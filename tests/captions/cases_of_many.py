"""What captions over many sentences are given, case by case: senses, the word that brings one in, an encoder's answer."""

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pandas as pd
import torch

from selfattn import numbers
from selfattn.analysis.explaining import Explained
from selfattn.captions import predictions, senses, which_word
from selfattn.senses import TargetReport
from selfattn.senses.telling_words import WHAT, HiddenWordsReport
from selfattn.tidy_tables import explained_heads_frame
from selfattn.words import Word

NAN = math.nan
Cases = dict[str, Callable[[], object]]


# Predictions


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


def over(words=MANY.words, heads=MANY.heads, together=(-3.0, -1.0)):
    own = TargetReport(words, heads, MANY.sentences.assign(together=together), MANY.rejected, "")
    return partial(predictions.over_sentences, own, "the margin", numbers.change)


PREDICTIONS: Cases = {
    "one word": partial(predictions.words, explained((-0.3,), named=("sat",)), "it", numbers.change),
    "no word": partial(predictions.words, explained((0.1,), named=(".",)), "it", numbers.change),
    "words, nothing left": partial(predictions.words, explained(together=NAN), "it", numbers.change),
    "heads, all run, the chosen one leads": partial(
        predictions.heads, explained_heads_frame(explained())[1::2], "L0 H1", "it", numbers.change
    ),
    "over sentences": over(),
    "over sentences, one without all words": over(together=(-3.0, NAN)),
    "over sentences, none without all words": over(together=(NAN, NAN)),
    "over sentences, no word and no head": over(MANY.words[:1], MANY.heads[1:]),
}


# Senses


def separation(adds_low=(-0.1, -0.2, 0.02, -0.3), n_words=12, low=0.81, first=0.38, each=0.51):
    layers = pd.DataFrame(
        {"layer": ["embedding", 0, 1, 2], "accuracy": [first, 0.71, 0.93, 0.84], "low": low, "high": 0.97}
    ).assign(each_left_out=each, shuffled=0.49)
    columns = {
        "layer": [0, 0, 1, 1], "head": [0, 1, 0, 1], "accuracy": [0.60, 0.62, 0.91, 0.74], "uniform": [0.55, 0.66, 0.79, 0.75],
        "own_value": [0.61, 0.57, 0.80, 0.76], "adds": [0.05, -0.04, 0.12, -0.01], "adds_low": adds_low,
        "adds_high": [0.2, -0.01, 0.22, 0.3], "p_value": [0.2, 0.04, 0.001, 0.05],
    }  # fmt: skip
    words = pd.DataFrame({"word": [f"w{i}" for i in range(n_words)] * 2})
    return SimpleNamespace(
        layers=layers, heads=pd.DataFrame(columns), words=words, items=range(48), chance=0.5, bag=(0.8, 0.7, 0.9),
        threshold=0.57, shuffles=1000,
    )  # fmt: skip


SENSES: Cases = {
    "layers, a start below shuffled labels": partial(senses.layers, separation()),
    **{
        f"layers, a start of {first} and {each}": partial(senses.layers, separation(first=first, each=each))
        for first, each in [(0.66, 0.64), (0.66, 0.5), (0.38, 0.62), (0.38, 0.38)]
    },
    "layers, one word": partial(senses.layers, separation(n_words=1, low=NAN)),
    "heads": partial(senses.heads, separation(), (0, 1)),
    "heads, few add": partial(senses.heads, separation((-0.1, -0.2, -0.02, -0.3)), (0, 0)),
    "heads, many add": partial(senses.heads, separation((0.1, 0.2, 0.02, 0.3)), (0, 0)),
    "sentences, a tie": partial(senses.sentences, pd.DataFrame({"score": [1, 1, 0, 0.5]}), "L3 H7"),
}


# One word that brings a sense in

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
        heads=pd.DataFrame(),
        rejected=pd.DataFrame(),
        reason=reason,
    )


WHICH_WORD: Cases = {
    ", ".join(["one word", *(f"{what} {value}" for what, value in told.items())]): partial(which_word.one_word, hidden(told))
    for told in [
        {}, {"the word alone": 0.84}, {"the word alone": 0.83}, {"the word hidden": 0.7}, {"as it is": 0.52}, {"as it is": 0.54},
        {"the word alone": 0.7, "the word hidden": 0.7}, {"the word alone": 0.6}, {"the word alone": 0.62}, {"as it is": NAN},
        {"the word alone": NAN},
    ]
} | {
    "one word, of three": partial(which_word.one_word, hidden(words=3)),
    "one word, of one": partial(which_word.one_word, hidden(words=1)),
    "one word, attention unknown": partial(which_word.one_word, hidden(agreement={"most attended": NAN})),
    "in a word, no interval": partial(which_word.in_word, hidden(wide=NAN), "w2"),
    "in a word, too few": partial(which_word.in_word, hidden(), "crane"),
    "not from two, just so": partial(which_word.not_from_two, hidden(one=(0.3, 0.2, 0.4), two=(0.5, 0.4, 0.6))),
    "not from two, more often": partial(which_word.not_from_two, hidden(one=(0.3, 0.2, 0.4), two=(0.5, 0.41, 0.6))),
    **{
        f"on trial, weights x V {value}": partial(which_word.on_trial, hidden(agreement={"weights x V": value}))
        for value in (0.38, 0.53, 0.9, 0.3)
    },
    "on trial, no better than luck": partial(which_word.on_trial, hidden(agreement=dict.fromkeys([*WAYS][1:5], 0.12))),
    "on trial, unknown": partial(
        which_word.on_trial, hidden(agreement=dict.fromkeys([*WAYS][1:], NAN), reason="gradient: it can't be had.")
    ),
    "in a sentence, no way": partial(which_word.in_sentence, []),
    "sentences drawn, some": partial(which_word.shaded, False, "bank", 24, 3),
    "sentences drawn, the ticked one": partial(which_word.shaded, True, "bank", 24, 3),
}  # fmt: skip
