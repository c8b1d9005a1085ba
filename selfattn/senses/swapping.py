"""Which heads bring a word's sense in: each one's output at the word swapped for that of another sense (interchange).

A row's word moves along the axis between the senses when a head's output there becomes the mean of the other senses' (the
effect), and less when it becomes the mean of its own sense's other rows (the control). Their difference, in parts of the gap
between the senses, is the head's share. What it doesn't say: donors can carry topic as well as sense; and only the word's own
position is swapped, so what other positions gathered for it counts to the head that fetched it.
Sources: Geiger et al. 2021, "Causal Abstractions of Neural Networks"; Nanda 2023, "Attribution Patching", and Syed et al.
2023, "Attribution Patching Outperforms Automated Circuit Discovery" (by gradient); Westfall and Young 1993 (the maximum over
all heads); Spearman 1910 and Brown 1910 (what halves say about the whole).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from selfattn.analysis.gradients import LEADING
from selfattn.analysis.usable_rows import named_rows, rejecting_what_breaks_down, require_rows
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.notebook_repr import OfTables
from selfattn.senses.resampling import SEED, p_values, percentiles, rank_correlations, word_draws, word_halves
from selfattn.senses.sense_axis import Draws, WordSlopes, gaps
from selfattn.senses.swapped_word import SwappedWord

PER_SENSE = 4  # rows: an axis and its donors are different ones
PER_HALF = 3  # rows of each sense: one on the axis, one the donor, one that is moved
MOST = 128  # rows a word
RESAMPLES, SHUFFLES, HALVINGS, SHUFFLED = 1000, 1000, 50, 20
SIZES = (1, 2, 3, 5, 8, 12, 20, 36, 72)  # heads swapped together
SMALL_GAP = 0.03
MEANS = ("gap", "effect", "control", "exact", "all_heads", "shuffled")  # over words, NaN where one word's is
ALL = "all"  # the word of the rows that stand for all words together


@dataclass(frozen=True, eq=False, repr=False)
class SwapReport(OfTables):
    """The result of `interchange`. Low and high: 95 % over resamples of a word's rows; of word "all": of the words."""

    heads: pd.DataFrame
    # word, layer, head, share (signed, of the gap), low, high, p_value (one-sided, against the maximum over all heads),
    # effect, control (in units of r), exact (the share, run: of the eight highest by gradient, or of all; else NaN);
    # with two words and more also word "all": means over words, share by the mean gap
    sources: pd.DataFrame
    # word, row (the table's index label), layer, head, token (position), text, share: what of the effect comes from each
    # token, by gradient. Adds up to effect / gap, not to share. After layer 0 a position has itself taken in context.
    reliability: pd.DataFrame
    # word, n (rows; of "all" words), halves, shuffled, spearman_brown, leads (in what part of the resamples the leader's share
    # is the largest, by gradient: a ranking on which halves agree need not keep its leader), own
    gaps: pd.DataFrame  # word, gap, low, high, all_heads (every head swapped at once, exactly), all_heads_control
    rejected: pd.DataFrame  # row (the table's index label), reason, and the row's own columns

    def leader(self, word: str) -> pd.Series:
        """The row of `heads` whose head brings the sense in most, by its exact share."""
        own = self.heads[self.heads["word"] == word]
        return own.loc[own["exact"].idxmax()]

    @property
    def small_gaps(self) -> dict[str, str]:
        """The words whose shares say nothing, each with the reason: their senses hardly differ in this encoder."""
        small = self.gaps[~((self.gaps["gap"] >= SMALL_GAP) & ~(self.gaps["low"] <= 0))]
        return {
            row.word: f'The senses of "{row.word}" lie {row.gap:.3f} apart'
            + (f", under {SMALL_GAP}." if not row.gap >= SMALL_GAP else f" (95 % interval from {row.low:.3f}).")
            for row in small.itertuples()
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class _Result:
    """The numbers of one word, or of all together; heads are flattened, layer by layer."""

    word: str
    n: int  # rows; of all together, words
    gap: float
    effect: np.ndarray  # (n_heads,)
    control: np.ndarray
    exact: np.ndarray  # (n_heads,): D, where it was run; else NaN
    all_heads: np.ndarray  # (2,): effect and control of all heads at once
    gap_draws: np.ndarray  # (resamples,): none of one word over words, like `draws`
    draws: np.ndarray  # (resamples, n_heads): D
    shuffled: np.ndarray  # (shuffles, n_heads): D
    halves: np.ndarray  # (halvings, 2, n_heads): D; empty under six rows a sense, or four words
    shuffled_halves: np.ndarray  # (draws x halvings, 2, n_heads)

    @property
    def difference(self) -> np.ndarray:
        """D (n_heads,): what each head moves beyond its control."""
        return self.effect - self.control

    @property
    def leading(self) -> set[int]:
        """The eight heads of the largest shares."""
        return set((self.difference / self.gap).argsort()[-LEADING:].tolist())


@rejecting_what_breaks_down
def interchange(
    encoder: Encoder,
    frame: pd.DataFrame,
    how: str = "gradient",
    progress: Progress = silent,
) -> SwapReport:
    """Measure how far each head's output moves a word between its senses: a table with the columns sentence, word, sense.

    Each word needs two senses with four rows each. how="gradient" takes each effect to first order, and then runs the eight
    heads that lead in a word and the eight that lead over all words; "exact" runs every swap (effect, control and share; the
    rest by gradient), at n_layers * n_heads * 4 passes a sentence. progress(done, total) is called after each sentence, of
    which each comes twice by gradient; an exception it raises ends the computation. Raises NotRecomputable where heads'
    outputs can't be swapped or differentiated by, ValueError where a column is missing or no word is left.
    """
    encoder.check_patchable()
    if how not in ("gradient", "exact"):
        raise ValueError(f'how must be "gradient" or "exact", got {how!r}.')
    items, rejected = require_rows(encoder, frame, per_sense=PER_SENSE, most=MOST)
    each, together = [(head,) for head in encoder.all_heads], tuple(encoder.all_heads)
    sets = [together] if how == "gradient" else [*each, together]
    words, results, sources, done, total = [], [], [], count(1), len(items) * (1 if how == "exact" else 2)
    for name, rows in items.groupby("word"):
        word, parts, swapped = SwappedWord.read(encoder, str(name), rows), {}, {}
        for i, found in word.slopes():
            parts[i], swapped[i] = found, word.exactly(i, sets)
            progress(next(done), total)
        slopes, table = word.joined(parts)
        words.append(word)
        results.append(_result(word, slopes, [swapped[i] for i in range(len(rows))]))
        sources.append(table)
    over_words = _over_words(results)
    if how == "gradient":
        common = over_words.leading if len(results) > 1 else set()
        for word, result in zip(words, results):
            ran, run = sorted(result.leading | common), []
            for i in range(len(word.placed)):
                run.append(word.exactly(i, [each[head] for head in ran]))
                progress(next(done), total)
            effect, control = word.mean(run)
            result.exact[ran] = effect - control
        over_words = _over_words(results)
    return SwapReport(
        **_tables(encoder, [*results, over_words] if len(results) > 1 else results),
        sources=pd.concat(sources, ignore_index=True),
        reliability=_reliability([*results, over_words]),
        rejected=named_rows(rejected),
    )


@rejecting_what_breaks_down
def leading_heads(
    encoder: Encoder, frame: pd.DataFrame, sizes: Sequence[int] = SIZES, sets: int = 20, progress: Progress = silent
) -> pd.DataFrame:
    """The share of the gap that the k leading heads make together, swapped exactly, beside other sets of k: a row a word and k.

    word, k, leading, others, random (the mean of `sets` sets), random_low, random_high (95 % of the sets). Shares are effect
    minus control. Heads are ranked by gradient on one half of each word's rows (dealt alternately in each sense) and swapped on
    the other, and the halves exchanged; others: ranked by the mean effect minus control over all rows of the other words, and
    swapped on the same halves (NaN without other words). Each word needs two senses with eight rows each. Runs
    4 * len(sizes) * (sets + 2) copies a sentence. progress(done, total) is called after each sentence, of which each comes
    twice; an exception it raises ends the computation. Raises as `interchange` does.
    """
    items, _ = require_rows(encoder, frame, per_sense=2 * PER_SENSE, most=MOST)
    sizes = [k for k in sizes if k <= len(encoder.all_heads)]
    words, differences, tables, done = [], [], [], count(1)
    for name, rows in items.groupby("word"):
        word, parts = SwappedWord.read(encoder, str(name), rows), {}
        for row, found in word.slopes():
            parts[row] = found
            progress(next(done), 2 * len(items))
        dealt = pd.Series(word.senses).groupby(word.senses).cumcount().to_numpy() % 2
        among = np.stack([dealt == 0, dealt == 1, dealt >= 0])
        differences.append(word.joined(parts)[0].differences(Draws.of(word.senses[None], among)).numpy())
        words.append((word, dealt))
    for at, (word, dealt) in enumerate(words):
        of_others, shares = [each[2] for each in differences[:at] + differences[at + 1 :]], []
        for half in (0, 1):
            rankings = [differences[at][half], *([np.mean(of_others, axis=0)] if of_others else [])]
            generator = np.random.default_rng([SEED, half, *word.name.encode()])  # each half and word has its own sets
            drawn = [generator.permutation(len(encoder.all_heads)) for _ in range(sets)]
            orders = [*((-each).argsort(kind="stable") for each in rankings), *drawn]
            chosen = [tuple(encoder.all_heads[head] for head in order[:k]) for k in sizes for order in orders]
            others = word.folds(dealt != half)
            difference = torch.zeros(len(chosen), dtype=torch.float64)
            for i in np.flatnonzero(dealt != half):
                effect, control = word.exactly(int(i), chosen, others)
                difference += others[0].row_means[0, i] * (effect - control)
                progress(next(done), 2 * len(items))
            gap = gaps(Draws.of(word.senses[None], (dealt != half)[None]), word.gram)
            shares.append((difference / gap).reshape(len(sizes), -1).numpy())
        share, random = np.mean(shares, axis=0), np.concatenate([half[:, len(rankings) :] for half in shares], axis=1)
        low, high = np.percentile(random, [2.5, 97.5], axis=1)
        theirs = share[:, 1] if of_others else np.nan
        columns = {"leading": share[:, 0], "others": theirs, "random": random.mean(axis=1)}
        tables.append(pd.DataFrame({"word": word.name, "k": sizes, **columns, "random_low": low, "random_high": high}))
    return pd.concat(tables, ignore_index=True)


def _result(word: SwappedWord, slopes: WordSlopes, swapped: Sequence[Tensor]) -> _Result:
    """swapped: `exactly` of each row; the last set is all heads, and where there are others, they are each head alone."""
    *exact, all_heads = word.mean(swapped).T
    effect, control = np.transpose(exact) if exact else torch.cat(slopes.effects(word.once)).numpy()
    # Each word has its own shuffles: rows at one place in every word's list may have more in common than their label.
    generator = np.random.default_rng([SEED, *word.name.encode()])
    shuffles = generator.permuted(np.tile(word.senses, (SHUFFLES, 1)), axis=1)
    resamples = Draws.of(word.senses[None], _resamples(word.senses))
    halves = shuffled_halves = np.zeros((0, 2, len(effect)))
    if np.bincount(word.senses).min() >= 2 * PER_HALF:
        halves = _half_differences(slopes, word.senses[None])
        shuffled_halves = _half_differences(slopes, shuffles[:SHUFFLED])
    return _Result(
        word=word.name,
        n=len(word.senses),
        gap=float(gaps(word.once, word.gram)[0]),
        effect=effect,
        control=control,
        exact=effect - control if exact else np.full(len(effect), np.nan),
        all_heads=all_heads,
        gap_draws=gaps(resamples, word.gram).numpy(),
        draws=slopes.differences(resamples).numpy(),
        shuffled=slopes.differences(Draws.of(shuffles, np.ones(len(word.senses)))).numpy(),
        halves=halves,
        shuffled_halves=shuffled_halves,
    )


def _over_words(words: Sequence[_Result]) -> _Result:
    """All words together: the means, over resamples and halves of the words."""
    n, differences = len(words), np.stack([r.difference for r in words])
    counts = word_draws(n, RESAMPLES if n > 1 else 0)
    shuffled = np.stack([r.shuffled for r in words])
    # As in a word: a half of one word says nothing about words.
    halvings = HALVINGS if n >= 4 else 0
    return _Result(
        word=ALL,
        n=n,
        **{name: np.mean([getattr(r, name) for r in words], axis=0) for name in MEANS},
        gap_draws=counts @ np.array([r.gap for r in words]),
        draws=counts @ differences,
        halves=word_halves(differences[:, None], halvings),
        shuffled_halves=word_halves(shuffled[:, :SHUFFLED], halvings),
    )


def _resamples(senses: np.ndarray) -> np.ndarray:
    """How often each row stands in each resample, drawn within its sense: (resamples, n).

    Drawn again where a sense has copies of fewer than three rows: with two no donor is left for the control.
    """
    generator = np.random.default_rng(SEED)
    counts = np.zeros((RESAMPLES, len(senses)))
    for sense in np.unique(senses):
        own = np.flatnonzero(senses == sense)
        for draw in range(RESAMPLES):
            while (counts[draw, own] > 0).sum() < PER_HALF:
                counts[draw, own] = np.bincount(generator.integers(len(own), size=len(own)), minlength=len(own))
    return counts


def _half_differences(slopes: WordSlopes, labellings: np.ndarray) -> np.ndarray:
    """D in both halves of 50 random halvings within each sense, for each labelling: (labellings x 50, 2, n_heads)."""
    generator = np.random.default_rng(SEED)
    senses, halves = [], []
    for labels in np.repeat(labellings, HALVINGS, axis=0):
        half = np.zeros(len(labels))
        for sense in np.unique(labels):
            own = generator.permutation(np.flatnonzero(labels == sense))
            half[own[: len(own) // 2]] = 1
        senses += [labels, labels]
        halves += [half, 1 - half]
    return slopes.differences(Draws.of(np.stack(senses), np.stack(halves))).unflatten(0, (-1, 2)).numpy()


def _tables(encoder: Encoder, results: Sequence[_Result]) -> dict[str, pd.DataFrame]:
    """The report's heads and gaps."""
    heads = [
        pd.DataFrame(encoder.all_heads, columns=["layer", "head"]).assign(
            word=r.word,
            share=r.difference / r.gap,
            **dict(zip(("low", "high"), percentiles(r.draws / r.gap_draws[:, None]))),
            p_value=p_values(r.difference, r.shuffled.T),
            effect=r.effect,
            control=r.control,
            exact=r.exact / r.gap,
        )
        for r in results
    ]
    gap = [(r.word, r.gap, *percentiles(r.gap_draws), *r.all_heads) for r in results]
    return {
        "heads": pd.concat(heads, ignore_index=True)[["word", *heads[0].columns.drop("word")]],
        "gaps": pd.DataFrame(gap, columns=["word", "gap", "low", "high", "all_heads", "all_heads_control"]),
    }


def _reliability(results: Sequence[_Result]) -> pd.DataFrame:
    """The report's table: words, and last all together."""
    rows = []
    for r in results:
        halves, shuffled = (_mean(rank_correlations(*h.swapaxes(0, 1))) for h in (r.halves, r.shuffled_halves))
        leads = _mean(r.draws.argmax(axis=1) == np.nanargmax(r.exact))  # the head that `leader` names
        others = [other.difference for other in results[:-1] if other is not r]
        own = _partial(r.halves, np.mean(others, axis=0)) if others and r.word != ALL else np.nan
        rows.append((r.word, r.n, halves, shuffled, 2 * halves / (1 + halves) if halves > 0 else np.nan, leads, own))
    return pd.DataFrame(rows, columns=["word", "n", "halves", "shuffled", "spearman_brown", "leads", "own"])


def _partial(halves: np.ndarray, others: np.ndarray) -> float:
    """The mean rank correlation of two halves given what the other words' heads do."""
    first, second = halves.swapaxes(0, 1)
    between, one, two = (
        rank_correlations(*pair) for pair in ((first, second), (first, others[None]), (second, others[None]))
    )
    return _mean((between - one * two) / np.sqrt((1 - one**2) * (1 - two**2)))


def _mean(values: np.ndarray) -> float:
    """NaN where there are none."""
    return float(values.mean()) if len(values) else np.nan
