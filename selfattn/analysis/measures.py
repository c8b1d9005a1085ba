"""Numbers about attention weights and word vectors; `MEASURES`: every number by which heads are compared, a record each."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord


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


def drift(first: PlacedWord[Encoding], second: PlacedWord[Encoding]) -> Tensor:
    """The cosine of one word's vectors in two sentences: as bare token, with position, after each layer.

    (n_layers + 2,): the static token vectors, hidden[0], ..., hidden[n_layers]. A split word is the mean of its pieces.
    """
    static = similarity(*(sentence.static[list(positions)].mean(0) for sentence, positions in (first, second)))
    layers = similarity(*(sentence.hidden[:, list(positions)].mean(1) for sentence, positions in (first, second)))
    return torch.cat([static[None], layers])


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


@dataclass(frozen=True)
class Compared:
    """A word, or a whole sentence, in A, in B and, where there is one, in a control that means what A means."""

    sides: Mapping[str, PlacedWord[Encoding]]  # "A", "B", "control"; of a sentence, the tokens that its vector averages
    run_removals: Callable[..., Tensor]  # `removal_effect` with its encoder; pages keep what was run before
    run_swaps: Callable[..., Any]  # `swap_pair` likewise

    @property
    def cosine(self) -> float:
        """Of the vectors in A and in B, -1 to 1."""
        vectors = [encoding.vector(encoding.n_layers, at) for encoding, at in (self.sides["A"], self.sides["B"])]
        return float(similarity(*vectors))

    def effect(self, other: str, how: str = "zero") -> Tensor:
        """How removing each head changes the cosine of A's vector and the other's: (n_layers, n_heads)."""
        return self.run_removals(self.sides["A"], self.sides[other], how)

    @cached_property
    def swaps(self) -> Any:
        """How far swapping each head's output moves the vectors: a `PairSwaps`."""
        return self.run_swaps(*self.sides.values())


@dataclass(frozen=True)
class Measure:
    """A number for every head. What stands in `MEASURES` is offered on the pages, in their files and in the notebook."""

    name: str  # in pickers, addresses and tables
    unit: str  # "bits" ...; "" a part of the weight; around 0: "effect" of a cosine, "share" of a way
    of: str  # "text": (weights (..., n, n), encoding) -> (...); "word" or "sentence": (Compared) -> (n_layers, n_heads)
    compute: Callable[..., Tensor]
    caption: str
    control: Callable[[Compared], Tensor] | None = None  # the same for the control, in a column of its own
    needs_control: bool = False

    @property
    def signed(self) -> bool:
        """Whether it lies around 0."""
        return self.unit in ("effect", "share")

    def columns(self, compared: Compared) -> dict[str, Tensor]:
        """A measure of a word or of a sentence, and its control's where there is one, by name: (n_layers, n_heads) each."""
        own = {self.name: self.compute(compared)}
        if self.control is not None and "control" in compared.sides:
            own[f"{self.name}, control"] = self.control(compared)
        return own


def _own_rows(weights: Tensor, encoding: Encoding) -> Tensor:
    return weights[..., ordinary_rows(encoding), :]


def _beside(offset: int) -> Callable[[Tensor, Encoding], Tensor]:
    """The share on the token so many places on. A row that has none there is left out of the mean."""

    def share(weights: Tensor, encoding: Encoding) -> Tensor:
        places = [i for i in ordinary_rows(encoding) if 0 <= i + offset < weights.shape[-1]]
        if not places:
            return torch.zeros(weights.shape[:-2])
        return weights[..., places, [i + offset for i in places]].mean(dim=-1)

    return share


OF_ROWS = "Mean over the rows of the ordinary tokens."
MEASURES = {measure.name: measure for measure in (
    Measure(
        "entropy", "bits", "text", lambda weights, encoding: entropy(_own_rows(weights, encoding)).mean(dim=-1),
        f"How widely a row spreads its weight: 0 is one token, log2(n) is all tokens equally. {OF_ROWS}",
    ),
    Measure(
        "distance", "tokens", "text",
        lambda weights, encoding: mean_distance(weights)[..., ordinary_rows(encoding)].mean(dim=-1),
        f"How far away the weight lies, in tokens. {OF_ROWS}",
    ),
    Measure(
        "special tokens", "", "text",
        lambda weights, encoding: special_share(_own_rows(weights, encoding), encoding.special).mean(dim=-1),
        f"The share of the weight on special tokens. {OF_ROWS}",
    ),
    Measure("previous token", "", "text", _beside(-1), f"The share of the weight on the token before. {OF_ROWS}"),
    Measure("next token", "", "text", _beside(1), f"The share of the weight on the token after. {OF_ROWS}"),
    Measure("itself", "", "text", _beside(0), f"The share of the weight on the token itself. {OF_ROWS}"),
    Measure(
        "effect", "effect", "word", lambda word: word.effect("B"),
        "Removing the head (output set to zero): by how much the cosine of the word's two vectors rises.",
    ),
    Measure(
        "effect (mean)", "effect", "word", lambda word: word.effect("B", "mean"),
        "The same with the head's output set to its mean over the sentence instead of zero.",
    ),
    Measure(
        "control", "effect", "word", lambda word: word.effect("control"),
        "The effect (zero) for the control: A against a sentence of the same sense.", needs_control=True,
    ),
    Measure(
        "swap, A from B", "share", "word", lambda word: word.swaps.a_from_b,
        "How far A's word moves on the way to B's when the head's output at it comes from B.",
    ),
    Measure(
        "swap, B from A", "share", "word", lambda word: word.swaps.b_from_a,
        "How far B's word moves on the way to A's when the head's output at it comes from A.",
    ),
    Measure(
        "swap, A from control", "share", "word", lambda word: word.swaps.control,
        "How far A's word moves on the way to B's when the head's output at it comes from a sentence of A's own sense: what "
        "moves it as far isn't about the sense.", needs_control=True,
    ),
    Measure(
        "similarity, swap", "share", "sentence", lambda sentence: sentence.swaps.share,
        "How far A's sentence vector moves to B's, and B's to A's, when the head's mean output over the sentence becomes the "
        "other's. A sentence vector is the mean of last hidden states that the encoder's own files name.",
        control=lambda sentence: sentence.swaps.control,
    ),
    Measure(
        "similarity, removal", "effect", "sentence", lambda sentence: sentence.effect("B"),
        "Removing the head in both sentences (output set to zero): by how much the cosine of the sentence vectors rises.",
        control=lambda sentence: sentence.effect("control"),
    ),
)}  # fmt: skip


def offered(beside: Collection[str]) -> dict[str, Measure]:
    """The measures that a text has with these beside it ("B", "control"), by name."""
    return {
        name: each
        for name, each in MEASURES.items()
        if each.of == "text" or ("B" in beside and ("control" in beside or not each.needs_control))
    }


def row_measures(weights: Tensor, encoding: Encoding) -> dict[str, Tensor]:
    """Every measure of a text for heads' weights (..., n, n), by its name in `MEASURES`: (...) each."""
    return {name: each.compute(weights, encoding) for name, each in MEASURES.items() if each.of == "text"}


def head_measures(encoding: Encoding) -> dict[str, Tensor]:
    """`row_measures` of every head, (n_layers, n_heads) each; one layer's maps are held at a time."""
    layers = [row_measures(encoding.weights(layer), encoding) for layer in range(encoding.n_layers)]
    return {name: torch.stack([layer[name] for layer in layers]) for name in layers[0]}
