"""Hide words with a second, plain implementation, in float64.

u           (d_model,) the word's unit vector, with nothing hidden
hidden      (m, d_model) row w: u with the other word w hidden; m: number of other words
alone       (m, d_model) row w: u if the word sees only w, itself and special tokens
way         vector along which a share is measured: (hidden[w] - u) . way / |way|^2
"""

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface, AutoModel
from transformers.masking_utils import eager_mask

from selfattn import Encoder

WHAT = ["as it is", "the word hidden", "any other hidden", "most attended hidden", "nearest hidden"]
WHAT += ["the word alone", "any other alone", "most attended alone", "nearest alone"]


@dataclass(frozen=True)
class Row:
    """A sentence with its labelled word."""

    ids: Tensor  # (n,)
    word: tuple[int, ...]  # the positions of its tokens
    others: list[tuple[int, ...]]  # positions of the other words and punctuation marks
    texts: list[str]
    named: list[int]  # indices in `others` of words that aren't punctuation
    distance: list[int]  # of each named word from the word, in words
    special: list[int]
    sense: str


@dataclass(frozen=True)
class Vectors:
    u: np.ndarray
    hidden: np.ndarray
    alone: np.ndarray


@dataclass(frozen=True)
class Hiding:
    """The query-key pairs that the function `attention` hides. seen: each layer's (weights, values) before hiding."""

    edges: Tensor  # (copies, n_layers, n_heads, n, n), True: the query can't attend to the key
    strength: float  # 1: hidden; near 0: hidden a little, for derivatives
    renormalised: bool  # False: the other tokens' weights don't change (value zeroing)
    seen: list[tuple[Tensor, Tensor]] = field(default_factory=list)


def attention(module, query, key, value, attention_mask, scaling, hiding=None, position_bias=None, **options):
    """Compute softmax(Q K^T scale + bias + mask) V without the query-key pairs in `hiding.edges`."""
    # In grouped-query attention, heads share keys and values.
    key, value = (each.repeat_interleave(query.shape[1] // each.shape[1], dim=1) for each in (key, value))
    scaled = query @ key.transpose(-1, -2) * scaling
    for term in (position_bias, attention_mask):
        scaled = scaled if term is None else scaled + term
    weights = scaled.softmax(dim=-1)
    if hiding is not None:
        edges = hiding.edges[:, len(hiding.seen)]
        hiding.seen.append((weights, value))
        without = weights.masked_fill(edges, 0)
        if hiding.renormalised:
            without = (scaled + torch.zeros_like(scaled).masked_fill(edges, -torch.inf)).softmax(dim=-1)
        weights = (1 - hiding.strength) * weights + hiding.strength * without
    return (weights @ value).transpose(1, 2).contiguous(), weights


AttentionInterface.register("plain_hiding", attention)
AttentionMaskInterface.register("plain_hiding", eager_mask)


def load(folder):
    model = AutoModel.from_pretrained(folder, attn_implementation="plain_hiding").double().requires_grad_(False).eval()
    return model.encoder if hasattr(model, "decoder") else model  # T5's encoder half


def run(model, ids: Tensor, edges: Tensor, strength: float = 1.0, renormalised: bool = True):
    """Run the model on copies of the sentence, one for each entry of `edges` (see `Hiding`). ids: (n,) or (copies, n).

    Returns states (copies, n_layers + 1, n, d_model), and the `Hiding` object.
    """
    hiding = Hiding(edges, strength, renormalised)
    states = model(ids.expand(len(edges), -1), output_hidden_states=True, hiding=hiding).hidden_states
    if len(hiding.seen) != edges.shape[1]:
        raise ValueError(f"{len(hiding.seen)} of {edges.shape[1]} layers called the attention function of this file.")
    return torch.stack(states, dim=1).numpy(), hiding


def edges_of(model, row: Row, keys: Sequence[Collection[int]], heads=None) -> Tensor:
    """Make a mask that hides the positions keys[i] from the word's queries in copy i of the sentence (True: hidden).

    heads[i]: the heads of copy i in which the positions are hidden. None: all heads. Returns (copies, n_layers, n_heads, n, n).
    """
    n, shape = len(row.ids), (model.config.num_hidden_layers, model.config.num_attention_heads)
    edges = torch.zeros(len(keys), *shape, n, n, dtype=torch.bool)
    for copy, positions in enumerate(keys):
        for layer, head in heads[copy] if heads else np.ndindex(shape):
            for query in row.word:
                edges[copy, layer, head, query, list(positions)] = True
    return edges


def unit_vectors(row: Row, states: np.ndarray) -> np.ndarray:
    """Return the word's unit vector: (..., n, d_model) -> (..., d_model)."""
    mean = states[..., list(row.word), :].mean(axis=-2)
    return mean / np.linalg.norm(mean, axis=-1, keepdims=True)


def without(model, row: Row, keys: Sequence[Collection[int]], heads=None, **how) -> np.ndarray:
    """Return the word's unit vector with the positions keys[i] hidden, for each i: (len(keys), d_model)."""
    return unit_vectors(row, run(model, row.ids, edges_of(model, row, keys, heads), **how)[0][:, -1])


def first_order(model, row: Row, keys: Sequence[Collection[int]], step: float = 1e-4) -> np.ndarray:
    """Return the derivative of `without` with respect to `strength`, at strength 0: (len(keys), d_model)."""
    ends = [without(model, row, keys, strength=sign * step) for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * step)


def rows_of(encoder: Encoder, frame: pd.DataFrame) -> list[Row]:
    """Return a table's rows. Each sentence must contain its labelled word exactly once."""
    return [placed(encoder, *each) for each in frame[["sentence", "word", "sense"]].itertuples(index=False)]


def placed(encoder: Encoder, sentence: str, word: str, sense: str = "") -> Row:
    tokens = encoder.tokenize(sentence)
    (chosen,) = [at for at in tokens.words if at.text.casefold() == word.casefold()]
    others = [at for at in tokens.words if at != chosen]
    counted = [at for at in tokens.words if not at.is_punctuation]
    return Row(
        ids=encoder.inputs([tokens])["input_ids"][0],
        word=chosen.positions,
        others=[at.positions for at in others],
        texts=[at.text for at in others],
        named=[w for w, at in enumerate(others) if not at.is_punctuation],
        distance=[abs(counted.index(at) - counted.index(chosen)) for at in others if not at.is_punctuation],
        special=[position for position, special in enumerate(tokens.special) if special],
        sense=sense,
    )


def vectors(model, row: Row) -> Vectors:
    kept = [{*row.word, *row.special, *positions} for positions in row.others]
    all_but = [[position for position in range(len(row.ids)) if position not in each] for each in kept]
    found = without(model, row, [(), *row.others, *all_but])
    m = len(row.others)
    return Vectors(found[0], found[1 : 1 + m], found[1 + m :])


def shares(u: np.ndarray, u_without: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Return how far each of `u_without` lies from `u` along `way`, in units of the length of `way`."""
    length = np.linalg.norm(way)
    return (u_without - u) @ way / length**2 if length >= 1e-6 else np.full(len(u_without), np.nan)


def largest(row: Row, scores: np.ndarray) -> int:
    """Return the index of the word with the largest score."""
    return max(row.named, key=lambda w: scores[w])


def cosines(a: Vectors, b: Vectors) -> np.ndarray:
    """Return the cosines of the word's vectors in a and b, with one other word hidden in each: (m_A + 1, m_B + 1).

    Row 0: nothing is hidden in a. Column 0: nothing is hidden in b.
    """
    return np.vstack([a.u, a.hidden]) @ np.vstack([b.u, b.hidden]).T


def both_hidden(a: Row, b: Row, cosine: np.ndarray, i: int, j: int):
    """Return the cosine with word i of a and word j of b hidden, and the largest cosine with two other words hidden.

    The two other words are one word of a, not i, and one word of b, not j.
    """
    others = [cosine[v + 1, w + 1] for v in a.named for w in b.named if v != i and w != j]
    return cosine[i + 1, j + 1], max(others, default=np.nan)


def by_head(model, row: Row, word: int, way: np.ndarray, **how) -> np.ndarray:
    """Hide a word in one head at a time. Return the labelled word's moves along `way`, as fractions of the length of `way`.

    word: the hidden word's index in `row.others`. Returns (n_layers, n_heads).
    """
    shape = model.config.num_hidden_layers, model.config.num_attention_heads
    heads = [[head] for head in np.ndindex(shape)]
    moved = without(model, row, [row.others[word]] * len(heads), heads, **how) - without(model, row, [()])[0]
    return (moved @ way / (way @ way)).reshape(shape)


def is_named(row: Row, share: np.ndarray) -> bool:
    """Return True if hiding one word moves the vector far, and clearly farther than hiding any other word."""
    first = largest(row, share)
    runner_up = max((share[w] for w in row.named if w != first), default=-np.inf)
    return share[first] >= max(0.1, 1.5 * runner_up)


def own_and_other(u: np.ndarray, senses: Sequence[str], sense: str, among: Collection[int]):
    """Return the mean vector of the rows with `sense`, and the mean of the other senses' mean vectors."""
    mean = {each: np.mean([u[j] for j in among if senses[j] == each], axis=0) for each in sorted(set(senses))}
    return mean[sense], np.mean([mean[each] for each in mean if each != sense], axis=0)


def axis_without(u: np.ndarray, senses: Sequence[str], sense: str, i: int | None) -> np.ndarray:
    """Return the vector from the mean of `sense` to the other senses' mean, computed without row i."""
    own, other = own_and_other(u, senses, sense, [j for j in range(len(u)) if j != i])
    return other - own


def taken_for(typed: np.ndarray, u: np.ndarray, senses: Sequence[str], i: int | None):
    """Return the sense with the mean nearest to the vector `typed`, the squared distance to this mean, and a quantile.

    The means that are compared with `typed` are computed without row i of `u`.
    The quantile is the 95 % quantile of the squared distances of all rows from the means of their own senses.
    """

    def squared(vector, sense, left_out):
        own, _ = own_and_other(u, senses, sense, [j for j in range(len(u)) if j != left_out])
        return float(((vector - own) ** 2).sum())

    distance = {sense: squared(typed, sense, i) for sense in sorted(set(senses))}
    nearer = min(distance, key=distance.__getitem__)
    return nearer, distance[nearer], float(np.quantile([squared(u[j], senses[j], j) for j in range(len(u))], 0.95))


def deals(senses: Sequence[str]) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yield each row's index five times, each time with a random split of the other rows into halves."""
    generator = np.random.default_rng(0)
    for i in range(len(senses)):
        for _ in range(5):
            halves: tuple[list[int], list[int]] = ([], [])
            for sense in sorted(set(senses)):
                dealt = generator.permutation([j for j in range(len(senses)) if senses[j] == sense and j != i])
                halves[0].extend(dealt[: len(dealt) // 2])
                halves[1].extend(dealt[len(dealt) // 2 :])
            yield i, *halves


def judgements(rows: Sequence[Row], found: Sequence[Vectors], weight: Sequence[np.ndarray]) -> pd.DataFrame:
    """Return ten judgements per row, from five random splits of the other rows.

    Each split gives a picking half and a judging half; then the halves swap their roles.
    weight: attention to the other words, (m,) per row
    Columns of the result:
    row: index in `rows`
    way: vector from the mean of the row's own sense to the mean of the other senses' means, in the picking half
    picked: index in `Row.others` of the word whose hiding moves the labelled word's vector farthest along `way`
    a column for each case in WHAT, such as "the word alone": 1 if the word's vector in that case is nearer to the row's own
        sense than to the other senses (means of the judging half), else 0; the mean if the case has several words
    The measure's definition doesn't say what a sentence's sense is. Here it is the sentence's label.
    """
    senses, u = [row.sense for row in rows], np.stack([each.u for each in found])
    table = []
    for i, *halves in deals(senses):
        row, at = rows[i], found[i]
        most, near = largest(row, weight[i]), nearest(row)
        for picking, judging in (halves, halves[::-1]):
            own, other = own_and_other(u, senses, row.sense, picking)
            way = other - own
            picked = largest(row, shares(at.u, at.hidden, way))
            own, other = own_and_other(u, senses, row.sense, judging)
            unpicked = [w for w in row.named if w != picked]

            def right(vector, own=own, other=other):
                return (np.sign(((own + other) / 2 - vector) @ (other - own)) + 1) / 2

            answers = [right(at.u)]
            for vector in (at.hidden, at.alone):
                for words in ([picked], unpicked, [most], near):
                    answers.append(np.mean([right(vector[w]) for w in words]))
            table.append((i, picked, way, *answers))
    return pd.DataFrame(table, columns=["row", "picked", "way", *WHAT])


def nearest(row: Row) -> list[int]:
    """Return the indices of the words closest to the labelled word, leaving out punctuation: one, or one on each side."""
    return [w for w, distance in zip(row.named, row.distance) if distance == min(row.distance)]


def between(rows: Sequence[Row], found: Sequence[Vectors]) -> dict[bool, float]:
    """Return the fraction of sentence pairs in which both sentences have a word that passes `is_named`.

    The value at True is over the pairs with the same sense; the value at False is over the pairs with two senses.
    """
    named: dict[bool, list[bool]] = {False: [], True: []}
    for a, b in itertools.combinations(range(len(rows)), 2):
        ways = ((a, found[b].u - found[a].u), (b, found[a].u - found[b].u))
        both = all(is_named(rows[i], shares(found[i].u, found[i].hidden, way)) for i, way in ways)
        named[rows[a].sense == rows[b].sense].append(both)
    return {same: float(np.mean(each)) for same, each in named.items()}


def moves(largest: Sequence[float], smallest: Sequence[float], t: float) -> tuple[int, int]:
    """Count the values of `largest` that are at least t, and the values of `smallest` that are at most -t."""
    return sum(share >= t for share in largest), sum(share <= -t for share in smallest)


def noise_level(largest: Sequence[float], smallest: Sequence[float]) -> float:
    """Return the smallest t of .01, .02 ... for which away <= toward / 8 holds at t and at every larger t.

    toward, away = moves(largest, smallest, t). Only t with toward >= 20 count.
    """
    grid = [step / 100 for step in range(1, 1000)]
    judged = [(t, away <= toward / 8) for t in grid for toward, away in [moves(largest, smallest, t)] if toward >= 20]
    held = [t for at, (t, _) in enumerate(judged) if all(holds for _, holds in judged[at:])]
    return held[0] if held else np.nan


def first_order_by_head(model, row: Row, word: int, way: np.ndarray) -> np.ndarray:
    """Return the derivative of `by_head` with respect to `strength`, at strength 0: (n_layers, n_heads)."""
    ends = [by_head(model, row, word, way, strength=strength) for strength in (1e-4, -1e-4)]
    return (ends[0] - ends[1]) / 2e-4


def mean_over_senses(values: np.ndarray, senses: Sequence[str]) -> np.ndarray:
    """Average the values of each sense, then average these means over the senses."""
    of_sense = [np.mean([v for v, own in zip(values, senses) if own == each], axis=0) for each in sorted(set(senses))]
    return np.mean(of_sense, axis=0)


def to_words(row: Row, from_word: Tensor) -> np.ndarray:
    """Average over the word's tokens (rows), and sum over each other word's tokens (columns): (..., n, n) -> (..., m)."""
    mean = from_word[..., list(row.word), :].mean(dim=-2)
    return torch.stack([mean[..., list(positions)].sum(dim=-1) for positions in row.others], dim=-1).numpy()


def attended(model, row: Row) -> np.ndarray:
    """Return the attention weights from the word to each of the m other words: (n_layers, n_heads, m)."""
    _, hiding = run(model, row.ids, edges_of(model, row, [()]))
    return np.stack([to_words(row, weights[0]) for weights, _ in hiding.seen])


def without_axis(model, row: Row) -> dict[str, np.ndarray]:
    """Score each word of `row.others` by four methods that ignore the senses. Works only for BERT."""
    _, hiding = run(model, row.ids, edges_of(model, row, [()]))
    norm, rollout = np.zeros(len(row.others)), torch.eye(len(row.ids), dtype=torch.float64)
    for layer, (weights, values) in enumerate(hiding.seen):
        output = model.encoder.layer[layer].attention.output.dense.weight  # (d_model, n_heads * d_head)
        W_O = output.unflatten(1, values.shape[1:2] + values.shape[3:])  # (d_model, n_heads, d_head)
        handed = torch.einsum("hqk,hkd,mhd->mqk", weights[0], values[0], W_O)  # summed over the heads
        norm += np.linalg.norm(to_words(row, handed), axis=0)
        rollout = 0.5 * weights[0].mean(dim=0) @ rollout + 0.5 * rollout  # Abnar and Zuidema 2020, section 3
    weight = attended(model, row)
    scores = {"most attended": weight.mean(axis=(0, 1)), "largest weight": weight.max(axis=(0, 1)), "norm": norm}
    return scores | {"rollout": to_words(row, rollout)}


def along_axis(model, row: Row, mask_id: int) -> dict[str, np.ndarray]:
    """Compute by three methods how the word's unit vector u changes without each of the m other words: (m, d_model) each."""
    u = without(model, row, [()])[0]
    masked = row.ids.repeat(len(row.others), 1)
    for copy, positions in enumerate(row.others):
        masked[copy, list(positions)] = mask_id
    states, _ = run(model, masked, edges_of(model, row, [()] * len(row.others)))
    return {
        "gradient": first_order(model, row, row.others),
        "value zeroing": without(model, row, row.others, renormalised=False) - u,
        "[MASK]": unit_vectors(row, states[:, -1]) - u,
    }
