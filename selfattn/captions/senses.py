"""Captions of the senses' pictures: what separates them, and how often averaging or chance would do as well."""

import numpy as np
import pandas as pd

from selfattn import numbers
from selfattn.encoders.capture import Head
from selfattn.senses import SeparationReport, SwapReport
from selfattn.senses.resampling import interval
from selfattn.senses.swapping import ALL, SHUFFLES

LEADS = 0.95  # of the resamples: in fewer another head might lead
EVEN = 0.02  # of an accuracy: nearer to guessing than this is guessing
FEW_WORDS = 10  # an interval over fewer words says little


def swaps(report: SwapReport) -> str:
    """The map of shares over all words: the head that leads, how often, all heads at once, and what follows from it."""
    table, gap, agreement = _of(report, ALL)
    best = report.leader(ALL)
    return (
        f"Over {_words(int(agreement['n']))}: {_long(best)} brings in most, {numbers.share(best['exact'])} of the gap between "
        f"the senses{_sure(best)}.{_leads(agreement, len(table))} {_all_heads(gap, len(table))} So the sense "
        f"comes in by {'this head above all' if best['exact'] >= 0.5 else 'many heads, and no single one is its place'}."
    )


def leaders(report: SwapReport) -> str:
    """In how many words, and which, the leading head leads in nearly all resamples."""
    words = report.reliability[report.reliability["word"] != ALL]
    names = words["word"][words["leads"] >= LEADS]
    return (
        f"Word by word, the leading head leads in {numbers.share(LEADS)} of resamples and more in {len(names)} of "
        f"{_words(len(words))}{': ' if len(names) else ''}{', '.join(names)}."
    )


def together(shares: pd.DataFrame) -> str:
    """The leading heads swapped together, beside those of the other words and random ones (of senses.leading_heads)."""
    means = shares.groupby("k")[["leading", "others", "random"]].mean()
    few = means.index[len(means) // 2]
    text = (
        f"Mean over {_words(shares['word'].nunique())}, each set swapped at once, exactly, effect minus control: the {few} "
        f"leading heads of a word bring in {numbers.share(means['leading'][few])} of the gap, {few} random ones "
        f"{numbers.share(means['random'][few])}."
    )
    if len(behind := means.index[~(means["leading"] > means["random"])]):
        text += f" At {', '.join(map(str, behind))} the leading heads do no better than random ones."
    else:
        text += " So a leading set beats random sets, on sentences that it wasn't ranked on."
    text += " The line across is the whole gap, 100 %."
    own = shares[shares["k"] == few].eval("leading - others").to_numpy()
    (low,), (high,) = interval(own[:, None])
    if low != low:
        return text
    mostly = "isn't" if own.mean() < (means["leading"] - means["random"])[few] / 2 else "is"
    return (
        f"{text} Most of that {mostly} the word's own: the {few} leading heads of the other words, ranked on more sentences, "
        f"bring in {numbers.share(means['others'][few])} (own minus theirs {numbers.share(own.mean())}, 95 % interval over words "
        f"{numbers.span(low, high, numbers.share)})."
    )


def swaps_in_word(report: SwapReport, word: str, chosen: tuple[int, int]) -> str:
    """One word's map of shares: its leading head with effect and control, how often it leads, all heads, the chosen head."""
    table, gap, agreement = _of(report, word)
    best = report.leader(word)
    text = (
        f'In "{word}" {_long(best)} brings in most, {numbers.share(best["exact"])} of the gap{_sure(best)}.'
        f"{_leads(agreement, len(table))} Its output from the other sense moves the word {numbers.effect(best['effect'])}; from "
        f"the same sense, the control, {numbers.effect(best['control'])}. {_all_heads(gap, len(table))}"
    )
    n = (report.gaps["word"] != ALL).sum()
    if n > 1:
        text += f" Each p is of one word: to browse all {n} is to look {n} times."
    own = table[(table["layer"] == chosen[0]) & (table["head"] == chosen[1])]
    if own.empty or _name(best) == _name(own.iloc[0]):
        return text
    row = own.iloc[0]
    share = numbers.share(row["exact"]) if np.isfinite(row["exact"]) else f"{numbers.share(row['share'])} by gradient"
    return f"{text} {_name(row)}: {share}{_sure(row)}."


def ranking(report: SwapReport, word: str) -> str:
    """How far two halves agree on the ranking of the heads in a word, or over all words, beside two under shuffled labels."""
    agreement, of = _of(report, word)[2], "words" if word == ALL else "sentences"
    if agreement["halves"] != agreement["halves"]:
        few = "four words" if of == "words" else "six sentences of each sense"
        return f"How far two halves of the {of} agree on the ranking of the heads isn't known: it takes {few}."
    text = (
        f"Two halves of the {of} agree on the ranking of the heads at {numbers.decimal(agreement['halves'])} (rank correlation; "
        f"with shuffled labels {numbers.decimal(agreement['shuffled'])})"
    )
    if agreement["spearman_brown"] == agreement["spearman_brown"]:
        text += f"; for all of them that makes {numbers.decimal(agreement['spearman_brown'])} (Spearman-Brown)"
    return f"{text}."


def sources(table: pd.DataFrame, word: str, head: Head) -> str:
    """Which tokens hand over what one head brings to the word in one sentence (rows of SwapReport.sources)."""
    most = table.loc[table["share"].idxmax()]
    total = table["share"].sum()
    text = (
        f'In this sentence {head} moves "{word}" {numbers.share(total)} of the gap (its control not taken off). Most of it comes '
        f'from "{most["text"]}": {numbers.share(most["share"])}.'
    )
    return text if head.layer == 0 else f"{text} After layer 0 a position has itself taken in its context."


def _of(report: SwapReport, word: str) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """One word's heads, its gap and its reliability."""
    heads, gaps, reliability = (t[t["word"] == word] for t in (report.heads, report.gaps, report.reliability))
    return heads, gaps.iloc[0], reliability.iloc[0]


def _leads(agreement: pd.Series, n_heads: int) -> str:
    """In how many resamples the head that was named leads, and what its interval and p are of."""
    leads, of = agreement["leads"], "words" if agreement["word"] == ALL else "sentences"
    return (
        f" It leads in {numbers.share(leads)} of resamples of the {of}"
        f"{'' if leads >= LEADS else f': with other {of} another head might'}. The interval is of this head, not of the largest "
        f"of {n_heads}; p is against the largest of them."
    )


def _sure(row: pd.Series) -> str:
    """A share's interval and p, which is no smaller than the number of shuffles allows."""
    floor = 1 / (1 + SHUFFLES)
    p = "p at most" if np.isclose(row["p_value"], floor, rtol=1e-6, atol=0) else "p ="
    ran_too = np.isfinite(row["exact"]) and not np.isclose(row["exact"], row["share"], rtol=1e-9)
    by_gradient = f"by gradient {numbers.share(row['share'])}, " if ran_too else ""
    interval_ = numbers.span(row["low"], row["high"], numbers.share)
    return f" ({by_gradient}95 % interval {interval_}, {p} {numbers.decimal(row['p_value'], 3)})"


def _all_heads(gap: pd.Series, n_heads: int) -> str:
    """All heads swapped at once, as each alone is counted: effect minus control."""
    return f"All {n_heads} heads at once: {numbers.share((gap['all_heads'] - gap['all_heads_control']) / gap['gap'])}."


def layers(report: SeparationReport) -> str:
    """The curve over layers, and why it may start below what guessing gives."""
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
    # An encoder whose embeddings mix neighbours (MobileBERT) separates something there, one without positions (T5) has ties.
    if start["accuracy"] >= start["shuffled"] or not abs(start["each_left_out"] - chance) <= EVEN:
        return f"{text}; with one sentence of each sense left out, {each}; with shuffled labels, {shuffled}."
    return (
        f"{text}, less than with shuffled labels ({shuffled}), and that shows nothing about the senses: a sentence that is left "
        "out of its own sense's average moves it away, while one with the word at the same position may still stand in the "
        f"other sense's. With one sentence of each sense left out, those at one position, it is {each}: no better than guessing. "
        "The word's own value in layer 0 has the same fault."
    )


def heads(report: SeparationReport, chosen: tuple[int, int]) -> str:
    """The map of heads: what attention adds, and how often it adds nothing."""
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
    """The permutation test: how many heads beat shuffled labels, and what that doesn't show."""
    return (
        f"Under shuffled labels the best of {len(report.heads)} heads exceeds {numbers.weight(report.threshold)} once in "
        f"twenty times ({numbers.count(report.shuffles)} shuffles). {(report.heads['p_value'] < 0.05).sum()} heads beat "
        "that. That does not show that attention found the sense."
    )


def words(frame: pd.DataFrame) -> str:
    """The words, ranked (tidy_tables.words_frame)."""
    best, worst = (f"{row['word']} ({numbers.weight(row['accuracy'])})" for _, row in frame.iloc[[0, -1]].iterrows())
    return f"Separated best after the last layer: {best}; worst: {worst}."


def sentences(table: pd.DataFrame, head: str) -> str:
    """One head's sentences (SeparationReport.sentences)."""
    right, ties = (table["score"] == 1).sum(), ((table["score"] > 0) & (table["score"] < 1)).sum()
    tied = f"; {ties} {'is a tie' if ties == 1 else 'are ties'}" if ties else ""
    return f"{head} gets the sense right in {right} of {len(table)} sentences{tied}."


def _name(row: pd.Series) -> str:
    return str(Head(int(row["layer"]), int(row["head"])))


def _long(row: pd.Series) -> str:
    return f"head {int(row['head'])} of layer {int(row['layer'])}"


def _words(n: int) -> str:
    return f"{n} word{'s' * (n != 1)}"
