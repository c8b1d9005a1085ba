"""What removing heads changes: the cosine of a word's two vectors in a pair of sentences, and a head left alone.

The removal itself is `Encoder.knock_out`. An effect is a cosine after minus the cosine before: positive where the vectors
come closer without the head, so that the head sets them apart. Effects have both signs and don't add up.
Source: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.analysis.measures import similarity
from selfattn.encoders.capture import Head, Recorder
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.kernel import AttentionTrace

Place = tuple[str, Sequence[int]]  # a text, and the positions of the word's tokens in it


def knock_out_effect(
    encoder: Encoder, first: Place, second: Place, how: str = "zero", progress: Progress | None = None
) -> Tensor:
    """What removing each head, in both sentences, does to the cosine of a word's two vectors: (n_layers, n_heads).

    The cosine without the head minus the cosine with it, on the last hidden state. how: "zero" or "mean", as in
    `Encoder.knock_out`. progress(done, total) counts copies of both sentences. Raises NotRecomputable, TextError.
    """
    after = [
        encoder.knock_out(text, list(positions), how, half_of(progress, half))
        for half, (text, positions) in enumerate((first, second))
    ]
    return change_of_cosine(after, _vectors(encoder, first, second))


def joint_effect(encoder: Encoder, first: Place, second: Place, heads: Sequence[Head]) -> float:
    """The same for several heads removed together, their outputs set to zero."""
    after = [
        encoder.without_heads(text, [heads])[0][list(positions)].mean(dim=0) for text, positions in (first, second)
    ]
    return float(change_of_cosine(after, _vectors(encoder, first, second)))


def change_of_cosine(after: Sequence[Tensor], before: Sequence[Tensor]) -> Tensor:
    """The cosine of two vectors after a change minus the cosine before: after (..., d) each, before (d,) each."""
    return similarity(*after) - similarity(*before)


def half_of(progress: Progress | None, index: int, parts: int = 2) -> Progress | None:
    """The progress callback for one of two (or more) equal parts of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(index * total + done, parts * total)


def _vectors(encoder: Encoder, *places: Place) -> list[Tensor]:
    """The word's last hidden state in each sentence with every head in place: (d_model,) each."""
    return [encoder.encode(text).vector(encoder.n_layers, positions) for text, positions in places]


@dataclass(frozen=True, eq=False, kw_only=True)
class Alone:
    """A pass in which one head is the only attention there is."""

    trace: AttentionTrace  # the head in that pass: its layer reads hidden states that no other head has touched
    hidden: Tensor  # (n, d_model) the last hidden state


def alone(encoder: Encoder, text: str, layer: int, head: int) -> Alone:
    """Run the text with every other head's output set to zero, in every layer.

    Raises NotRecomputable, TextError, IndexError.
    """
    encoder.encode(text).trace(layer, head, rows=slice(0, 1))  # says what is wrong with text, layer, head or encoder
    others = [other for other in encoder.all_heads if other != (layer, head)]
    recorder = Recorder([others])
    tokens = encoder.tokenize(text)
    with torch.no_grad():
        output = encoder.model(**encoder.inputs([tokens]), recorder=recorder)
    trace = recorder.layers[layer].sentence(0, len(tokens.ids)).trace(head)
    return Alone(trace=trace, hidden=output.last_hidden_state[0].float().cpu())
