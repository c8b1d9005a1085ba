"""Remove heads, and measure the cosine of a word's vectors in two sentences.

A head's effect is the cosine without the head minus the cosine with it. If the effect is positive, the head makes the two
vectors less similar. The effects of several heads don't add up.
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
    """Return how removing each head, one at a time, changes the cosine of the words' vectors: (n_layers, n_heads).

    how ("zero" or "mean"): as in `Encoder.knock_out`. heads: remove only these, and return (len(heads),).
    progress(done, total) counts batches. Raises NotRecomputable, TextError.
    """
    words = [encoder.placed(word) for word in (first, second)]
    after = [
        encoder.knock_out(word.sentence, word.positions, heads=heads, how=how, progress=half_of(progress, half))
        for half, word in enumerate(words)
    ]
    before = [encoder.encoded(word).vector(encoder.n_layers, word.positions) for word in words]
    return change_of_cosine(after, before)


def change_of_cosine(after: Sequence[Tensor], before: Sequence[Tensor]) -> Tensor:
    """Return the cosine of the two vectors `after` (..., d) minus that of the two vectors `before` (d,): (...)."""
    return similarity(*after) - similarity(*before)
