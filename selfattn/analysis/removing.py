"""Remove heads in two sentences, and measure how the cosine of a word's vectors in the two sentences changes.

The effect is the cosine after removal minus the cosine before removal. A positive effect means that the vectors are more similar
without the head, so the head separates the vectors. Effects can be negative, and they don't add up over heads.
Source: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 2.
"""

from collections.abc import Sequence

from torch import Tensor

from selfattn.analysis.measures import similarity
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress, half_of, silent
from selfattn.encoders.placed_word import PlacedWord


def removal_effect(
    encoder: Encoder,
    first: PlacedWord | tuple,
    second: PlacedWord | tuple,
    how: str = "zero",
    progress: Progress = silent,
    heads: Sequence[Head | tuple[Head, ...]] | None = None,
) -> Tensor:
    """Remove each head, in both sentences, and return the change of the cosine of a word's two vectors: (n_layers, n_heads).

    The change is the cosine of the last hidden states without the head, minus the cosine with the head. how ("zero" or "mean")
    and heads: as in `Encoder.knock_out`; if heads are given, the result is (len(heads),). progress(done, total) counts the copies
    of both sentences that were run. Raises NotRecomputable, TextError.
    """
    words = [encoder.placed(word) for word in (first, second)]
    after = [
        encoder.knock_out(word.sentence, word.positions, heads=heads, how=how, progress=half_of(progress, half))
        for half, word in enumerate(words)
    ]
    before = [encoder.encoded(word).vector(encoder.n_layers, word.positions) for word in words]
    return change_of_cosine(after, before)


def change_of_cosine(after: Sequence[Tensor], before: Sequence[Tensor]) -> Tensor:
    """Return the cosine of the two vectors `after`, (..., d), minus the cosine of the two vectors `before`, (d,): (...)."""
    return similarity(*after) - similarity(*before)
