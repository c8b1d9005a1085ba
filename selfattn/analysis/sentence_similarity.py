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

from selfattn.analysis.interventions import PairInterchange, Place, interchange_pair, knock_out_effect
from selfattn.analysis.measures import similarity
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.pooling import Pooling


def sentence_place(encoder: Encoder, pooling: Pooling, text: str, pair: str | None = None) -> Place:
    """The sentence as a place: the positions that the embedder averages. Raises TextError."""
    return Place(text, pooling.positions(encoder.tokenize(text, pair)), pair)


def sentence_similarity(encoder: Encoder, pooling: Pooling, first: str, second: str) -> float:
    """The cosine of the two sentences' vectors, -1 to 1. Raises TextError."""
    places = [sentence_place(encoder, pooling, text) for text in (first, second)]
    return float(similarity(*(encoder.encode(p.text).vector(encoder.n_layers, p.positions) for p in places)))


def interchange_sentences(
    encoder: Encoder,
    pooling: Pooling,
    first: str,
    second: str,
    control: str | None = None,
    *,
    heads: Sequence[Head | tuple[Head, ...]] | None = None,
    how: str = "exact",
    progress: Progress = lambda done, total: None,
) -> PairInterchange:
    """How far a sentence's vector moves to the other's when a head's mean output over its tokens becomes the other's.

    control: a sentence that means what the first means, put into the first only: what moves it as far isn't about the
    meaning. heads, how and progress as in `interchange_pair`. Raises NotRecomputable, TextError.
    """
    texts = [text for text in (first, second, control) if text is not None]
    places = [sentence_place(encoder, pooling, text) for text in texts]
    return interchange_pair(encoder, *places, heads=heads, how=how, progress=progress, move=True)


def sentence_removal(
    encoder: Encoder,
    pooling: Pooling,
    first: str,
    second: str,
    how: str = "zero",
    progress: Progress = lambda done, total: None,
    heads: Sequence[Head | tuple[Head, ...]] | None = None,
) -> Tensor:
    """The similarity without each head, in both sentences, minus the similarity with it: as `knock_out_effect` of words."""
    places = [sentence_place(encoder, pooling, text) for text in (first, second)]
    return knock_out_effect(encoder, *places, how, progress, heads)
