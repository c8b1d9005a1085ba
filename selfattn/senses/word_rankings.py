"""Rank words by their influence on a target word, with methods other than masking the target's attention to each word.

m: number of words to rank. p: number of the target word's positions. A group is the token positions of one word.
Sources: Kobayashi et al. 2020, "Attention is Not Only a Weight", section 3 (weights x V); Abnar and Zuidema 2020, "Quantifying
Attention Flow in Transformers" (rollout); Nanda 2023, "Attribution Patching" (gradient); Mohebbi et al. 2023, "Quantifying
Context Mixing in Transformers" (value zeroing); Zeiler and Fergus 2014 ([MASK]).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.gradients import context_gradients
from selfattn.analysis.hiding import context_changes
from selfattn.analysis.measures import rollout
from selfattn.encoders.batches import in_passes
from selfattn.encoders.capture import LayerRecording, Recorder, run
from selfattn.encoders.encoder import Encoder, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.placed_word import PlacedWord, Tokens
from selfattn.encoders.projections import output_weight
from selfattn.words import to_groups

Groups = Sequence[Sequence[int]]


def blank_token(encoder: Encoder) -> tuple[str, int]:
    """Return the mask token, or else the padding or the unknown token, and its id.

    Raises NotRecomputable if there is none.
    """
    for role in ("mask", "pad", "unk"):
        token, token_id = getattr(encoder.tokenizer, f"{role}_token"), getattr(encoder.tokenizer, f"{role}_token_id")
        if token is not None and encoder.has_vector(token_id):
            return token, token_id
    raise NotRecomputable(f"{encoder.title}'s tokeniser has no mask, padding or unknown token to replace a word.")


@dataclass(frozen=True, eq=False)
class WordRankings:
    """Score words by their influence on a target word, with several methods.

    `reasons` says why a method's numbers are NaN.
    """

    encoder: Encoder
    reasons: dict[str, str] = field(default_factory=dict)  # keyed by method

    @property
    def blank(self) -> str:
        """The name of the method that replaces a word by a blank token. It is this token, or "[MASK]" if the encoder has none."""
        try:
            return blank_token(self.encoder)[0]
        except NotRecomputable:
            return "[MASK]"

    def by_attention(self, word: PlacedWord[Encoding], groups: Groups) -> dict[str, Tensor]:
        """Score m words by each method that uses attention weights: (m,) for each method.

        groups: the token positions of each of the m words
        """
        encoding, positions = word
        weights = to_groups(encoding.word_rows(positions), groups).double()
        ways = {
            "most attended": lambda: weights.mean(dim=(0, 1)),
            "largest single weight": lambda: weights.amax(dim=(0, 1)),
            "weights x V": lambda: self._norms(word, groups),
            "rollout": lambda: to_groups(rollout(encoding)[-1][list(positions)].mean(dim=0), groups).double(),
        }
        return self._measured(ways, (len(groups),))

    def along(self, word: PlacedWord, unit: Tensor, groups: Groups, axes: Tensor) -> dict[str, Tensor]:
        """Return how far the target word moves along k axes if one of m other words loses its influence: (k, m) for each method.

        unit: the target word's last hidden state, scaled to length 1, (d_model,), float64.
        axes: the directions, (k, d_model), float64.
        "gradient" estimates to first order how far the target word moves if its attention to the other word is masked.
        "value zeroing" subtracts the other word's weight x value from each head's context and keeps the remaining weights.
        """
        copies = [word.sentence] * len(groups)
        ways = {
            "gradient": lambda: self._first_order(word, groups, axes),
            "value zeroing": lambda: axes @ (self._run(word, copies, groups) - unit).T,
            self.blank: lambda: axes @ (self._run(word, self._blanked(word.sentence, groups)) - unit).T,
        }
        return self._measured(ways, (len(axes), len(groups)))

    def _measured(self, ways: Mapping[str, Callable[[], Tensor]], shape: tuple[int, ...]) -> dict[str, Tensor]:
        found = {}
        for way, measure in ways.items():
            try:
                found[way] = torch.full(shape, torch.nan) if way in self.reasons else measure()
            except NotRecomputable as error:
                self.reasons[way], found[way] = str(error), torch.full(shape, torch.nan)
        return found

    def _norms(self, word: PlacedWord[Encoding], groups: Groups) -> Tensor:
        total = torch.zeros(len(groups))
        for recording in word.sentence.recordings:
            weighted = recording.weights(rows=word.rows).mean(dim=1)[..., None] * recording.value[0].float().cpu()
            parts = weighted.transpose(0, 1).flatten(1) @ output_weight(self.encoder, recording.module)  # (n, d_model)
            total += to_groups(parts.T, groups).norm(dim=0)
        return total.double()

    def _first_order(self, word: PlacedWord, groups: Groups, axes: Tensor) -> Tensor:
        (found,) = context_gradients(self.encoder, [word], axes)
        total = torch.zeros(len(axes), len(groups), dtype=torch.float64)
        for layer, recording in enumerate(found.recordings):
            change = context_changes(recording, word.positions, groups)
            total += torch.einsum("khpd,mhpd->km", found.gradient[:, layer].double(), change)
        return total

    def _blanked(self, sentence: Tokens, groups: Groups) -> list[Tokens]:
        _, token = blank_token(self.encoder)
        ids = [[token if p in group else one for p, one in enumerate(sentence.ids)] for group in groups]
        return [replace(sentence, ids=tuple(each)) for each in ids]

    def _run(self, word: PlacedWord, copies: Sequence[Tokens], zeroed: Groups = ()) -> Tensor:
        """Return the target word's last hidden state, scaled to length 1, in each copy of the sentence: (m, d_model)."""
        if zeroed:
            self.encoder.check_patchable()
        n = len(word.sentence.ids)

        def vectors(some: Sequence[tuple[Tokens, Sequence[int]]]) -> list[Tensor]:
            sentences, groups = zip(*some)
            recorder, inputs = _ValueZeroing(word, groups) if zeroed else None, self.encoder.inputs(sentences)
            with torch.no_grad(), self.encoder.pass_over(len(some), n):
                states = run(self.encoder.model, inputs, recorder).last_hidden_state
            found = states[:, list(word.positions)].mean(dim=1).float().cpu()
            self.encoder.check_finite(word.sentence, [found])
            return list(found)

        every = in_passes(vectors, list(zip(copies, zeroed or [()] * len(copies))), n, silent)
        return normalize(torch.stack(every).double(), dim=1)


class _ValueZeroing(Recorder):
    def __init__(self, word: PlacedWord, groups: Groups):
        super().__init__()
        self._word, self._groups = word, groups

    def receive(self, context: Tensor, inputs: Mapping[str, Any]) -> Tensor:
        recording, context = LayerRecording(context=context, **inputs), context.clone()
        for copy, group in enumerate(self._groups):
            one, keys = recording.sentence(copy, context.shape[1]), list(group)
            weights = one.weights(rows=self._word.rows)[..., keys].to(context)  # (n_heads, p, group)
            context[copy, self._word.rows] -= (weights @ one.value[0, :, keys]).transpose(0, 1)
        return context
