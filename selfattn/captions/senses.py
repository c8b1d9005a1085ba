"""Captions of the Senses page: how well layers and heads separate the senses, beside averaging and chance."""

import pandas as pd

from selfattn import numbers
from selfattn.encoders.capture import Head
from selfattn.senses import SeparationReport

EVEN = 0.02  # an accuracy nearer to guessing than this counts as guessing
FEW_WORDS = 10  # an interval over fewer words says little


def layers(report: SeparationReport) -> str:
    """Describe the curve over layers, and explain why it may start below guessing."""
    table = report.layers
    best = table.iloc[1 + table["accuracy"].iloc[1:].argmax()]
    after = numbers.share(table["accuracy"].iloc[1])
    interval = f" (95 % interval over words {numbers.span(best['low'], best['high'], numbers.share)})"
    n_words = report.words["word"].nunique()
    text = (
        f"Over {_words(n_words)} and {len(report.items)} sentences: the word's vector separates the senses in {after} of "
        f"cases after layer 0. Best after layer {best['layer']}: "
        f"{numbers.share(best['accuracy'])}{interval if best['low'] == best['low'] else ''}. "
        f"Guessing gives {numbers.share(report.chance)}; a bag of the other words' token vectors {numbers.share(report.bag[0])}, "
        f"without any encoder. {_before_attention(table.iloc[0], report.chance)}"
    )
    return text + (f" {_words(n_words)}: another choice may give quite another picture." if n_words < FEW_WORDS else "")


def _before_attention(start: pd.Series, chance: float) -> str:
    first, each, shuffled = (numbers.share(start[name]) for name in ("accuracy", "each_left_out", "shuffled"))
    text = f"Before any attention it is {first}"
    # Embeddings that mix neighbours (MobileBERT) already separate senses; embeddings without positions (T5) have ties.
    if start["accuracy"] >= start["shuffled"] or not abs(start["each_left_out"] - chance) <= EVEN:
        return f"{text}; with one sentence of each sense left out, {each}; with shuffled labels, {shuffled}."
    return (
        f"{text}, less than with shuffled labels ({shuffled}), and that shows nothing about the senses: a sentence that is left "
        "out of its own sense's average moves it away, while one with the word at the same position may still stand in the "
        f"other sense's. With one sentence of each sense left out, those at one position, it is {each}: no better than guessing. "
        "The word's own value in layer 0 has the same fault."
    )


def heads(report: SeparationReport, chosen: tuple[int, int]) -> str:
    """Describe the map of heads: how much attention adds, and on how many heads it adds nothing."""
    table = report.heads
    n, better = len(table), (table["adds"] > 0).sum()
    sure, below = (table["adds_low"] > 0).sum(), (table["adds_high"] < 0).sum()
    best = table.loc[table["adds"].idxmax()]
    text = (
        f"On {better} of {n} heads attention adds something: the head separates the senses better than the better of two "
        f"baselines, equal weights and the word's own value, chosen word by word on one half of the sentences and scored on the "
        f"other. On {sure} the interval lies above 0 (by chance about {round(0.025 * n)} would), on {below} below. "
        f"{_name(best)} adds most, {numbers.change(best['adds'])} (95 % interval "
        f"{numbers.span(best['adds_low'], best['adds_high'], numbers.change)}): {_beside_baselines(best)}. "
    )
    if sure < n / 4:
        text += (
            "So most heads separate the senses no better than an average over the sentence, or the word alone, would. "
        )
    own = table[(table["layer"] == chosen[0]) & (table["head"] == chosen[1])].iloc[0]
    return f"{text}{_name(own)}: {_beside_baselines(own)}."


def _beside_baselines(row: pd.Series) -> str:
    accuracy, uniform, value = (numbers.weight(row[kind]) for kind in ("accuracy", "uniform", "own_value"))
    return f"{accuracy}, equal weights {uniform}, own value {value}"


def chance(report: SeparationReport) -> str:
    """Describe the permutation test: how many heads beat shuffled labels, and the limit of that result."""
    return (
        f"Under shuffled labels the best of {len(report.heads)} heads exceeds {numbers.weight(report.threshold)} once in "
        f"twenty times ({numbers.count(report.shuffles)} shuffles). {(report.heads['p_value'] < 0.05).sum()} heads beat "
        "that. That does not show that attention found the sense."
    )


def words(frame: pd.DataFrame) -> str:
    """Name the words that are separated best and worst. frame: tidy_tables.words_frame."""
    best, worst = (f"{row['word']} ({numbers.weight(row['accuracy'])})" for _, row in frame.iloc[[0, -1]].iterrows())
    return f"Separated best after the last layer: {best}; worst: {worst}."


def sentences(table: pd.DataFrame, head: str) -> str:
    """Count a head's right answers and ties. table: SeparationReport.sentences."""
    right, ties = (table["score"] == 1).sum(), ((table["score"] > 0) & (table["score"] < 1)).sum()
    tied = f"; {ties} {'is a tie' if ties == 1 else 'are ties'}" if ties else ""
    return f"{head} gets the sense right in {right} of {len(table)} sentences{tied}."


def _name(row: pd.Series) -> str:
    return str(Head(int(row["layer"]), int(row["head"])))


def _words(n: int) -> str:
    return f"{n} word{'s' * (n != 1)}"
