"""Which words, sentences and heads an encoder's own answer rests on: each hidden or removed, and the answer looked at again.

The answer is a target, one number (targets.py). A word is hidden from everything, as padding is, and each is run; heads are
ranked by gradient, and those that lead are run. What it doesn't say: single words don't add up, so all of them hidden at once
stands beside the sum; without a word or a head the others run on what they were not trained for.
Of a long text each sentence is hidden whole first. Its noise level is the largest effect of 19 draws of at least as many tokens,
in words from anywhere in its segment: a sentence that is no more than its number of words passes it once in 20. Sentences that
say the same thing cover for one another, so neither may pass.
Sources: Li et al. 2016, "Understanding Neural Networks through Representation Erasure", section 5 (words); Michel et al. 2019,
"Are Sixteen Heads Really Better than One?", section 2 (heads), and 4.1 (by gradient).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from selfattn.analysis.gradients import LEADING, gradients
from selfattn.analysis.sentences import Sentence, draws_for
from selfattn.analysis.targets import Target, changed, without
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress, half_of, silent
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.placed_word import Tokens
from selfattn.words import Word

OPENED = 8  # sentences whose words are hidden one by one
NONE = torch.zeros(0)


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
    sentences: tuple[Sentence, ...] = ()  # that were hidden whole
    by_sentence: Tensor = NONE  # (n_sentences,): with each hidden; NaN where nothing would be left
    level: Tensor = NONE  # (n_sentences,): its noise level; NaN in a segment of fewer than three sentences

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

    @property
    def named(self) -> tuple[int, ...]:
        """The sentences at or above their noise level, the largest effect first."""
        above = (self.by_sentence.abs() >= self.level) & (self.by_sentence != 0)
        return tuple(sorted(above.nonzero().flatten().tolist(), key=lambda at: -abs(float(self.by_sentence[at]))))

    @property
    def sentence_frame(self) -> pd.DataFrame:
        """A row a sentence: place, text, segment, start, stop (tokens), effect, level, named, opened (its words were hidden)."""
        named, words = {*self.named}, {*self.words}
        columns = ["place", "text", "segment", "start", "stop", "effect", "level", "named", "opened"]
        rows = [
            (
                at,
                s.text,
                s.segment,
                s.positions[0],
                s.positions[-1] + 1,
                effect,
                level,
                at in named,
                not words.isdisjoint(s.words),
            )
            for at, (s, effect, level) in enumerate(zip(self.sentences, self.by_sentence.tolist(), self.level.tolist()))
        ]
        return pd.DataFrame(rows, columns=columns)


def explain(
    encoder: Encoder,
    sentence: Tokens,
    target: Target,
    *,
    sentences: Sequence[Sentence] = (),
    words: Sequence[Word] | None = None,
    heads: Sequence[Head] | None = None,
    progress: Progress = silent,
) -> Explained:
    """Hide each word of a sentence from everything, and remove heads, and see how its target changes.

    sentence: of `Encoder.tokenize` or `encode`; target: of targets.py. words: those that are hidden (None: each). sentences: of
    `sentences_of`; each is hidden first, and then only the words of the eight whose effects are largest. heads: those that are
    run (None: the eight that lead by gradient). progress(done, total) counts passes over sentences and words. Raises TextError.
    """
    by_sentence = level = NONE
    if sentences:
        by_sentence, level = _hidden_sentences(encoder, sentence, target, sentences, half_of(progress, 0))
        largest = by_sentence.abs().nan_to_num(nan=-1.0).argsort(descending=True, stable=True)[:OPENED]
        words = [word for at in sorted(largest.tolist()) for word in sentences[at].words]
        progress = half_of(progress, 1)
    words = tuple(
        word for word in (sentence.words if words is None else words) if without(target, word.positions).positions
    )
    every = [position for word in words for position in word.positions]
    values = changed(encoder, sentence, target, [(), *(word.positions for word in words), every], progress=progress)
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
        sentence=sentence, target=target, number=number, words=words, effect=effect[:-1], together=float(effect[-1]),
        by_gradient=by_gradient, heads=run, notes=tuple(notes), sentences=tuple(sentences), by_sentence=by_sentence, level=level,
    )  # fmt: skip


def _hidden_sentences(
    encoder: Encoder, tokens: Tokens, target: Target, sentences: Sequence[Sentence], progress: Progress
) -> tuple[Tensor, Tensor]:
    """The change of the target with each sentence hidden, but for a word that is asked about; and its noise level."""
    draws, own = draws_for(tokens, sentences)
    asked = {p for word in tokens.words if not without(target, word.positions).positions for p in word.positions}
    hidden = [[p for p in each if p not in asked] for each in ((), *(each.positions for each in sentences), *draws)]
    values = changed(encoder, tokens, target, hidden, progress=progress)
    effect, drawn = (values[1:] - values[0]).tensor_split([len(sentences)])
    return effect, torch.stack([drawn[place].abs().amax() if place else effect.new_tensor(torch.nan) for place in own])


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
