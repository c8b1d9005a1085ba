"""Two encoders on one sentence: heads set side by side word by word, and two checkpoints of one architecture head by head.

Different encoders cut a text into different tokens, so they meet at its words. Two checkpoints of one architecture, say
before and after fine-tuning, see the same tokens, and each head has a counterpart.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.analysis.difference import align
from selfattn.analysis.measures import hide_special
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.words import pool_words


@dataclass(frozen=True, eq=False)
class WordMap:
    """One head's weights between the words of a text, special tokens left out and each row scaled up to 1 again."""

    words: tuple[str, ...]  # m
    weights: Tensor  # (m, m)
    hidden: float  # the mean share of the words' weight that the special tokens had


@dataclass(frozen=True, eq=False)
class Meeting:
    """Two heads of two encoders on the words that both read."""

    words: tuple[str, ...]  # k
    first: Tensor  # (k, k)
    second: Tensor  # (k, k)
    left_out: tuple[str, ...]  # words that one of them doesn't read

    @property
    def difference(self) -> Tensor:
        """Second minus first, (k, k), signed."""
        return self.second - self.first


def word_map(encoding: Encoding, head: Head) -> WordMap:
    """One head word by word: to a split word the sum over its pieces, from it the mean."""
    pooled, groups = pool_words(encoding.weights(*head), encoding.words)
    special = [encoding.special[group[0]] for group in groups]
    spelled = {word.start: word.text for word in encoding.words}
    words = [spelled.get(group[0], encoding.tokens[group[0]]) for group, out in zip(groups, special) if not out]
    weights, hidden = hide_special(pooled, special)
    return WordMap(tuple(words), weights, float(hidden.mean()))


def meet(first: Encoding, first_head: Head, second: Encoding, second_head: Head) -> Meeting:
    """Two heads of two encoders on the same text, on the words that both have. Raises ValueError for two texts."""
    if (first.text, first.pair) != (second.text, second.pair):
        raise ValueError(f"Two encoders are compared on one text, got {first.text!r} and {second.text!r}.")
    one, other = word_map(first, first_head), word_map(second, second_head)
    matches = align([word.casefold() for word in one.words], [word.casefold() for word in other.words])
    both = [(i, j) for i, j in matches if i is not None and j is not None]
    left_out = [one.words[i] if j is None else other.words[j] for i, j in matches if i is None or j is None]
    rows, columns = [i for i, _ in both], [j for _, j in both]
    return Meeting(
        tuple(one.words[i] for i in rows),
        one.weights[rows][:, rows],
        other.weights[columns][:, columns],
        tuple(left_out),
    )


def why_not_head_by_head(first: Encoder, second: Encoder) -> str:
    """Why two encoders' heads are no counterparts of one another, or "" where they are."""
    for what in ("family", "n_layers", "n_heads", "d_model"):
        one, other = getattr(first, what), getattr(second, what)
        if one != other:
            return f"they are built differently ({what} {one} and {other})"
    if first.tokenizer.get_vocab() != second.tokenizer.get_vocab():
        return "they cut texts into different tokens"
    return ""


def head_by_head(first: Encoding, second: Encoding) -> Tensor:
    """How far each head's weights are from its counterpart's: (n_layers, n_heads), 0 (the same) to 1 (nothing shared).

    For each token the half sum of the absolute differences of its row (total variation), then the mean over the tokens
    that aren't special. Raises ValueError where the tokens differ.
    """
    if first.ids != second.ids:
        raise ValueError("Heads are compared one by one on the same tokens; these two encodings have different ones.")
    rows = [i for i, special in enumerate(first.special) if not special] or list(range(len(first.ids)))
    layers = [
        (second.weights(layer) - first.weights(layer))[:, rows].abs().sum(-1).mean(-1) / 2
        for layer in range(first.n_layers)
    ]
    return torch.stack(layers)
