"""Find the word that gives a target word its sense, in each of many labelled sentences.

The picked word is the word whose hiding moves the target farthest toward the mean of the target's other senses.
A share is the move toward the other senses, as a fraction of the distance between the sense means.
Sources: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models", section 5;
DeYoung et al. 2020, "ERASER", section 4.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.gradients import SAME
from selfattn.analysis.hiding import hidden_by_head
from selfattn.analysis.targets import Along
from selfattn.analysis.usable_rows import named_rows, rejecting_what_breaks_down, require_rows
from selfattn.encoders.capture import Hide
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.placed_word import PlacedWord
from selfattn.notebook_repr import OfTables
from selfattn.senses.noise import NoiseLevel, noise_counts, noise_level
from selfattn.senses.resampling import SEED, interval, percentiles, rank_correlations, word_draws
from selfattn.senses.word_rankings import WordRankings
from selfattn.words import Word

PER_SENSE = 4  # least number of rows (labelled sentences) for each sense
MOST = 128  # largest number of rows for a word
OTHERS = 2  # least number of other words in a sentence
DEALS = 5  # number of random splits of the rows into halves
RESAMPLES = 1000
NEAR = 0.025  # `chance_of(share)` counts the shares whose absolute value differs from `share` by less than this
# Without sense labels, a finding names a hidden word whose `share` is at least NAMED, and at least CLEAR times the next largest.
NAMED, CLEAR = 0.1, 1.5
GUESS = 0.5  # accuracy of guessing
ALL = "all"  # value of the column `word` in rows about all words
PICKS = ("the word", "any other", "most attended", "nearest")
# The conditions: nothing is hidden, one of PICKS is hidden, or only one of PICKS is visible.
WHAT = ("as it is", *(f"{pick} {how}" for how in ("hidden", "alone") for pick in PICKS))


@dataclass(frozen=True, eq=False, repr=False)
class HiddenWordsReport(OfTables):
    """The result of `hidden_words`. Rows with "all" in the column `word` are means over words.

    low, high: 95 % interval, from resampled sentences; for means over words, from resampled words
    The leading word of a labelled sentence is the hidden word with the largest share (see `words`).
    """

    words: pd.DataFrame
    # row: the labelled sentence's index label in the input table
    # word: the labelled word
    # start: position of the hidden word's first token
    # text: the hidden word
    # share: distance moved / distance between the senses
    # picked: fraction of ten comparisons in which the hidden word is the picked word (has its sentence's largest share).
    # Each comparison takes the sense means from a random half of the labelled word's other rows.
    accuracy: pd.DataFrame  # word, what (one of WHAT), accuracy (0 to 1), low, high
    agreement: pd.DataFrame
    # way: a method of ranking words
    # agreement, low, high: how often the method ranks the picked word first, 0 to 1
    # rank: mean rank correlation with the shares
    between: pd.DataFrame
    # columns of `between`: word
    # senses: "one" for pairs of sentences with the same sense, else "two"
    # named, low, high: fraction of pairs in which each sentence has a word whose share is >= NAMED, and
    # >= CLEAR times the next largest
    # n: number of pairs
    heads: pd.DataFrame
    # columns of `heads`: word, layer, head
    # share, low, high: the leading word's estimated share if it is hidden in this head only
    # leads: how often this head has the largest share, 0 to 1
    one_head: pd.DataFrame
    # columns of `one_head`: word, row (both as in `words`)
    # largest, smallest: over all heads, the leading word's largest and smallest share if it is hidden in that head only
    rejected: pd.DataFrame  # the rejected rows, with the columns row and reason
    reason: str  # why a method of ranking words has no numbers, or ""

    def of(self, word: str = "") -> pd.DataFrame:
        """Return a word's rows of `accuracy`, indexed by `what`. word: "" for the means over all words."""
        words = self.accuracy.iloc[: -len(WHAT)]  # the last rows are means over all words
        if word or len(words) == len(WHAT):
            return words[words["word"] == (word or words["word"].iloc[0])].set_index("what")
        return self.accuracy.iloc[-len(WHAT) :].set_index("what")

    @cached_property
    def named(self) -> pd.DataFrame:
        """The table `words` without punctuation."""
        marks = {text for text in self.words["text"].unique() if Word(text, 0, 1).is_punctuation}
        return self.words[~self.words["text"].isin(marks)]

    @cached_property
    def sentences(self) -> int:
        """The number of labelled sentences."""
        return len(self.words[["word", "row"]].drop_duplicates())

    @property
    def noise(self) -> pd.DataFrame:
        """A row for each share of the distance between the sense means: share, toward, away.

        toward: number of sentences in which hiding a word moves the labelled word toward its other senses by at least this share
        away: number of sentences with such a move away from the other senses
        """
        return noise_counts(*self._extremes)

    @cached_property
    def level(self) -> NoiseLevel:
        """The noise level: a share (column of `words`) counts as more than noise if it is at least this large."""
        return noise_level(*self._extremes, RESAMPLES)

    @cached_property
    def head_level(self) -> NoiseLevel:
        """Like `level`, but for the shares in `one_head`: the leading word is hidden in only one head."""
        known = self.one_head.dropna()
        return noise_level(known["largest"].to_numpy(), known["smallest"].to_numpy(), RESAMPLES)

    def chance_of(self, share: float) -> float:
        """Return the fraction (0 to 1) of negative shares among those in `named` whose absolute value is about `share`."""
        moves = self.named["share"].to_numpy()
        similar = moves[(abs(moves) >= share - NEAR) & (abs(moves) < share + NEAR)]
        return float((similar < 0).mean()) if len(similar) else math.nan

    @cached_property
    def _extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """The largest and the smallest value of the column `share` in each sentence. NaN is left out."""
        shares = self.named.dropna(subset="share").groupby(["word", "row"])["share"]
        return shares.max().to_numpy(), shares.min().to_numpy()

    @property
    def luck(self) -> float:
        """The chance, 0 to 1, that a random word of a sentence has the sentence's largest `share` in the table `words`."""
        return float((1 / self.named.groupby(["word", "row"]).size()).groupby("word").mean().mean())


@dataclass(frozen=True, eq=False, kw_only=True)
class _Judged:
    words: list[tuple[int, str, float, float]]  # start, text, share, picked
    right: list[float]  # accuracy for each of WHAT, mean over the ten halves
    ways: list[tuple[str, float, float]]  # ranking method, agreement, rank
    named: np.ndarray  # (n_rows,) True if a word passes NAMED and CLEAR toward that row's vector
    by_head: np.ndarray  # (n_layers * n_heads,) share if one head hides the leading word; NaN if unknown


@rejecting_what_breaks_down
def hidden_words(encoder: Encoder, frame: pd.DataFrame, progress: Progress = silent) -> HiddenWordsReport:
    """Measure how far a labelled word's vector moves if one other word of its sentence is hidden.

    frame: columns sentence, word, sense; a word needs two senses with four rows each, and a sentence needs two other words
    progress(done, total): called after each sentence; may raise, to stop
    Raises ValueError for a missing column or if no row can be used, NotRecomputable if no word can be hidden.
    Limit: other words still pass on information from the hidden word.
    """
    encoder.check_hideable()
    items, rejected = require_rows(encoder, frame, per_sense=PER_SENSE, most=MOST, others=OTHERS)
    rankings, done = WordRankings(encoder), count(1)
    reports = [
        _of_word(rankings, str(name), rows, lambda: progress(next(done), len(items)))
        for name, rows in items.groupby("word")
    ]
    reason = " ".join(f"{way}: {reason}" for way, reason in rankings.reasons.items())
    return over_words(reports, named_rows(rejected), reason)


def over_words(reports: Sequence[HiddenWordsReport], rejected: pd.DataFrame, reason: str = "") -> HiddenWordsReport:
    """Join reports, each about one target word, into one report."""
    keys = {"accuracy": ["what"], "between": ["senses"], "heads": ["layer", "head"]}
    by_word = {name: [getattr(each, name).drop_duplicates(key) for each in reports] for name, key in keys.items()}
    right = np.stack([each["accuracy"] for each in by_word["accuracy"]])
    by_head = np.stack([each["share"] for each in by_word["heads"]])
    heads = by_word["heads"][0][["layer", "head"]]
    overall = {
        "accuracy": pd.DataFrame({"word": ALL, "what": WHAT, "accuracy": right.mean(axis=0), **_interval(right)}),
        "between": _all_pairs(pd.concat(by_word["between"])),
        "heads": _head_shares(ALL, heads, by_head, np.zeros(len(reports))),
    }
    return HiddenWordsReport(
        words=pd.concat([each.words for each in reports], ignore_index=True),
        agreement=_agreement([each.agreement for each in reports]),
        one_head=pd.concat([each.one_head for each in reports], ignore_index=True),
        rejected=rejected,
        reason=reason,
        **{name: pd.concat([*by_word[name], overall[name]], ignore_index=True) for name in keys},
    )


def _of_word(rankings: WordRankings, name: str, usable: pd.DataFrame, advance: Callable[[], None]) -> HiddenWordsReport:
    encoder, senses, generator = rankings.encoder, usable["sense"].to_numpy(dtype=str), np.random.default_rng(SEED)
    vectors, attention, rows = [], [], []
    for placed in usable["placed"]:
        word = PlacedWord(encoder.encoded(placed), placed.positions)
        vectors.append(word.sentence.vector(encoder.n_layers, word.positions))
        attention.append(rankings.by_attention(word, _groups(placed)))
    units = _units(torch.stack(vectors))
    for i, placed in enumerate(usable["placed"]):
        rows.append(_judged(rankings, placed, attention[i], units, senses, i, _halves(senses, i, generator)))
        advance()
    words = [(at, name, *each) for at, row in zip(usable.index, rows) for each in row.words]
    right, by_head = np.array([row.right for row in rows]), np.array([row.by_head for row in rows])
    ways = pd.DataFrame([each for row in rows for each in row.ways], columns=["way", "agreement", "rank"])
    ways.loc[ways["way"].isin(list(rankings.reasons)), ["agreement", "rank"]] = np.nan
    between = [(name, *each) for each in _between(np.stack([row.named for row in rows]), senses)]
    extremes = {"largest": by_head.max(axis=1), "smallest": by_head.min(axis=1)}
    return HiddenWordsReport(
        words=pd.DataFrame(words, columns=["row", "word", "start", "text", "share", "picked"]),
        accuracy=pd.DataFrame({"word": name, "what": WHAT, "accuracy": right.mean(axis=0), **_interval(right)}),
        agreement=ways.groupby("way", sort=False, as_index=False).mean(),
        between=pd.DataFrame(between, columns=["word", "senses", "named", "low", "high", "n"]),
        heads=_head_shares(name, pd.DataFrame(encoder.all_heads, columns=["layer", "head"]), by_head, senses),
        one_head=pd.DataFrame({"word": name, "row": usable.index, **extremes}),
        rejected=usable.iloc[:0],
        reason="",
    )


def _judged(
    rankings: WordRankings,
    placed: PlacedWord,
    attention: Mapping[str, Tensor],
    units: np.ndarray,
    senses: np.ndarray,
    i: int,
    halves: Sequence[np.ndarray],
) -> _Judged:
    """For each half, pick a word of sentence i by the half's mean vector of each sense. Test the word by the remaining half.

    halves: ten masks (n_sentences,), from five random splits of the other sentences in two. units: (n_sentences, d_model).
    """
    encoder, words, unit = rankings.encoder, placed.others, units[i]
    named = [at for at, word in enumerate(words) if not word.is_punctuation]  # the m words to pick from
    groups = _groups(placed)
    hidden, alone = _with_hidden(encoder, placed, groups)
    everything = np.arange(len(units)) != i
    here, there = np.stack([_means(units, senses, i, among) for among in [*halves, everything]], axis=1)
    axes, middle = there - here, (here + there) / 2  # (11, d_model): ten halves, then all other rows
    judge = np.arange(len(halves)) ^ 1  # for each half, the index of the remaining half

    def right(vectors: np.ndarray) -> np.ndarray:
        """Return 1 for each vector nearer to the mean of the tested sentence's sense than to the other senses' mean, else 0.

        The shapes are (k, d_model) -> (10, k). Row h of the result uses the means of `halves[judge[h]]`.
        """
        return (np.sign(np.einsum("hkd,hd->hk", middle[judge][:, None] - vectors, axes[judge])) + 1) / 2

    moved = hidden - unit
    length = axes[-1] @ axes[-1]
    share = moved @ axes[-1] / (length if length >= SAME**2 else np.nan)
    picked = _first(axes[:-1] @ moved[named].T)  # (10, m)
    before = sum(group < placed.positions for group in groups)
    nearness = torch.tensor([at - before if at < before else before - at - 1 for at in range(len(named))]).double()
    numbers = {"nearest": nearness, **attention}
    numbers |= rankings.along(placed, torch.from_numpy(unit), groups, torch.from_numpy(axes))
    names = {way: _first(np.broadcast_to(each.numpy(), (len(axes), len(named)))) for way, each in numbers.items()}
    tied = (nearness == nearness.max()).numpy()
    names["nearest"] = np.tile(tied / tied.sum(), (len(axes), 1))
    votes = [picked, (1 - picked) / (len(named) - 1), names["most attended"][:-1], names["nearest"][:-1]]
    often = np.zeros(len(words))
    often[named] = picked.mean(axis=0)
    return _Judged(
        words=[(w.start, w.label, *each) for w, *each in zip(words, share, often)],
        right=[right(unit[None]).mean()]
        + [(right(each) * vote).sum(axis=1).mean() for each in (hidden[named], alone) for vote in votes],
        ways=[
            (way, (names[way][:-1] * picked).sum(axis=1).mean(), _rank(np.atleast_2d(each)[-1], share[named]))
            for way, each in numbers.items()
        ],
        named=_named(moved[named], units - unit),
        by_head=_by_head(rankings, placed, named[int(share[named].argmax())], axes[-1]),
    )


def _by_head(rankings: WordRankings, placed: PlacedWord, at: int, axis: np.ndarray) -> np.ndarray:
    """Estimate how far `placed` moves if word `at` is hidden in one head, for each head. Unit: the length of `axis`."""
    if "gradient" in rankings.reasons or axis @ axis < SAME**2:
        return np.full(len(rankings.encoder.all_heads), np.nan)
    (found,) = hidden_by_head(rankings.encoder, [placed], [Along(placed.positions, torch.from_numpy(axis))])
    return found[at].flatten().double().numpy()


def _groups(placed: PlacedWord) -> list[tuple[int, ...]]:
    return [word.positions for word in placed.others if not word.is_punctuation]


def _with_hidden(
    encoder: Encoder, placed: PlacedWord, groups: Sequence[Sequence[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of the word `placed` after other words are hidden from it: two arrays.

    First array, (n_words, d_model): row i is the vector if only `placed.others[i]` is hidden.
    Second array, (m, d_model): row i is the vector if all other words are hidden except the word at the positions `groups[i]`.
    """
    special = placed.sentence.special
    others = [p for p, is_special in enumerate(special) if not is_special and p not in placed.positions]
    keys = [word.positions for word in placed.others]
    n_words = len(keys)
    keys += [tuple(p for p in others if p not in group) for group in groups]
    units = _units(encoder.changed_vectors(placed, hidden=[[Hide(placed.positions, each)] for each in keys]))
    return units[:n_words], units[n_words:]


def _halves(senses: np.ndarray, i: int, generator: np.random.Generator) -> list[np.ndarray]:
    """Split the rows except i into two random halves, five times. Return ten masks, (n_rows,) each."""
    others, halves = np.arange(len(senses)) != i, []
    for _ in range(DEALS):
        first = np.zeros(len(senses), dtype=bool)
        for sense in np.unique(senses):
            dealt = generator.permutation(np.flatnonzero(others & (senses == sense)))
            first[dealt[: len(dealt) // 2]] = True
        halves += [first, others & ~first]
    return halves


def _means(units: np.ndarray, senses: np.ndarray, i: int, among: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean vector of row i's sense, and the mean over the other senses' means: (d_model,) each."""
    means = {sense: units[among & (senses == sense)].mean(axis=0) for sense in np.unique(senses)}
    return means.pop(senses[i]), np.mean(list(means.values()), axis=0)


def _units(vectors: Tensor) -> np.ndarray:
    return normalize(vectors.double(), dim=-1).numpy()


def _first(numbers: np.ndarray) -> np.ndarray:
    """Mark each row's largest number with 1, other numbers with 0: (k, m)."""
    return np.eye(numbers.shape[1])[numbers.argmax(axis=1)] + 0 * numbers


def _rank(numbers: np.ndarray, share: np.ndarray) -> float:
    with np.errstate(invalid="ignore"):
        return float(rank_correlations(numbers[None], share[None])[0])


def _named(moved: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """Return, for each row of `ways`, whether a hidden word's share is large enough to name the word.

    The share must be at least NAMED, and at least CLEAR times the next largest share.
    A word's share: how far hiding the word moves the target's vector along the row, divided by the row's length.
    moved: the target's move for each hidden word, (n_words, d_model).
    ways: the vectors from the target's vector to each sentence's vector, (n_rows, d_model).
    """
    length = (ways**2).sum(axis=1)
    second, first = np.sort(moved @ ways.T / np.where(length >= SAME**2, length, np.nan), axis=0)[-2:]
    return (first >= NAMED) & (first >= CLEAR * second)


def _between(named: np.ndarray, senses: np.ndarray) -> list[tuple[str, float, float, float, int]]:
    draws, lines = word_draws(len(senses), RESAMPLES), []
    same = senses[:, None] == senses
    for how, pairs in (("one", same & ~np.eye(len(senses), dtype=bool)), ("two", ~same)):
        both, drawn = (((draws @ each) * draws).sum(axis=1) for each in (named & named.T & pairs, pairs))
        bounds = percentiles(both[drawn > 0] / drawn[drawn > 0])  # a small resample may have no pair
        lines.append((how, (named & named.T)[pairs].mean(), *bounds, int(pairs.sum())))
    return lines


def _all_pairs(between: pd.DataFrame) -> pd.DataFrame:
    lines = [
        (ALL, how, rows["named"].mean(), *interval(rows[["named"]].to_numpy(), RESAMPLES)[:, 0], rows["n"].sum())
        for how, rows in between.groupby("senses")
    ]
    return pd.DataFrame(lines, columns=between.columns)


def _agreement(words: Sequence[pd.DataFrame]) -> pd.DataFrame:
    agreement, rank = (np.stack([each[column] for each in words]) for column in ("agreement", "rank"))
    found = pd.DataFrame({"way": words[0]["way"], "agreement": agreement.mean(axis=0), **_interval(agreement)})
    known = ~np.isnan(agreement).any(axis=0)
    return found.assign(rank=pd.DataFrame(rank).mean().where(known))


def _head_shares(word: str, heads: pd.DataFrame, by_head: np.ndarray, groups: np.ndarray) -> pd.DataFrame:
    """Average the rows of `by_head` within each group, then over the groups. Resampling gives the intervals."""
    known, generator = ~np.isnan(by_head).any(axis=1), np.random.default_rng(SEED)
    by_group = [by_head[known & (groups == name)] for name in np.unique(groups[known])]
    found = {name: np.full(len(heads), np.nan) for name in ("share", "low", "high", "leads")}
    if by_group:
        found["share"] = np.mean([rows.mean(axis=0) for rows in by_group], axis=0)
    if known.sum() > 1:
        picks = [generator.integers(0, len(rows), (RESAMPLES, len(rows))) for rows in by_group]
        drawn = np.mean([rows[each].mean(axis=1) for rows, each in zip(by_group, picks)], axis=0)
        found["low"], found["high"] = percentiles(drawn)
        found["leads"] = np.bincount(drawn.argmax(axis=1), minlength=len(heads)) / RESAMPLES
    return pd.DataFrame({"word": word, "layer": heads["layer"], "head": heads["head"], **found})


def _interval(values: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(("low", "high"), interval(values, RESAMPLES)))
