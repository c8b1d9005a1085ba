"""Captions of the senses' pictures: what separates them, and how often averaging or chance would do as well."""

import numpy as np
import pandas as pd

from selfattn import numbers
from selfattn.encoders.capture import Head
from selfattn.senses import ClusterReport, RemovalReport, SeparationReport, SwapReport
from selfattn.senses.removing import RELIABLE
from selfattn.senses.swapping import ALL
from selfattn.senses.unlabelled import CLEAR

LEADS = 0.95  # in what part of the resamples a head must lead to be called the leader
EVEN = 0.02  # of an accuracy: nearer to guessing than this is guessing
FEW_WORDS = 10  # an interval over fewer words says little


def swaps(report: SwapReport) -> str:
    """The map of shares over all words: the head that leads, how often, all heads at once, and what follows from it."""
    table, gap, agreement = _of(report, ALL)
    best = report.leader(ALL)
    text = (
        f"Over {_words(int(agreement['n']))}: {_long(best)} brings in most, {numbers.share(best['exact'])} of the gap between "
        f"the senses{_sure(best)}."
    )
    if agreement["leads"] == agreement["leads"]:
        other = "" if agreement["leads"] >= LEADS else ": with other words another head might"
        text += f" It leads in {numbers.share(agreement['leads'])} of resamples of the words{other}."
    return (
        f"{text} {_all_heads(gap, len(table))} So the sense comes in by "
        f"{'this head above all' if best['exact'] >= 0.5 else 'many heads, and no single one is its place'}."
    )


def reliable_words(report: SwapReport) -> str:
    """In how many words, and which, the ranking of the heads can be relied on."""
    words = report.reliability[report.reliability["word"] != ALL]
    names = words["word"][words["spearman_brown"] >= RELIABLE]
    if words["halves"].isna().all():
        return "How far each word's ranking of the heads can be relied on isn't known here: it takes six sentences of each sense."
    return (
        f"Word by word, the ranking of the heads can be relied on in {len(names)} of {_words(len(words))} (Spearman-Brown "
        f"{numbers.decimal(RELIABLE)} and more)" + (f": {', '.join(names)}." if len(names) else ".")
    )


def together(shares: pd.DataFrame) -> str:
    """The leading heads swapped together, beside as many drawn at random (of senses.leading_heads, several words)."""
    means = shares.groupby("k")[["leading", "random"]].mean()
    few = means.index[len(means) // 2]
    text = (
        f"Mean over {_words(shares['word'].nunique())}, each set swapped at once, exactly: the {few} leading heads of a word "
        f"bring in {numbers.share(means['leading'][few])} of the gap, {few} random ones {numbers.share(means['random'][few])}."
    )
    half, behind = means.index[means["leading"] >= 0.5], means.index[~(means["leading"] > means["random"])]
    if len(half):
        text += f" Half of the gap takes {half[0]} leading heads or fewer."
    if len(behind):
        return f"{text} At {', '.join(map(str, behind))} the leading heads do no better than random ones."
    return (
        f"{text} Heads are ranked on one half of a word's sentences and swapped in the other, where random ones are drawn anew "
        "for each half and word. So the ranking holds for sentences that it wasn't made on."
    )


def swaps_in_word(report: SwapReport, word: str, chosen: tuple[int, int]) -> str:
    """One word's map of shares: its leading head with effect and control, how far the ranking holds, the chosen head."""
    table, gap, agreement = _of(report, word)
    best = report.leader(word)
    text = (
        f'In "{word}" {_long(best)} brings in most, {numbers.share(best["exact"])} of the gap{_sure(best)}. Its output from the '
        f"other sense moves the word {numbers.effect(best['effect'])}; from the same sense, the control, "
        f"{numbers.effect(best['control'])}."
    )
    if agreement["leads"] == agreement["leads"]:
        text += f" It leads in {numbers.share(agreement['leads'])} of resamples of the sentences."
    text = f"{text} {_all_heads(gap, len(table))}"
    own = table[(table["layer"] == chosen[0]) & (table["head"] == chosen[1])]
    if own.empty or _name(best) == _name(own.iloc[0]):
        return text
    row = own.iloc[0]
    share = numbers.share(row["exact"]) if np.isfinite(row["exact"]) else f"{numbers.share(row['share'])} by gradient"
    return f"{text} {_name(row)}: {share}{_sure(row)}."


def ranking(report: SwapReport, word: str) -> str:
    """Whether the ranking of the heads in a word, or over all words, holds: two halves, beside two under shuffled labels."""
    agreement, of = _of(report, word)[2], "words" if word == ALL else "sentences"
    if agreement["halves"] != agreement["halves"]:
        few = "four words" if of == "words" else "six sentences of each sense"
        return f"How far the ranking of the heads can be relied on isn't known: it takes {few}."
    whole = agreement["spearman_brown"]
    text = (
        f"Two halves of the {of} agree on the ranking of the heads at {numbers.decimal(agreement['halves'])} (rank correlation; "
        f"with shuffled labels {numbers.decimal(agreement['shuffled'])})"
    )
    if whole == whole:
        text += f"; for all of them that makes {numbers.decimal(whole)} (Spearman-Brown)"
    if whole >= RELIABLE:
        return f"{text}, so the ranking can be relied on."
    return f"{text}. Under {numbers.decimal(RELIABLE)} the ranking isn't to be relied on."


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


def _sure(row: pd.Series) -> str:
    """A share's interval and p, where they are known."""
    if row["low"] != row["low"]:
        return ""
    p = numbers.decimal(row["p_value"], 3)
    ran_too = np.isfinite(row["exact"]) and not np.isclose(row["exact"], row["share"], rtol=1e-9)
    by_gradient = f"by gradient {numbers.share(row['share'])}, " if ran_too else ""
    return f" ({by_gradient}95 % interval {numbers.span(row['low'], row['high'], numbers.share)}, p = {p})"


def _all_heads(gap: pd.Series, n_heads: int) -> str:
    together, control = (numbers.share(gap[name] / gap["gap"]) for name in ("all_heads", "all_heads_control"))
    return f"All {n_heads} heads at once: {together}; from the same sense, the control, {control}."


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
    n, better, sure = len(table), (table["adds"] > 0).sum(), (table["adds_low"] > 0).sum()
    best = table.loc[table["adds"].idxmax()]
    text = (
        f"On {better} of {n} heads attention adds something: the head separates the senses better than the better of two "
        f"baselines, equal weights and the word's own value, taken word by word. On {sure} the interval lies above 0 (by chance "
        f"about {round(0.025 * n)} would). {_name(best)} adds most, {numbers.change(best['adds'])} (95 % interval "
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


def removal(report: RemovalReport, kind: str) -> str:
    """The mean effects of removing heads, and whether their ranking can be relied on."""
    table, pairs = report.heads, report.pairs
    low, high = table[f"{kind}_low"], table[f"{kind}_high"]
    place, (mean, most) = table[kind].abs().idxmax(), report.chance[kind]
    different, same = pairs[~pairs["same_sense"]], pairs[pairs["same_sense"]]
    text = (
        f"Mean over {len(different)} pairs of different senses (mean cosine {numbers.cosine(different['cosine'].mean())}) and "
        f"{len(same)} of the same sense ({numbers.cosine(same['cosine'].mean())}), each head removed at every position. Largest: "
        f"{_name(table.loc[place])} with {_effect(table[kind][place])} ({numbers.span(low[place], high[place], _effect)}). On "
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


def _long(row: pd.Series) -> str:
    return f"head {int(row['head'])} of layer {int(row['layer'])}"


def _effect(value: float) -> str:
    return numbers.change(value, 4)


def _words(n: int) -> str:
    return f"{n} word{'s' * (n != 1)}"
