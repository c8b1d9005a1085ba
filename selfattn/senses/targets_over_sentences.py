"""Measure which words and heads a prediction depends on, over many sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from selfattn.analysis.explaining import Explained, explain, leading_heads, removed_in_turn
from selfattn.analysis.targets import Asked
from selfattn.encoders.encoder import Encoder, Progress, followed, half_of, silent
from selfattn.encoders.errors import TextError
from selfattn.notebook_repr import OfTables
from selfattn.senses.resampling import interval
from selfattn.words import fold


@dataclass(frozen=True, eq=False, repr=False)
class TargetReport(OfTables):
    """Mean effects of words and heads on a target, such as a class score.

    An effect is the target with a word hidden or a head removed, minus the unchanged target.
    low, high: 95 % interval of the mean over n sentences
    """

    words: pd.DataFrame
    # word: case-folded
    # n: number of sentences with the word
    # effect, low, high
    # text: "sentence" for a row's first text, "pair" for its second; no such column if no row has a second text
    heads: pd.DataFrame
    # layer, head
    # n: number of sentences
    # effect, low, high: mean effect of removing the head, and its interval; measured for eight heads
    # by_gradient: estimated effect
    sentences: pd.DataFrame
    # row: the sentence's index label in the input table
    # sentence, pair: the texts
    # number: the target's value
    # sum: sum of the effects of single words
    # together: effect of hiding all words at once
    # words: number of words
    rejected: pd.DataFrame  # row, reason
    note: str  # the reason why heads have no effects, or ""


def over_sentences(
    encoder: Encoder, frame: pd.DataFrame | pd.Series | Sequence[str], asked: Asked, *, progress: Progress = silent
) -> TargetReport:
    """Measure the mean effects of words and heads on a target, over many sentences.

    frame: a table (columns sentence, pair), a Series or a list; repeated sentences count once
    asked: a function that returns the target for a sentence, such as
        `class_score(load_class_head(encoder), "POSITIVE")`
    progress(done, total): counts each sentence twice: once for its words, once for its heads
    Raises ValueError for a missing column, or if no row can be used.
    Limits: effects of single words don't add up. The interval of the head with the largest effect is slightly too
        narrow, because the heads are chosen and measured in the same sentences.
    """
    if not isinstance(frame, pd.DataFrame):
        if isinstance(frame, str):
            raise ValueError("Expected a table, a Series or a list of sentences, got one text. Put the text in a list.")
        frame = pd.DataFrame({"sentence": pd.Series(frame, dtype=object)})
    if "sentence" not in frame:
        raise ValueError(f"Expected a column 'sentence', got {', '.join(map(str, frame.columns))}. Rename a column.")
    usable, rejected, taken = [], [], set()
    pairs = frame["pair"] if "pair" in frame else [None] * len(frame)
    texts = list(zip(frame.index, frame["sentence"], pairs))
    for row, text, pair in followed(texts, half_of(progress, 0)):
        pair = None if pd.isna(pair) else pair
        try:
            sentence = encoder.tokenize(text, pair)
            target = asked(sentence)
            if (text, pair) in taken:
                raise TextError("An earlier row has the same sentence.")
            taken.add((text, pair))
            found = explain(encoder, sentence, target, heads=())
        except TextError as error:
            rejected.append((row, str(error)))
        else:
            usable.append((row, found))
    if not usable:
        raise ValueError(
            f"No sentence can be used{f': {rejected[0][1]}' if rejected else '. Give at least one sentence.'}"
        )
    results = [found for _, found in usable]
    lines = [
        (row, one.sentence.text, one.sentence.pair, one.number, float(one.effect.sum()), one.together, len(one.words))
        for row, one in usable
    ]
    sentences = pd.DataFrame(lines, columns=["row", "sentence", "pair", "number", "sum", "together", "words"])
    return TargetReport(
        words=_mean_words(results),
        heads=_mean_heads(encoder, results, progress),
        sentences=sentences.drop(columns="pair") if sentences["pair"].isna().all() else sentences,
        rejected=pd.DataFrame(rejected, columns=["row", "reason"]),
        note=" ".join(usable[-1][1].notes),
    )


def _mean_words(usable: list[Explained]) -> pd.DataFrame:
    places = [
        (number, fold(word.text), "pair" if one.sentence.segments[word.start] else "sentence", effect)
        for number, one in enumerate(usable)
        for word, effect in zip(one.words, one.effect.tolist())
        if not word.is_punctuation
    ]
    effects = pd.DataFrame(places, columns=["sentence", "word", "text", "effect"])
    by_sentence = effects.groupby(["word", "text", "sentence"], sort=False)["effect"].mean()
    lines = [(*word, *_mean(values.to_list())) for word, values in by_sentence.groupby(["word", "text"], sort=False)]
    table = pd.DataFrame(lines, columns=["word", "text", "n", "effect", "low", "high"])
    if all(one.sentence.pair is None for one in usable):
        table = table.drop(columns="text")
    order = table.assign(one=table["n"] < 2, size=-table["effect"].abs()).sort_values(["one", "size"], kind="stable")
    return table.loc[order.index].reset_index(drop=True)


def _mean_heads(encoder: Encoder, usable: list[Explained], progress: Progress) -> pd.DataFrame:
    columns = ["layer", "head", "n", "effect", "low", "high", "by_gradient"]
    if any(found.notes for found in usable):
        return pd.DataFrame(columns=columns)
    by_gradient = torch.stack([found.by_gradient for found in usable]).mean(dim=0)
    leading = leading_heads(encoder, by_gradient)
    without = []
    for found in followed(usable, half_of(progress, 1)):
        values = removed_in_turn(encoder, found.sentence, found.target, leading)
        without.append([value - found.number for value in values])
    run = {head: _mean(values) for head, values in zip(leading, zip(*without))}
    unknown = len(usable), *[float("nan")] * 3
    lines = [(*head, *run.get(head, unknown), float(by_gradient[head])) for head in encoder.all_heads]
    return pd.DataFrame(lines, columns=columns)


def _mean(values: list[float] | tuple[float, ...]) -> tuple[int, float, float, float]:
    low, high = interval(np.array(values)[:, None])
    return len(values), float(np.mean(values)), float(low[0]), float(high[0])
