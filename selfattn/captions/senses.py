"""What the pictures of senses show, in words computed from the numbers; also when it is that averaging does as well."""

import pandas as pd

from selfattn.encoders.capture import Head
from selfattn.senses import ClusterReport, RemovalReport, SeparationReport
from selfattn.senses.unlabelled import CLEAR

FEW_WORDS = 10  # an interval over fewer words says little


def layers(report: SeparationReport) -> str:
    """The curve over layers."""
    table = report.layers
    best = table.iloc[1:].loc[table["accuracy"].iloc[1:].idxmax()]
    n_words = report.words["word"].nunique()
    first, after = table["accuracy"].iloc[0], table["accuracy"].iloc[1]
    text = (
        f"Over {n_words} {_plural('word', n_words)} and {len(report.items)} sentences, the sense can be told from the "
        f"word's vector in {_share(first)} of cases before any attention (from its position alone), {_share(after)} after "
        f"layer 0, and best after layer {best['layer']}: {_share(best['accuracy'])}{_interval(best['low'], best['high'])}. "
        f"Guessing gives {_share(report.chance)} (leave-one-out a little less: the dashed line of shuffled labels). A bag "
        f"of the other words' token vectors, without any encoder, gives {_share(report.bag[0])}."
    )
    if n_words < FEW_WORDS:
        text += f" Only {n_words} {_plural('word', n_words)}: another choice of words may give quite another picture."
    return text


def heads(report: SeparationReport, chosen: tuple[int, int]) -> str:
    """The map of heads: what attention adds, and how often it adds nothing."""
    table = report.heads
    n = len(table)
    sure = table[table["adds_low"] > 0]
    best = table.loc[table["adds"].idxmax()]
    text = (
        f"With its own weights a head tells the sense better than with equal weights on {(table['adds'] > 0).sum()} of {n} "
        f"heads; on {len(sure)} the interval lies above 0 (by chance alone about {round(0.025 * n)} would). "
        f"Most in {_name(best)}: {best['accuracy']:.2f} against {best['uniform']:.2f} with equal weights "
        f"({best['adds']:+.2f}, 95 % interval {best['adds_low']:+.2f} to {best['adds_high']:+.2f}). "
        f"The word's own value alone does as well as the head, or better, on "
        f"{(table['own_value'] >= table['accuracy']).sum()} heads. "
    )
    if len(sure) < n / 4:
        text += "So for most heads, averaging the sentence would do as well. "
    row = table[(table["layer"] == chosen[0]) & (table["head"] == chosen[1])].iloc[0]
    return (
        text
        + f"{_name(row)}: {row['accuracy']:.2f}, equal weights {row['uniform']:.2f}, own value {row['own_value']:.2f}."
    )


def threshold(report: SeparationReport) -> str:
    """The permutation control."""
    passed = (report.heads["p_value"] < 0.05).sum()
    return (
        f"Permutation control: the best of {len(report.heads)} heads under shuffled labels ({report.shuffles:,} shuffles) "
        f"exceeds {report.threshold:.2f} in one of 20 cases. {passed} heads do: a floor, and no evidence that attention "
        "found the sense."
    )


def words(frame: pd.DataFrame) -> str:
    """The words ranked (senses_charts.words_frame)."""
    best, worst = frame.iloc[0], frame.iloc[-1]
    return (
        f"Told best after the last layer: {best['word']} ({best['accuracy']:.2f}); "
        f"worst: {worst['word']} ({worst['accuracy']:.2f})."
    )


def sentences(found: pd.DataFrame, name: str) -> str:
    """One head's sentences (SeparationReport.sentences)."""
    right = (found["score"] == 1).sum()
    ties = ((found["score"] > 0) & (found["score"] < 1)).sum()
    return f"{name} tells {right} of {len(found)} sentences right" + (f", {ties} are ties." if ties else ".")


def removal(report: RemovalReport, kind: str) -> str:
    """The mean effects of removing heads, and whether their ranking can be relied on."""
    table = report.heads
    largest = table.loc[table[kind].abs().idxmax()]
    sure = ((table[f"{kind}_low"] > 0) | (table[f"{kind}_high"] < 0)).sum()
    pairs = report.pairs.groupby("same_sense")["cosine"]
    text = (
        f"Mean over {(~report.pairs['same_sense']).sum()} pairs of different senses (mean cosine {pairs.mean()[False]:.2f}) and "
        f"{report.pairs['same_sense'].sum()} of the same sense ({pairs.mean()[True]:.2f}). Largest: {_name(largest)} with "
        f"{largest[kind]:+.4f} ({largest[f'{kind}_low']:+.4f} to {largest[f'{kind}_high']:+.4f}); on {sure} of {len(table)} "
        "heads the interval leaves out 0. "
    )
    reliability = report.reliability[kind]
    if report.reliable(kind):
        return text + f"Two halves of the words agree on the ranking of the heads (reliability {reliability:.2f})."
    found = f"{reliability:.2f}, below .80" if reliability == reliability else "too few words to tell"
    return text + f"The ranking of the heads is UNRELIABLE: two halves of the words don't agree on it ({found})."


def clusters(report: ClusterReport) -> str:
    """Clusters of unlabelled sentences."""
    clear = (report.words["silhouette"] >= CLEAR).sum()
    n = len(report.words)
    return (
        f"The vectors of {clear} of {n} {_plural('word', n)} fall into clusters with some distance between them (mean silhouette "
        f"of {CLEAR} and more). These are clusters, not senses: nobody has looked at what they have in common."
    )


def _name(row: pd.Series) -> str:
    return str(Head(int(row["layer"]), int(row["head"])))


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def _interval(low: float, high: float) -> str:
    return f" (95 % interval over words {100 * low:.0f} to {100 * high:.0f} %)" if low == low else ""


def _plural(word: str, n: int) -> str:
    return word if n == 1 else f"{word}s"
