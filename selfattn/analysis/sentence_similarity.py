"""Which heads carry the similarity of two sentences, by a sentence embedder: swapped between the sentences, or removed.

The similarity is the cosine of the sentences' vectors, each the mean of the last hidden states at the positions that the
embedder pools (`encoders.pooling`). So a sentence is a word of many pieces, with one difference: what sets the pieces apart is
the sentence itself. A swap therefore moves a head's outputs, all by as much as takes their mean to the other sentence's mean,
and doesn't make the pieces the same. Between a sentence and itself it changes nothing.

What it doesn't say: one pair is a hint, over other pairs other heads may lead; and a swap at every position changes what later
heads read there, which counts to the head.
"""

from collections.abc import Sequence

from torch import Tensor

from selfattn.analysis.measures import similarity
from selfattn.analysis.removing import removal_effect
from selfattn.analysis.swapping import PairSwaps, swap_pair
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.placed_word import PlacedWord
from selfattn.encoders.pooling import Pooling


def pooled_tokens(encoder: Encoder, pooling: Pooling, text: str, pair: str | None = None) -> PlacedWord:
    """The tokens that the embedder averages, in place of a word's. Raises TextError."""
    tokens = encoder.tokenize(text, pair)
    return PlacedWord(tokens, pooling.positions(tokens))


def sentence_similarity(encoder: Encoder, pooling: Pooling, first: str, second: str) -> float:
    """The cosine of the two sentences' vectors, -1 to 1. Raises TextError."""
    pooled = [pooled_tokens(encoder, pooling, text) for text in (first, second)]
    return float(similarity(*(encoder.encoded(one).vector(encoder.n_layers, one.positions) for one in pooled)))


def swap_sentences(
    encoder: Encoder,
    pooling: Pooling,
    first: str,
    second: str,
    control: str | None = None,
    *,
    heads: Sequence[Head | tuple[Head, ...]] | None = None,
    how: str = "exact",
    progress: Progress = lambda done, total: None,
) -> PairSwaps:
    """How far a sentence's vector moves to the other's when a head's mean output over its tokens becomes the other's.

    control: a sentence that means what the first means, put into the first only: what moves it as far isn't about the
    meaning. heads, how and progress as in `swap_pair`. Raises NotRecomputable, TextError.
    """
    texts = [text for text in (first, second, control) if text is not None]
    pooled = [pooled_tokens(encoder, pooling, text) for text in texts]
    return swap_pair(encoder, *pooled, heads=heads, how=how, progress=progress, move=True)


def sentence_removal(
    encoder: Encoder,
    pooling: Pooling,
    first: str,
    second: str,
    how: str = "zero",
    progress: Progress = lambda done, total: None,
    heads: Sequence[Head | tuple[Head, ...]] | None = None,
) -> Tensor:
    """The similarity without each head, in both sentences, minus the similarity with it: as `removal_effect` of words."""
    pooled = [pooled_tokens(encoder, pooling, text) for text in (first, second)]
    return removal_effect(encoder, *pooled, how, progress, heads)
