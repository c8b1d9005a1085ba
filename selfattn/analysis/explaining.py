"""Which words and heads an encoder's own answer in a sentence rests on: each hidden or removed, and the answer looked at again.

The answer is a target, one number (targets.py). A word is hidden from everything, as padding is, and each is run; heads are
ranked by gradient, and those that lead are run. What it doesn't say: single words don't add up, so all of them hidden at once
stands beside the sum; without a word or a head the others run on what they were not trained for.
Sources: Li et al. 2016, "Understanding Neural Networks through Representation Erasure", section 5 (words); Michel et al. 2019,
"Are Sixteen Heads Really Better than One?", section 2 (heads), and 4.1 (by gradient).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.analysis.gradients import LEADING, gradients
from selfattn.analysis.targets import Target, changed, without
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.placed_word import Tokens
from selfattn.words import Word


@dataclass(frozen=True, eq=False, kw_only=True)
class Explained:
    """A target in one sentence, and by how much it changes: negative, it is less without the word or the head."""

    sentence: Tokens
    target: Target
    number: float  # as it is
    words: tuple[Word, ...]  # that can be hidden: not the one that is asked about
    effect: Tensor  # (n_words,): with each word hidden from everything
    together: float  # with all of them hidden at once; NaN where nothing would be left
    by_gradient: Tensor  # (n_layers, n_heads): without each head, to first order; NaN where heads can't be removed
    heads: Tensor  # (n_layers, n_heads): the same, run; NaN for those that weren't
    notes: tuple[str, ...]

    @property
    def order(self) -> list[int]:
        """The words by the size of their effect, the largest first; no punctuation."""
        named = [at for at, word in enumerate(self.words) if not word.is_punctuation]
        return sorted(named, key=lambda at: -abs(float(self.effect[at])))

    @property
    def leading(self) -> tuple[Head, ...]:
        """The heads that were run, by the size of their effect, the largest first."""
        run = [Head(*map(int, at)) for at in self.heads.isfinite().nonzero()]
        return tuple(sorted(run, key=lambda head: -abs(float(self.heads[head]))))


def explain(
    encoder: Encoder,
    sentence: Tokens,
    target: Target,
    *,
    words: Sequence[Word] | None = None,
    heads: Sequence[Head] | None = None,
    progress: Progress = silent,
) -> Explained:
    """Hide each word of a sentence from everything, and remove heads, and see how its target changes.

    sentence: of `Encoder.tokenize` or `encode`; target: of targets.py. words: those that are hidden (None: each). heads: those
    that are run (None: the eight that lead by gradient). progress(done, total) counts the passes over words. Raises TextError.
    """
    words = tuple(
        word for word in (sentence.words if words is None else words) if without(target, word.positions).positions
    )
    every = [position for word in words for position in word.positions]
    some_left = bool(without(target, every).positions)
    hidden = [(), *(word.positions for word in words), *([every] if some_left else [])]
    values = changed(encoder, sentence, target, hidden, progress=progress)
    number, effect = float(values[0]), values[1:] - values[0]
    by_gradient = torch.full((encoder.n_layers, encoder.n_heads), torch.nan)
    run, notes = by_gradient.clone(), []
    try:
        by_gradient = heads_by_gradient(encoder, sentence, target)
        chosen = leading_heads(encoder, by_gradient) if heads is None else list(heads)
        for head, value in zip(chosen, removed_in_turn(encoder, sentence, target, chosen)):
            run[head] = value - number
    except NotRecomputable as error:
        notes.append(str(error))
    return Explained(
        sentence=sentence, target=target, number=number, words=words, effect=effect[: len(words)],
        together=float(effect[-1]) if some_left else float("nan"), by_gradient=by_gradient, heads=run, notes=tuple(notes),
    )  # fmt: skip


def heads_by_gradient(encoder: Encoder, sentence: Tokens, target: Target) -> Tensor:
    """What removing each head would do to the target, to first order in what it hands every token: (n_layers, n_heads).

    Raises NotRecomputable where heads can't be removed or the encoder can't be differentiated.
    """
    everywhere = tuple(range(len(sentence.ids)))
    at = list(target.positions)
    (found,) = gradients(encoder, [(sentence, everywhere)], lambda states: target.of(states[0][at])[None])
    return found.toward(torch.zeros(encoder.n_layers, encoder.n_heads, encoder.d_head))[0]


def removed_in_turn(encoder: Encoder, sentence: Tokens, target: Target, heads: Sequence[Head]) -> list[float]:
    """The target without each of these heads, alone: its output is zero at every position. Raises NotRecomputable."""
    patches = [encoder.removed([head]) for head in heads]
    return changed(encoder, sentence, target, [()] * len(heads), patches).tolist() if heads else []


def leading_heads(encoder: Encoder, by_gradient: Tensor) -> list[Head]:
    """The eight heads of the largest effect by gradient, whichever its sign, (n_layers, n_heads)."""
    order = by_gradient.abs().flatten().argsort(descending=True, stable=True)
    return [encoder.all_heads[at] for at in order[:LEADING].tolist()]
