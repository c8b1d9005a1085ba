"""Rank the words that one word takes from, in ways to compare with hiding: weights, rollout, gradient, value zeroing, [MASK].

m: words to rank, each a group of token positions; p: the positions of the word that takes.
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
    """The token that blanks out a word: mask, else padding, else unknown. Raises NotRecomputable."""
    for role in ("mask", "pad", "unk"):
        token, token_id = getattr(encoder.tokenizer, f"{role}_token"), getattr(encoder.tokenizer, f"{role}_token_id")
        if token is not None and encoder.has_vector(token_id):
            return token, token_id
    raise NotRecomputable(
        f"{encoder.title}'s tokeniser has no mask, padding or unknown token to blank a word out with."
    )


@dataclass(frozen=True, eq=False)
class WordRankings:
    """The ways to rank words. One that an encoder doesn't allow gives NaN, with its reason in `reasons`."""

    encoder: Encoder
    reasons: dict[str, str] = field(default_factory=dict)  # by way

    @property
    def blank(self) -> str:
        """The token that replaces a word in the last way, and the name of that way; [MASK] if there is none."""
        try:
            return blank_token(self.encoder)[0]
        except NotRecomputable:
            return "[MASK]"

    def by_attention(self, word: PlacedWord[Encoding], groups: Groups) -> dict[str, Tensor]:
        """The amount that the word takes from each other word, (m,), in any direction."""
        encoding, positions = word
        weights = to_groups(encoding.word_rows(positions), groups).double()
        own = {
            "most attended": lambda: weights.mean(dim=(0, 1)),
            "largest single weight": lambda: weights.amax(dim=(0, 1)),
            "weights x V": lambda: self._norms(word, groups),
            "rollout": lambda: to_groups(rollout(encoding)[-1][list(positions)].mean(dim=0), groups).double(),
        }
        return self._had(own, (len(groups),))

    def along(self, word: PlacedWord, unit: Tensor, groups: Groups, axes: Tensor) -> dict[str, Tensor]:
        """The move of the word's last unit vector along each axis without each other word: (k, m).

        unit (d_model,), axes (k, d_model), float64. Gradient: hiding to first order. Value zeroing: the other word's part is
        subtracted in every head and layer; the other weights stay.
        """
        copies = [word.sentence] * len(groups)
        own = {
            "gradient": lambda: self._first_order(word, groups, axes),
            "value zeroing": lambda: axes @ (self._run(word, copies, groups) - unit).T,
            self.blank: lambda: axes @ (self._run(word, self._blanked(word.sentence, groups)) - unit).T,
        }
        return self._had(own, (len(axes), len(groups)))

    def _had(self, ways: Mapping[str, Callable[[], Tensor]], shape: tuple[int, ...]) -> dict[str, Tensor]:
        found = {}
        for way, measure in ways.items():
            try:
                found[way] = torch.full(shape, torch.nan) if way in self.reasons else measure()
            except NotRecomputable as error:
                self.reasons[way], found[way] = str(error), torch.full(shape, torch.nan)
        return found

    def _norms(self, word: PlacedWord[Encoding], groups: Groups) -> Tensor:
        """The length of each one's part, through W_O and summed over heads; summed over layers: (m,)."""
        total = torch.zeros(len(groups))
        for recording in word.sentence.recordings:
            handed = recording.weights(rows=word.rows).mean(dim=1)[..., None] * recording.value[0].float().cpu()
            every = handed.transpose(0, 1).flatten(1) @ output_weight(self.encoder, recording.module)  # (n, d_model)
            total += to_groups(every.T, groups).norm(dim=0)
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
        """The word's last unit vector in each copy of its sentence, (m, d_model); zeroed: groups whose values it doesn't get."""
        if zeroed:
            self.encoder.check_patchable()
        n = len(word.sentence.ids)

        def vectors(some: Sequence[tuple[Tokens, Sequence[int]]]) -> list[Tensor]:
            sentences, groups = zip(*some)
            recorder, inputs = _ValueZeroing(word, groups) if zeroed else None, self.encoder.inputs(sentences)
            with torch.no_grad(), self.encoder.pass_over(len(some), n):
                states = run(self.encoder.model, inputs, recorder).last_hidden_state
            own = states[:, list(word.positions)].mean(dim=1).float().cpu()
            self.encoder.check_finite(word.sentence, [own])
            return list(own)

        found = in_passes(vectors, list(zip(copies, zeroed or [()] * len(copies))), n, silent)
        return normalize(torch.stack(found).double(), dim=1)


class _ValueZeroing(Recorder):
    """Subtracts from a word's contexts the part of one group of tokens, another group in each copy of its sentence."""

    def __init__(self, word: PlacedWord, groups: Groups):
        super().__init__()
        self._word, self._groups = word, groups

    def receive(self, context: Tensor, inputs: Mapping[str, Any]) -> Tensor:
        recording, context = LayerRecording(context=context, **inputs), context.clone()
        for copy, group in enumerate(self._groups):
            own, keys = recording.sentence(copy, context.shape[1]), list(group)
            weights = own.weights(rows=self._word.rows)[..., keys].to(context)  # (n_heads, p, group)
            context[copy, self._word.rows] -= (weights @ own.value[0, :, keys]).transpose(0, 1)
        return context
