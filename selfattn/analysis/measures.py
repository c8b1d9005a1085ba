"""Numbers about attention weights and word vectors: what a head attends to, and how near two vectors are."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from selfattn.encoders.encoding import Encoding


def entropy(weights: Tensor) -> Tensor:
    """Shannon entropy over the keys, in bits: 0 (one key) to log2(n) (uniform). (..., n_key) -> (...)"""
    return -(weights * weights.clamp_min(torch.finfo(weights.dtype).tiny).log2()).sum(dim=-1)


def special_share(weights: Tensor, special: Sequence[bool]) -> Tensor:
    """The share of each row's weight on special tokens, 0 to 1. (..., n_key) -> (...)"""
    return weights[..., torch.tensor(special)].sum(dim=-1)


def hide_special(weights: Tensor, special: Sequence[bool]) -> tuple[Tensor, Tensor]:
    """Weights over the ordinary tokens only, each row renormalised to 1, and how much weight that hid.

    weights (..., n_query, n_key); the columns and rows of special tokens are removed: (..., m, m), and (..., m).
    A row with all its weight on special tokens stays all zeros.
    """
    ordinary = ~torch.tensor(special)
    rows = weights[..., ordinary, :]
    kept = rows[..., ordinary]
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1.0), special_share(rows, special)


def similarity(first: Tensor, second: Tensor) -> Tensor:
    """Cosine of two (stacks of) vectors, -1 to 1. (..., d) -> (...)"""
    return cosine_similarity(first.double(), second.double(), dim=-1).float()


def drift(first: Encoding, at_first: Sequence[int], second: Encoding, at_second: Sequence[int]) -> Tensor:
    """The cosine of one word's vectors in two sentences: as bare token, with position, after each layer.

    (n_layers + 2,): the static token vectors, hidden[0], ..., hidden[n_layers]. A split word is the mean of its pieces.
    """
    static = similarity(first.static[list(at_first)].mean(0), second.static[list(at_second)].mean(0))
    layers = similarity(first.hidden[:, list(at_first)].mean(1), second.hidden[:, list(at_second)].mean(1))
    return torch.cat([static[None], layers])


def most_to_another(encoding: Encoding, positions: Sequence[int]) -> Tensor:
    """The largest weight that a word gives to a token of another word, in each head: (n_layers, n_heads)."""
    weights = torch.stack([encoding.rows(position) for position in positions]).mean(0)
    weights[..., [p in positions or special for p, special in enumerate(encoding.special)]] = 0
    return weights.amax(-1)


def weighted_values(weights: Tensor, value: Tensor, output_weight: Tensor | None = None) -> Tensor:
    """What each token hands over, weight x value: (..., n), (n, d_head) -> (..., n, d_head).

    output_weight (d_head, d_model), the head's slice of W_O: as it enters the residual stream, (..., n, d_model). Its norm
    says what the weight alone doesn't. (Kobayashi et al. 2020, "Attention is Not Only a Weight", section 3: alpha f(x))
    """
    return weights[..., None] * (value if output_weight is None else value @ output_weight)


def mean_distance(weights: Tensor) -> Tensor:
    """How far each row reaches, in tokens: the mean of |i - j| under its weights. (..., n, n) -> (..., n)"""
    places = torch.arange(weights.shape[-1], dtype=weights.dtype)
    return (weights * (places[:, None] - places).abs()).sum(dim=-1)


def ordinary_rows(encoding: Encoding) -> list[int]:
    """The positions of the tokens that aren't special; all positions where every token is."""
    return [i for i, special in enumerate(encoding.special) if not special] or list(range(len(encoding.special)))


def row_measures(weights: Tensor, encoding: Encoding) -> dict[str, Tensor]:
    """What a head's rows attend to, weights (..., n, n), each a mean over the ordinary tokens' rows: (...).

    entropy (bits) and distance (tokens); the share of the weight, 0 to 1, on special tokens, on the previous token, on
    the next one and on the token itself. A row without a previous or next token is left out of that mean.
    """
    rows = ordinary_rows(encoding)
    n = weights.shape[-1]
    own = weights[..., rows, :]

    def beside(offset: int) -> Tensor:
        places = [i for i in rows if 0 <= i + offset < n]
        if not places:
            return torch.zeros(weights.shape[:-2])
        return weights[..., places, [i + offset for i in places]].mean(dim=-1)

    return {
        "entropy": entropy(own).mean(dim=-1),
        "distance": mean_distance(weights)[..., rows].mean(dim=-1),
        "special tokens": special_share(own, encoding.special).mean(dim=-1),
        "previous token": beside(-1),
        "next token": beside(1),
        "itself": beside(0),
    }


def head_measures(encoding: Encoding) -> dict[str, Tensor]:
    """`row_measures` of every head, (n_layers, n_heads) each; one layer's maps are held at a time."""
    layers = [row_measures(encoding.weights(layer), encoding) for layer in range(encoding.n_layers)]
    return {name: torch.stack([layer[name] for layer in layers]) for name in layers[0]}
