"""Captions of the senses' pictures: what separates them, and how often averaging or chance would do as well."""

import pandas as pd

from selfattn import numbers
from selfattn.encoders.capture import Head
from selfattn.senses import ClusterReport, RemovalReport, SeparationReport
from selfattn.senses.removed_heads import RELIABLE
from selfattn.senses.unlabelled import CLEAR

FEW_WORDS = 10  # an interval over fewer words says little


def layers(report: SeparationReport) -> str:
    """The curve over layers."""
    table = report.layers
    best = table.iloc[1 + table["accuracy"].iloc[1:].argmax()]
    first, after = (numbers.share(accuracy) for accuracy in table["accuracy"].iloc[:2])
    interval = f" (95 % interval over words {numbers.span(best['low'], best['high'], numbers.share)})"
    n_words = report.words["word"].nunique()
    text = (
        f"Over {_words(n_words)} and {len(report.items)} sentences: the word's vector separates the senses in {first} of cases "
        f"before any attention (from its position alone) and in {after} after layer 0. Best after layer {best['layer']}: "
        f"{numbers.share(best['accuracy'])}{interval if best['low'] == best['low'] else ''}. "
        f"Guessing gives {numbers.share(report.chance)}; shuffled labels, the dashed line, a little less, because each "
        f"sentence is left out of its own average. A bag of the other words' token vectors gives {numbers.share(report.bag[0])}, "
        "without any encoder."
    )
    return text + (f" {_words(n_words)}: another choice may give quite another picture." if n_words < FEW_WORDS else "")


def heads(report: SeparationReport, chosen: tuple[int, int]) -> str:
    """The map of heads: what attention adds, and how often it adds nothing."""
    table = report.heads
    n, better, sure = len(table), (table["adds"] > 0).sum(), (table["adds_low"] > 0).sum()
    best = table.loc[table["adds"].idxmax()]
    own = table[(table["layer"] == chosen[0]) & (table["head"] == chosen[1])].iloc[0]
    text = (
        f"On {better} of {n} heads the head's own weights separate the senses better than equal weights; on {sure} the "
        f"interval lies above 0 (by chance about {round(0.025 * n)} would). {_name(best)} gains most: "
        f"{numbers.weight(best['accuracy'])} against {numbers.weight(best['uniform'])} with equal weights "
        f"({numbers.change(best['adds'])}, 95 % interval {numbers.span(best['adds_low'], best['adds_high'], numbers.change)}). "
        f"On {(table['own_value'] >= table['accuracy']).sum()} heads the word's own value alone does as well or better. "
    )
    if sure < n / 4:
        text += "So for most heads, averaging the sentence would do as well. "
    accuracy, uniform, value = (numbers.weight(own[kind]) for kind in ("accuracy", "uniform", "own_value"))
    return f"{text}{_name(own)}: {accuracy}, equal weights {uniform}, own value {value}."


def chance(report: SeparationReport) -> str:
    """The permutation test: how many heads beat shuffled labels, and what that doesn't show."""
    return (
        f"Under shuffled labels the best of {len(report.heads)} heads exceeds {numbers.weight(report.threshold)} once in "
        f"twenty times ({numbers.count(report.shuffles)} shuffles). {(report.heads['p_value'] < 0.05).sum()} heads beat "
        "that. That does not show that attention found the sense."
    )


def words(frame: pd.DataFrame) -> str:
    """The words, ranked (frames.words_frame)."""
    best, worst = (f"{row['word']} ({numbers.weight(row['accuracy'])})" for _, row in frame.iloc[[0, -1]].iterrows())
    return f"Separated best after the last layer: {best}; worst: {worst}."


def sentences(table: pd.DataFrame, head: str) -> str:
    """One head's sentences (SeparationReport.sentences)."""
    right, ties = (table["score"] == 1).sum(), ((table["score"] > 0) & (table["score"] < 1)).sum()
    tied = f"; {ties} {'is a tie' if ties == 1 else 'are ties'}" if ties else ""
    return f"{head} gets the sense right in {right} of {len(table)} sentences{tied}."


def removal(report: RemovalReport, kind: str) -> str:
    """The mean effects of removing heads, and whether their ranking can be relied on."""
    table, pairs = report.heads, report.pairs
    low, high = table[f"{kind}_low"], table[f"{kind}_high"]
    place, (mean, most) = table[kind].abs().idxmax(), report.chance[kind]
    different, same = pairs[~pairs["same_sense"]], pairs[pairs["same_sense"]]
    text = (
        f"Mean over {len(different)} pairs of different senses (mean cosine {numbers.cosine(different['cosine'].mean())}) and "
        f"{len(same)} of the same sense ({numbers.cosine(same['cosine'].mean())}). Largest: {_name(table.loc[place])} with "
        f"{_effect(table[kind][place])} ({numbers.span(low[place], high[place], _effect)}). On "
        f"{((low > 0) | (high < 0)).sum()} of {len(table)} heads the interval leaves out 0; were the sign of each word's "
        f"effects a coin's, {numbers.decimal(mean, 0)} would on average, and up to {numbers.decimal(most, 0)} in 19 draws of 20. "
    )
    reliability = report.reliability[kind]
    if report.reliable(kind):
        return f"{text}Two halves of the words agree on the ranking of the heads (reliability {numbers.decimal(reliability)})."
    known = f"reliability {numbers.decimal(reliability)}, below {numbers.decimal(RELIABLE)}"
    return (
        f"{text}The ranking of the heads is UNRELIABLE: two halves of the words don't agree on it "
        f"({known if reliability == reliability else 'too few words to tell'})."
    )


def clusters(report: ClusterReport) -> str:
    """Clusters of unlabelled sentences."""
    clear, n = (report.words["silhouette"] >= CLEAR).sum(), len(report.words)
    return (
        f"The vectors of {clear} of {_words(n)} fall into clusters with some distance between them (mean silhouette of "
        f"{numbers.decimal(CLEAR)} and more). These are clusters, not senses: nobody has read what they have in common."
    )


def _name(row: pd.Series) -> str:
    return str(Head(int(row["layer"]), int(row["head"])))


def _effect(value: float) -> str:
    return numbers.change(value, 4)


def _words(n: int) -> str:
    return f"{n} word{'s' * (n != 1)}"
