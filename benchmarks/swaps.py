"""Interchange on the built-in sentences: what it costs, how near the gradient comes, and how far its ranking of heads holds.

    python -m benchmarks.swaps

Beside it removal and single pairs, over four sentences of each sense of each word. Its tables go to RESULTS.md.
"""

import resource
import statistics
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from benchmarks.models import bundled
from benchmarks.table import keep, made_by
from selfattn.analysis.removing import change_of_cosine
from selfattn.analysis.swapping import swap_pair
from selfattn.analysis.usable_rows import require_rows
from selfattn.encoders.encoder import Encoder
from selfattn.examples import labelled_sentences
from selfattn.senses import interchange, swapping
from selfattn.senses.resampling import rank_correlations
from selfattn.senses.sense_axis import Draws
from selfattn.stored_reports import stored
from tests.senses.test_swapping import by_gradient_in_folds, word_of

WORDS = ("bank", "star", "seal")  # whose cost is measured; the first two exactly, too
ROUNDS = 3
PER_SENSE = 4
COLUMNS = ["halves", "shuffled", "spearman_brown", "own", "leads"]
RELIES = 0.8


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs:
    """The effects (n, n, n_heads) of every head in every pair of a word's rows, as `patching` takes them."""

    effects: Tensor

    def differences(self, draws: Draws) -> Tensor:
        """The mean over pairs of different senses minus that over pairs of one sense, (R, n_heads)."""
        weights = torch.triu(draws.rows[:, :, None] * draws.rows[:, None, :], 1)
        different, same = (weights * part for part in (1 - draws.same, draws.same))
        means = [torch.einsum("rij,ijh->rh", w / w.sum((1, 2), keepdim=True), self.effects) for w in (different, same)]
        return means[0] - means[1]


class OnePair(Pairs):
    """One pair of different senses a draw: the rows of most weight."""

    def differences(self, draws: Draws) -> Tensor:
        """Its effects, (R, n_heads)."""
        first, second = ((draws.rows * (draws.senses == sense)).argmax(dim=1) for sense in (0, 1))
        return self.effects[first, second]


def main() -> None:
    """Print the tables and keep them in RESULTS.md."""
    encoder, frame = bundled(), labelled_sentences()
    text = "\n\n".join([_cost(encoder, frame), _exact(encoder, frame), _reliability(encoder, frame)])
    print(text)
    keep(f"## swaps\n\n{made_by('python -m benchmarks.swaps')}\n\n{text}\n")


def _cost(encoder: Encoder, frame: pd.DataFrame) -> str:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    seconds = {}
    for word in WORDS * ROUNDS:
        rows = frame[frame["word"] == word].groupby("sense").head(10)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        interchange(encoder, rows)
        spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
        seconds[word] = min(spent, seconds.get(word, spent))
    torch.set_num_threads(threads)
    each = ", ".join(f"{word} {s:.1f}" for word, s in seconds.items())
    return (
        "By gradient, with 1,000 resamples, 1,000 shuffles and all halves, a word of 20 sentences takes "
        f"{statistics.median(seconds.values()):.1f} CPU seconds on one thread (at most 5; user time, the least of {ROUNDS} "
        f"rounds: {each})."
    )


def _exact(encoder: Encoder, frame: pd.DataFrame) -> str:
    lines = [
        "| Exact beside gradient, same axes and donors | sentences | rank correlation of all heads | most a share differs |",
        "|---|---|---|---|",
    ]
    for name in WORDS[:2]:
        rows = frame[frame["word"] == name]
        report = interchange(encoder, rows, how="exact")
        effect, control = by_gradient_in_folds(*word_of(encoder, rows, name))
        exact, shares = report.heads["share"].to_numpy(), (effect - control) / report.gaps["gap"][0]
        rank = float(rank_correlations(exact[None], shares[None])[0])
        lines.append(f"| {name} | {len(rows)} | {rank:.4f} | {np.abs(exact - shares).max():.4f} |")
    return "\n".join(lines)


def _reliability(encoder: Encoder, frame: pd.DataFrame) -> str:
    items = require_rows(encoder, frame)[0].groupby(["word", "sense"]).head(PER_SENSE)
    removed, single = [], []
    for name, rows in items.groupby("word"):
        places = [(row.sentence, list(range(row.start, row.stop))) for row in rows.itertuples()]
        senses = np.unique(rows["sense"].to_numpy(dtype=str), return_inverse=True)[1]
        removed.append(_result(str(name), Pairs(effects=_removal(encoder, places)), senses))
        single.append(_result(str(name), OnePair(effects=_pairs(encoder, places)), senses))
    whole = stored("swaps", encoder, frame).report.reliability
    methods = {
        f"swaps, {int(whole['n'].iloc[0])} sentences a word": whole,
        f"removal, all pairs of {2 * PER_SENSE} sentences a word": _table(removed),
        "swaps in a single pair a word": _table(single),
    }
    lines = ["| Ranking of the heads | " + " | ".join(COLUMNS) + f" | words from {RELIES} |", "|---" * 7 + "|"]
    for method, table in methods.items():
        words, every = table[table["word"] != swapping.ALL], table[table["word"] == swapping.ALL]
        relied = f"{int((words['spearman_brown'] >= RELIES).sum())} of {len(words)}"
        for what, row, last in (("mean of the words", words, relied), ("all words together", every, "")):
            lines.append(
                f"| {method}: {what} | " + " | ".join(f"{row[c].mean():.2f}" for c in COLUMNS) + f" | {last} |"
            )
    return "\n".join(lines)


def _table(words: list[swapping._Result]) -> pd.DataFrame:
    return swapping._reliability([*words, swapping._over_words(words)])


def _result(word: str, pairs: Pairs, senses: np.ndarray) -> swapping._Result:
    once = Draws.of(senses[None], np.ones(len(senses)))
    shuffles = np.random.default_rng([swapping.SEED, *word.encode()]).permuted(
        np.tile(senses, (swapping.SHUFFLED, 1)), axis=1
    )
    draws = pairs.differences(Draws.of(senses[None], swapping._resamples(senses))).numpy()
    effect = Pairs.differences(pairs, once)[0].numpy()
    return swapping._Result(
        word=word,
        n=len(senses),
        gap=np.nan,
        effect=effect,
        exact=effect,
        control=np.zeros(1),
        all_heads=np.full(2, np.nan),
        gap_draws=np.full(len(draws), np.nan),
        draws=draws,
        shuffled=pairs.differences(Draws.of(shuffles, np.ones(len(senses)))).numpy(),
        halves=swapping._half_differences(pairs, senses[None]),
        shuffled_halves=swapping._half_differences(pairs, shuffles),
    )


def _removal(encoder: Encoder, places: list) -> Tensor:
    after = [encoder.knock_out(*place).flatten(0, 1) for place in places]
    before = [encoder.encode(text).vector(encoder.n_layers, positions) for text, positions in places]
    return _of_pairs(len(places), lambda i, j: change_of_cosine((after[i], after[j]), (before[i], before[j])))


def _pairs(encoder: Encoder, places: list) -> Tensor:
    return _of_pairs(len(places), lambda i, j: swap_pair(encoder, places[i], places[j], how="gradient").share.flatten())


def _of_pairs(n: int, effect) -> Tensor:
    """The effects of each pair, put at both of its places: (n, n, n_heads)."""
    found = {pair: effect(*pair).double() for pair in combinations(range(n), 2)}
    nothing = torch.zeros_like(next(iter(found.values())))
    return torch.stack([torch.stack([found.get((min(i, j), max(i, j)), nothing) for j in range(n)]) for i in range(n)])


if __name__ == "__main__":
    main()
