"""Measure attention weights and word vectors."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord


def entropy(weights: Tensor) -> Tensor:
    """Return the entropy over the keys, 0 to log2(n_key) bits. (..., n_key) -> (...)"""
    return -(weights * weights.clamp_min(torch.finfo(weights.dtype).tiny).log2()).sum(dim=-1)


def special_share(weights: Tensor, special: Sequence[bool]) -> Tensor:
    """Return each row's weight on special tokens, 0 to 1. (..., n_key) -> (...)"""
    return weights[..., torch.tensor(special)].sum(dim=-1)


def hide_special(weights: Tensor, special: Sequence[bool]) -> tuple[Tensor, Tensor]:
    """Return the weights between the m ordinary tokens, in rows rescaled to sum to 1, and each row's weight on special tokens.

    (..., n_query, n_key) -> (..., m, m) and (..., m). A row with all its weight on special tokens becomes 0.
    """
    ordinary = ~torch.tensor(special)
    rows = weights[..., ordinary, :]
    kept = rows[..., ordinary]
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1.0), special_share(rows, special)


def similarity(first: Tensor, second: Tensor) -> Tensor:
    """Return the cosine of corresponding vectors in `first` and `second`, -1 to 1. (..., d) -> (...)"""
    return cosine_similarity(first.double(), second.double(), dim=-1).float()


def mean_distance(weights: Tensor) -> Tensor:
    """Return each row's mean distance |i - j| in tokens, weighted by attention. (..., n, n) -> (..., n)"""
    places = torch.arange(weights.shape[-1], dtype=weights.dtype)
    return (weights * (places[:, None] - places).abs()).sum(dim=-1)


def ordinary_rows(encoding: Encoding) -> list[int]:
    """Return the positions of all tokens except special tokens; all positions if every token is special."""
    return [i for i, special in enumerate(encoding.special) if not special] or list(range(len(encoding.special)))


def head_average(encoding: Encoding, layer: int) -> Tensor:
    """Return the mean of a layer's attention weights over its heads: (n, n)."""
    return encoding.weights(layer).mean(0)


def rollout(encoding: Encoding) -> Tensor:
    """Return attention rollout: (n_layers, n, n).

    Row i of layer l: how much of each input token is in token i after the layer. Rows sum to 1.
    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
    """
    layers = [torch.eye(len(encoding.tokens))]
    for layer in range(encoding.n_layers):
        layers.append(0.5 * head_average(encoding, layer) @ layers[-1] + 0.5 * layers[-1])
    return torch.stack(layers[1:])


@dataclass(frozen=True)
class Compared:
    """A word in the sentences A and B, and in a control sentence."""

    sides: Mapping[str, PlacedWord[Encoding]]  # "A", "B", "control"
    run_removals: Callable[..., Tensor]  # `removal_effect` for this encoder, or a cached version

    @property
    def cosine(self) -> float:
        """The cosine of the word's vectors in A and in B, -1 to 1."""
        vectors = [encoding.vector(encoding.n_layers, at) for encoding, at in (self.sides["A"], self.sides["B"])]
        return float(similarity(*vectors))

    def effect(self, other: str) -> Tensor:
        """Return how removing each head changes the cosine of the word's vectors in A and in `other`: (n_layers, n_heads)."""
        return self.run_removals(self.sides["A"], self.sides[other])


@dataclass(frozen=True)
class Measure:
    """A measure that gives each head a number."""

    name: str  # in pickers, addresses and tables
    unit: str  # "bits" ...; "": part of the weight; "effect": change of the cosine
    of: str  # "text": one text; "word": a word in two sentences
    compute: Callable[..., Tensor]  # (weights (..., n, n), encoding) -> (...), or Compared -> (n_layers, n_heads)
    caption: str
    label: str  # name for a reader
    beside: tuple[str, ...] = ()  # names of measures to show together
    needs_control: bool = False

    @property
    def signed(self) -> bool:
        return self.unit == "effect"

    def columns(self, compared: Compared) -> dict[str, Tensor]:
        """Compute this measure and those in `beside`: (n_layers, n_heads) each."""
        known = [MEASURES[name] for name in self.beside or (self.name,)]
        known = [each for each in known if "control" in compared.sides or not each.needs_control]
        return {each.name: each.compute(compared) for each in known}


def _of_ordinary(weights: Tensor, encoding: Encoding) -> Tensor:
    return weights[..., ordinary_rows(encoding), :]


def _on_token(offset: int) -> Callable[[Tensor, Encoding], Tensor]:
    """Return a function that computes the mean weight on the token `offset` positions after the query."""

    def share(weights: Tensor, encoding: Encoding) -> Tensor:
        places = [i for i in ordinary_rows(encoding) if 0 <= i + offset < weights.shape[-1]]
        if not places:
            return torch.zeros(weights.shape[:-2])
        return weights[..., places, [i + offset for i in places]].mean(dim=-1)

    return share


REMOVED = "How much the cosine of the word's two vectors rises when the head's output is set to zero in both sentences"
OF_ROWS = "Mean over the rows of all tokens except special tokens."
MEASURES = {measure.name: measure for measure in (
    Measure(
        "entropy", "bits", "text", lambda weights, encoding: entropy(_of_ordinary(weights, encoding)).mean(dim=-1),
        f"Entropy of a row: 0 if one token has all the weight, log2(n) if n tokens have equal weights. {OF_ROWS}",
        "how widely it looks",
    ),
    Measure(
        "distance", "tokens", "text",
        lambda weights, encoding: mean_distance(weights)[..., ordinary_rows(encoding)].mean(dim=-1),
        f"Distance from a token to the tokens that it attends to, weighted by attention. {OF_ROWS}",
        "how far it looks",
    ),
    Measure(
        "special tokens", "", "text",
        lambda weights, encoding: special_share(_of_ordinary(weights, encoding), encoding.special).mean(dim=-1),
        f"Attention weight on special tokens, 0 to 1. {OF_ROWS}",
        "weight on special tokens",
    ),
    *(
        Measure(name, "", "text", _on_token(offset), f"Attention weight on {place}, 0 to 1. {OF_ROWS}", f"weight on {place}")
        for name, offset, place in (
            ("previous token", -1, "the token before"), ("next token", 1, "the token after"), ("itself", 0, "the token itself")
        )
    ),
    Measure(
        "effect", "effect", "word", lambda compared: compared.effect("B"), f"{REMOVED}.", "effect of removing the head",
        ("effect", "control"),
    ),
    Measure(
        "control", "effect", "word", lambda compared: compared.effect("control"),
        f"{REMOVED}. The two sentences, A and a control sentence, use the word in the same sense.",
        "effect of removing the head, in the control sentence", ("effect", "control"), needs_control=True,
    ),
)}  # fmt: skip


def offered(beside: Collection[str]) -> dict[str, Measure]:
    """Return a dictionary of the available measures. beside: names of the sentences besides A ("B", "control")."""
    return {
        name: each
        for name, each in MEASURES.items()
        if each.of == "text" or ("B" in beside and ("control" in beside or not each.needs_control))
    }


def row_measures(weights: Tensor, encoding: Encoding) -> dict[str, Tensor]:
    """Compute every measure that needs only one text: weights (..., n, n) -> (...) each."""
    return {name: each.compute(weights, encoding) for name, each in MEASURES.items() if each.of == "text"}


def head_measures(encoding: Encoding) -> dict[str, Tensor]:
    """Compute, for all heads, every measure that needs only one text: (n_layers, n_heads) each."""
    layers = [row_measures(encoding.weights(layer), encoding) for layer in range(encoding.n_layers)]
    return {name: torch.stack([layer[name] for layer in layers]) for name in layers[0]}
