"""Compute targets: numbers, such as a class score, from a sentence's last hidden states."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.gradients import SAME
from selfattn.encoders.batches import in_passes
from selfattn.encoders.capture import Patch, Recorder, run
from selfattn.encoders.classification import ClassHead, TagHead
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.masked_lm import MaskedHead
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.pooling import Pooling
from selfattn.words import Word


class Target(Protocol):
    """A differentiable function of the last hidden states at `positions`, such as a class score."""

    positions: tuple[int, ...]

    def of(self, states: Tensor) -> Tensor:
        """Compute the target's value from the hidden states at its p `positions`: (..., p, d_model) -> (...)."""


Asked = Callable[[Tokens], Any]  # makes a sentence's target


@dataclass(frozen=True, eq=False)
class Along:
    """The projection of a word's unit vector on `way`, divided by the length of `way`."""

    positions: tuple[int, ...]
    way: Tensor  # (d_model,)

    def of(self, states: Tensor) -> Tensor:
        """Project the p states' normalised mean on `way`, and divide by the length of `way`: (..., p, d_model) -> (...).

        NaN if `way` is shorter than 1e-6.
        """
        way = self.way.to(states)
        length = way.square().sum()
        return normalize(states.mean(dim=-2), dim=-1) @ way / (length if length >= SAME**2 else length * torch.nan)


@dataclass(frozen=True, eq=False)
class Cosine:
    """The cosine, -1 to 1, of the sentence's vector and a fixed vector."""

    positions: tuple[int, ...]  # the tokens whose mean is the sentence's vector
    other: Tensor  # (d_model,)

    def of(self, states: Tensor) -> Tensor:
        """Compute the cosine between `other` and the mean of the p states: (..., p, d_model) -> (...)."""
        return normalize(states.mean(dim=-2), dim=-1) @ normalize(self.other.to(states), dim=-1)


@dataclass(frozen=True, eq=False)
class ClassScore:
    """The logit of a class, minus the largest other logit if classes exclude each other."""

    positions: tuple[int, ...]  # every token; for a tag, the word's tokens
    head: ClassHead
    label: int

    def of(self, states: Tensor) -> Tensor:
        """Compute the class's score from the last hidden states at p positions: (..., p, d_model) -> (...)."""
        logits = self.head.logits(states)
        if not self.head.exclusive:
            return logits[..., self.label]
        others = [at for at in range(logits.shape[-1]) if at != self.label]
        return logits[..., self.label] - logits[..., others].amax(dim=-1)


@dataclass(frozen=True, eq=False)
class GapWord:
    """The log probability of `token` at the mask token's position, computed by the masked-language head `head`."""

    positions: tuple[int, ...]  # position of the mask token
    head: MaskedHead
    token: int

    def of(self, states: Tensor) -> Tensor:
        """Compute the log probability of `token`: (..., 1, d_model) -> (...), at most 0."""
        return self.head.log_probabilities(states[..., 0, :])[..., self.token]


def class_score(head: ClassHead, label: str | int) -> Asked:
    """Return a function that takes a sentence and returns a `Target`: the score of the class `label`.

    Raises ValueError for an unknown label.
    """
    number = head.number(label)
    return lambda sentence: ClassScore(tuple(range(len(sentence.ids))), head, number)


def tag_score(head: TagHead, word: Word, label: str | int) -> Asked:
    """Return a function that takes a sentence and returns a `Target`: the score of `word` for the tag `label`.

    Raises ValueError for an unknown label.
    """
    number = head.number(label)
    return lambda sentence: ClassScore(word.positions, head, number)


def similarity(encoder: Encoder, pooling: Pooling, other: str | Encoding) -> Asked:
    """Return a function that takes a sentence and returns a `Target`: the sentence's cosine with `other`. Raises TextError."""
    read = other if isinstance(other, Encoding) else encoder.encode(other)
    vector = read.vector(encoder.n_layers, pooling.positions(read))
    return lambda sentence: Cosine(pooling.positions(sentence), vector)


def gap_word(head: MaskedHead, token: int) -> Asked:
    """Return a function that takes a sentence and returns a `Target`: the log probability of `token` at the mask token."""
    return lambda sentence: GapWord((head.place(sentence),), head, token)


def without(target: Any, hidden: Collection[int]) -> Any:
    """Return a copy of the target that leaves out the positions `hidden`."""
    return replace(target, positions=tuple(p for p in target.positions if p not in hidden))


def changed(
    encoder: Encoder,
    sentence: Tokens,
    target: Any,
    hidden: Sequence[Collection[int]] = ((),),
    patches: Sequence[Collection[Patch]] | None = None,
    progress: Progress = silent,
) -> Tensor:
    """Return the target's value with each set of positions hidden, one set at a time: (len(hidden),).

    patches: for each set, the head outputs to replace. The value is NaN if all positions of the target are hidden.
    progress(done, total) counts batches. Raises TextError, NotRecomputable.
    """
    if patches is not None:
        encoder.check_patchable()
    left = [bool(without(target, gone).positions) for gone in hidden]
    copies = [copy for copy, some in zip(zip(hidden, patches or [()] * len(hidden), strict=True), left) if some]

    def chunk(part: Sequence[tuple[Collection[int], Collection[Patch]]]) -> list[Tensor]:
        inputs = encoder.inputs([sentence] * len(part))
        for row, (gone, _) in enumerate(part):
            inputs["attention_mask"][row, list(gone)] = 0
        recorder = Recorder([patch for _, patch in part], keep=False) if patches is not None else None
        with torch.no_grad(), encoder.pass_over(*inputs["input_ids"].shape):
            states = run(encoder.model, inputs, recorder).last_hidden_state.float()
            targets = [without(target, gone) for gone, _ in part]
            kept = [state[list(each.positions)] for state, each in zip(states, targets)]
            for each in kept:
                encoder.check_finite(sentence, [each])
            return [each.of(left).cpu() for each, left in zip(targets, kept)]

    found = torch.stack(in_passes(chunk, copies, len(sentence.ids), progress))
    values = found.new_full((len(left), *found.shape[1:]), torch.nan)
    values[left] = found
    return values
