"""Differentiate a word's last hidden state with respect to each head's output.

Source: Nanda 2023, "Attribution Patching".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.encoders.batches import COPIED_TOKENS
from selfattn.encoders.capture import LayerRecording, Recorder, run
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.memory import is_out_of_memory
from selfattn.encoders.placed_word import PlacedWord

SAME = 1e-6  # unit vectors closer than this count as equal
LEADING = 8  # number of heads or words to measure after estimating all


@dataclass(frozen=True, eq=False, kw_only=True)
class ContextGradients:
    """The derivatives of m numbers with respect to each head's context vectors at p positions."""

    gradient: Tensor  # (m, n_layers, n_heads, p, d_head)
    context: Tensor  # (n_layers, n_heads, p, d_head)
    recordings: tuple[LayerRecording, ...]

    def toward(self, donor: Tensor) -> Tensor:
        """Estimate how much each of the m numbers changes if one head's contexts are replaced: (m, n_layers, n_heads).

        donor: each head's new context vector, the same at all p positions, (n_layers, n_heads, d_head).
        """
        return (self.gradient * (donor[..., None, :] - self.context)).sum(dim=(-2, -1))


def context_gradients(
    encoder: Encoder, words: Sequence[PlacedWord | tuple], directions: Tensor
) -> list[ContextGradients]:
    """Differentiate `directions @ unit` for each word, with respect to each head's context vectors.

    directions: (m, d_model). unit: the word's vector, scaled to length 1. Raises NotRecomputable, as `gradients` does.
    """

    # Each word's vector depends only on its own sentence, so one gradient of the sum gives all gradients.
    def along(states: Sequence[Tensor]) -> Tensor:
        vectors = torch.stack([of_word.mean(dim=0) for of_word in states])
        return directions.to(vectors) @ normalize(vectors, dim=1).sum(dim=0)

    return gradients(encoder, words, along)


def gradients(
    encoder: Encoder, words: Sequence[PlacedWord | tuple], numbers: Callable[[list[Tensor]], Tensor]
) -> list[ContextGradients]:
    """Differentiate the m numbers that `numbers` returns, with respect to each head's context vectors.

    numbers: takes a list with each word's last hidden states, (p, d_model) for a word of p tokens
    Raises NotRecomputable if heads' outputs can't be replaced, or if gradients can't be computed.
    """
    encoder.check_patchable()
    tokens, at = zip(*(encoder.placed(word) for word in words))
    recorder = Recorder(differentiable=True)
    inputs = encoder.inputs(tokens)
    size = max(1, COPIED_TOKENS // inputs["input_ids"].numel())
    with torch.enable_grad(), encoder.pass_over(*inputs["input_ids"].shape):
        hidden = run(encoder.model, inputs, recorder).last_hidden_state
        states = [hidden[row, list(positions)].float() for row, positions in enumerate(at)]
        targets = numbers(states)
        contexts = [layer.context for layer in recorder.layers]
        parts = [[] for _ in words]
        for chosen in torch.eye(len(targets), device=targets.device).split(size):
            try:
                if len(chosen) > 1:
                    slopes = torch.autograd.grad(targets, contexts, chosen, retain_graph=True, is_grads_batched=True)
                else:  # for a single number, batching would take longer
                    slopes = [
                        slope[None] for slope in torch.autograd.grad(targets, contexts, chosen[0], retain_graph=True)
                    ]
            except RuntimeError as error:
                if is_out_of_memory(error):
                    raise
                reason = str(error).splitlines()[0][:200]
                raise NotRecomputable(f"Gradients for {encoder.title}'s heads can't be computed: {reason}") from None
            for row, positions in enumerate(at):
                of_word = [slope[:, row, list(positions)].transpose(1, 2) for slope in slopes]
                parts[row].append(torch.stack(of_word, dim=1).float().cpu())
    layers = [replace(layer, context=layer.context.detach()) for layer in recorder.layers]
    found = []
    for row, (text, positions) in enumerate(zip(tokens, at)):
        for values in (states[row].detach(), *parts[row]):
            encoder.check_finite(text, [values])
        recordings = tuple(layer.sentence(row, len(text.ids)) for layer in layers)
        context = torch.stack([layer.context[0, list(positions)].transpose(0, 1).float().cpu() for layer in recordings])
        found.append(ContextGradients(gradient=torch.cat(parts[row]), context=context, recordings=recordings))
    return found
