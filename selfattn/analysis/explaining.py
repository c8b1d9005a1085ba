"""Measure which words, sentences and heads an encoder's answer depends on.

Sources: Li et al. 2016, "Understanding Neural Networks through Representation Erasure", section 5 (words); Michel et al.
2019, "Are Sixteen Heads Really Better than One?", sections 2 (heads) and 4.1 (estimates by gradient).
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

OPENED = 8  # in a long text, hide single words only in this many sentences
NONE = torch.zeros(0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Explained:
    """The change of a target, such as a logit, if a word is hidden or a head is removed."""

    sentence: Tokens
    target: Target
    number: float  # the target in the unchanged sentence
    words: tuple[Word, ...]  # the hidden words: never the target's word
    effect: Tensor  # (n_words,): effect of hiding each word
    together: float  # effect of hiding all words; NaN if the target has no tokens left
    by_gradient: Tensor  # (n_layers, n_heads): estimated effects of removing heads, or NaN
    heads: Tensor  # (n_layers, n_heads): measured effects of removing heads, or NaN
    notes: tuple[str, ...]
    sentences: tuple[Sentence, ...] = ()  # the hidden sentences
    by_sentence: Tensor = NONE  # (n_sentences,): effect of hiding each sentence, or NaN
    level: Tensor = NONE  # (n_sentences,): noise level, the largest effect of 19 random word sets

    @property
    def order(self) -> list[int]:
        """The indices of all words except punctuation, the largest absolute effect first."""
        named = [at for at, word in enumerate(self.words) if not word.is_punctuation]
        return sorted(named, key=lambda at: -abs(float(self.effect[at])))

    @property
    def leading(self) -> tuple[Head, ...]:
        """The measured heads, the largest absolute effect first."""
        run = [Head(*map(int, at)) for at in self.heads.isfinite().nonzero()]
        return tuple(sorted(run, key=lambda head: -abs(float(self.heads[head]))))

    @property
    def named(self) -> tuple[int, ...]:
        """The indices of the sentences whose effect reaches the noise level, the largest absolute effect first."""
        above = (self.by_sentence.abs() >= self.level) & (self.by_sentence != 0)
        return tuple(sorted(above.nonzero().flatten().tolist(), key=lambda at: -abs(float(self.by_sentence[at]))))

    @property
    def sentence_frame(self) -> pd.DataFrame:
        """A row for each sentence: place, text, segment, start, stop, effect, level, named, opened.

        place: the sentence's index. named: True if the effect reaches the noise `level`.
        opened: True if the sentence's words were also hidden one at a time.
        """
        columns = ["place", "text", "segment", "start", "stop"]
        rows = [(at, s.text, s.segment, s.positions[0], s.positions[-1] + 1) for at, s in enumerate(self.sentences)]
        return pd.DataFrame(rows, columns=columns).assign(
            effect=self.by_sentence.tolist(),
            level=self.level.tolist(),
            named=[at in self.named for at in range(len(rows))],
            opened=[not {*self.words}.isdisjoint(sentence.words) for sentence in self.sentences],
        )


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
    """Hide words and remove heads, one at a time, and return how much each of them changes the target.

    sentences: from `sentences_of`. Each sentence is hidden whole. The words hidden singly are then those of the
    eight sentences with the largest effects.
    heads: the heads to remove; None: the eight with the largest estimated effects.
    progress(done, total) counts batches. Raises TextError.
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
    """Return how hiding each sentence changes the target's value, and each change's noise level: (n_sentences,) each."""
    draws, places = draws_for(tokens, sentences)
    kept = {p for word in tokens.words if not without(target, word.positions).positions for p in word.positions}
    hidden = [[p for p in each if p not in kept] for each in ((), *(each.positions for each in sentences), *draws)]
    values = changed(encoder, tokens, target, hidden, progress=progress)
    effect, drawn = (values[1:] - values[0]).tensor_split([len(sentences)])
    return effect, torch.stack([drawn[at].abs().amax() if at else effect.new_tensor(torch.nan) for at in places])


def heads_by_gradient(encoder: Encoder, sentence: Tokens, target: Target) -> Tensor:
    """Estimate how removing each head changes the target's value: (n_layers, n_heads). Raises NotRecomputable."""
    everywhere = tuple(range(len(sentence.ids)))
    at = list(target.positions)
    (found,) = gradients(encoder, [(sentence, everywhere)], lambda states: target.of(states[0][at])[None])
    return found.toward(torch.zeros(encoder.n_layers, encoder.n_heads, encoder.d_head))[0]


def removed_in_turn(encoder: Encoder, sentence: Tokens, target: Target, heads: Sequence[Head]) -> list[float]:
    """Return the target's value with each head removed, one head at a time. Raises NotRecomputable."""
    patches = [encoder.removed([head]) for head in heads]
    return changed(encoder, sentence, target, [()] * len(heads), patches).tolist() if heads else []


def leading_heads(encoder: Encoder, by_gradient: Tensor) -> list[Head]:
    """Return the eight heads with the largest absolute effects. by_gradient: estimated effects, (n_layers, n_heads)."""
    order = by_gradient.abs().flatten().argsort(descending=True, stable=True)
    return [encoder.all_heads[at] for at in order[:LEADING].tolist()]
