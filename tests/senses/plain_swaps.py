"""Interchange of one word's senses as it is defined, once more and plainly: loops over rows, float64, one sentence a pass.

Nothing here is fast and nothing is shared with the library but the tokeniser and its words. It is to be read beside the
definition, whose symbols it keeps; where that leaves a choice, the choice is marked with "Read as". BERT only: hooks
stand before each layer's `attention.output.dense`, whose input is the heads' contexts side by side.

    P_i        the positions of the word's pieces in row i
    u_i        the unit vector of v_i, the mean of the last hidden state over P_i
    z_i        (n_layers, n_heads, d_head), the mean over P_i of each head's context before W_O
    a_i, r_i   the axis of row i, c_own - c_other, and u_i . a_i
    e_i, k_i   (n_layers, n_heads), effect and control; D = mean e - mean k; share = D / gap

Means over a word are over the rows of a sense, then over its senses.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from selfattn import Encoder

# (layer, head): what its context becomes at each position of P_i, (d_head,)
Patches = Mapping[tuple[int, int], np.ndarray]


@dataclass(frozen=True)
class Row:
    """One sentence with the word in it."""

    inputs: dict[str, Tensor]
    positions: list[int]  # P_i
    sense: str


@dataclass(frozen=True)
class Derivatives:
    """What labels and resamples don't change: row i's vectors, and the derivatives of u_i . u_j, u_j held constant."""

    u: list[np.ndarray]  # (d_model,) a row
    z: list[np.ndarray]  # (n_layers, n_heads, d_head)
    context: list[np.ndarray]  # (n_layers, n_heads, |P_i|, d_head)
    slopes: list[list[np.ndarray]]  # [i][j]: d(u_i . u_j) / dcontext_p, shaped as `context`
    weights: list[np.ndarray]  # (n_layers, n_heads, |P_i|, n), the attention of the word's pieces
    values: list[np.ndarray]  # (n_layers, n_heads, n, d_head)


@dataclass(frozen=True)
class Interchange:
    """A word's result. Rows are in the order of the frame, or of the resample."""

    mean_effect: np.ndarray  # of e, (n_layers, n_heads)
    mean_control: np.ndarray  # of k
    difference: np.ndarray  # D
    gap: float
    share: np.ndarray
    sources: list[np.ndarray]  # (n_layers, n_heads, n) a row: what each token hands over, of the gap; by gradient only


# --- the encoder ---------------------------------------------------------------------------------------------------


class PlainBert:
    """A copy of the encoder's model in float64, its parameters frozen."""

    def __init__(self, encoder: Encoder):
        self.encoder = encoder
        self.model = copy.deepcopy(encoder.model).double().requires_grad_(False).eval()
        self.layers = self.model.encoder.layer
        self.n_heads, self.d_head = encoder.n_heads, encoder.d_head

    def rows(self, frame: pd.DataFrame) -> list[Row]:
        """The frame (sentence, word, sense) of one word; every row must count."""
        rows = []
        for sentence, word, sense in frame[["sentence", "word", "sense"]].itertuples(index=False):
            tokens = self.encoder.tokenize(sentence)
            (place,) = tokens.places(word)  # exactly once
            rows.append(Row(self.encoder.inputs([tokens]), list(place.positions), sense))
        return rows

    def run(self, row: Row, before_output: Callable[[int, Tensor], Tensor]) -> Tensor:
        """The last hidden state (n, d_model), with `before_output(layer, contexts)` in the place of the contexts."""
        hooks = [
            layer.attention.output.dense.register_forward_pre_hook(
                lambda module, args, index=index: (before_output(index, args[0][0])[None],)
            )
            for index, layer in enumerate(self.layers)
        ]
        try:
            return self.model(**row.inputs).last_hidden_state[0]
        finally:
            for hook in hooks:
                hook.remove()

    def patched(self, row: Row, patches: Patches) -> np.ndarray:
        """u_i with the contexts of some heads replaced at every position of P_i; nothing else changes."""

        def replace(layer: int, contexts: Tensor) -> Tensor:
            contexts = contexts.clone()
            for (patch_layer, head), value in patches.items():
                if patch_layer == layer:
                    columns = slice(head * self.d_head, (head + 1) * self.d_head)
                    for p in row.positions:
                        contexts[p, columns] = torch.from_numpy(value)
            return contexts

        with torch.no_grad():
            return unit(self.run(row, replace)[row.positions].mean(dim=0).numpy())

    def split(self, contexts: Tensor, positions: Sequence[int]) -> np.ndarray:
        """(n, n_heads * d_head) at the positions, a head each: (n_heads, len(positions), d_head)."""
        rows = contexts.detach().numpy()[list(positions)]
        return rows.reshape(len(positions), self.n_heads, self.d_head).swapaxes(0, 1)

    def contexts(self, row: Row) -> np.ndarray:
        """Each head's context at P_i: (n_layers, n_heads, |P_i|, d_head)."""
        seen = []

        def keep(layer: int, contexts: Tensor) -> Tensor:
            seen.append(self.split(contexts, row.positions))
            return contexts

        self.run(row, keep)
        return np.stack(seen)

    def derivatives(self, rows: Sequence[Row]) -> Derivatives:
        """Everything that the gradient form is made of, a pass a row and a backward pass a pair of rows."""
        u = [self.patched(row, {}) for row in rows]
        context = [self.contexts(row) for row in rows]
        slopes = [[self.split_all(row, slope) for slope in self.slopes(row, u)] for row in rows]
        attention = [self.attention(row) for row in rows]
        return Derivatives(
            u=u,
            z=[each.mean(axis=2) for each in context],
            context=context,
            slopes=slopes,
            weights=[weights for weights, _ in attention],
            values=[values for _, values in attention],
        )

    def slopes(self, row: Row, u: Sequence[np.ndarray]) -> list[tuple[Tensor, ...]]:
        """For each u_j: d(u_i . u_j) / dcontexts of every layer, each (n, n_heads * d_head)."""
        n = row.inputs["input_ids"].shape[1]
        # Adding a zero changes nothing, and the derivative by it is that by the contexts.
        zeros = [
            torch.zeros(n, self.n_heads * self.d_head, dtype=torch.float64, requires_grad=True) for _ in self.layers
        ]
        v_i = self.run(row, lambda layer, contexts: contexts + zeros[layer])[row.positions].mean(dim=0)
        u_i = v_i / v_i.norm()
        return [torch.autograd.grad(u_i @ torch.from_numpy(u_j), zeros, retain_graph=True) for u_j in u]

    def split_all(self, row: Row, contexts: Sequence[Tensor]) -> np.ndarray:
        """All layers' contexts (or slopes), as `contexts` hands them out."""
        return np.stack([self.split(each, row.positions) for each in contexts])

    def attention(self, row: Row) -> tuple[np.ndarray, np.ndarray]:
        """The weights of the word's pieces (n_layers, n_heads, |P_i|, n) and the values (n_layers, n_heads, n, d_head)."""
        with torch.no_grad():
            hidden = self.model(**row.inputs, output_hidden_states=True).hidden_states
        weights, values = [], []
        everywhere = range(row.inputs["input_ids"].shape[1])
        for layer, states in zip(self.layers, hidden):
            project = layer.attention.self
            query, key, value = (
                self.split(projection(states[0]), everywhere)
                for projection in (project.query, project.key, project.value)
            )
            scores = query[:, row.positions] @ key.swapaxes(1, 2) / np.sqrt(self.d_head)
            exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights.append(exponentials / exponentials.sum(axis=-1, keepdims=True))
            values.append(value)
        return np.stack(weights), np.stack(values)


# --- the definition ------------------------------------------------------------------------------------------------


def unit(vector: np.ndarray) -> np.ndarray:
    """The vector at length 1."""
    return vector / np.linalg.norm(vector)


def mean_over_a_word(numbers: Sequence[np.ndarray], senses: Sequence[str]) -> np.ndarray:
    """Over the rows of a sense, then over the senses."""
    means = []
    for sense in sorted(set(senses)):
        means.append(np.mean([number for number, of in zip(numbers, senses) if of == sense], axis=0))
    return np.mean(means, axis=0)


def axis_weights(i: int, rows: Sequence[int], senses: Sequence[str], u: Sequence[np.ndarray], among: Sequence[int]):
    """a_ij, so that a_i = sum over j of a_ij u_j: {j: a_ij}, i and every j being places in the resample `rows`.

    among: the places that may be on the axis. c_own is made of i's own sense without i (and its copies), c_other of the
    other senses, each counting the same.
    """
    own = [j for j in among if senses[j] == senses[i] and rows[j] != rows[i]]
    weights = {j: 1 / len(own) for j in own}
    other = {}
    others = sorted({senses[j] for j in among if senses[j] != senses[i]})
    for sense in others:
        members = [j for j in among if senses[j] == sense]
        for j in members:
            other[j] = 1 / len(members) / len(others)
    c_own, c_other = (sum(weight * u[rows[j]] for j, weight in part.items()) for part in (weights, other))
    axis = {j: weight / np.linalg.norm(c_own) for j, weight in weights.items()}
    axis |= {j: -weight / np.linalg.norm(c_other) for j, weight in other.items()}
    return axis


def donor_weights(
    i: int, own: bool, rows: Sequence[int], senses: Sequence[str], among: Sequence[int], without: int | None
):
    """{k: weight}, summing to 1: what m_own (or m_other) is made of, for row i and without the row `without`.

    Read as: where the row is left out, the weights of all that remain are multiplied by one number. (With two senses
    that is the mean of the remaining ones; with three, the others' senses no longer count quite the same.)
    """
    weights = {}
    donor_senses = [senses[i]] if own else sorted({senses[k] for k in among if senses[k] != senses[i]})
    for sense in donor_senses:
        members = [k for k in among if senses[k] == sense and rows[k] != rows[i]]
        for k in members:
            weights[k] = 1 / len(members) / len(donor_senses)
    if without is not None:
        weights = {k: weight for k, weight in weights.items() if rows[k] != without}
    total = sum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def gap_of(rows: Sequence[int], senses: Sequence[str], u: Sequence[np.ndarray]) -> float:
    """2 x mean r_i, every row being on the axes of the others."""
    everyone = range(len(rows))
    r = []
    for i in everyone:
        axis = axis_weights(i, rows, senses, u, everyone)
        r.append(sum(weight * (u[rows[i]] @ u[rows[j]]) for j, weight in axis.items()))
    return float(2 * mean_over_a_word(r, senses))


def by_gradient(
    derivatives: Derivatives, senses: Sequence[str], rows: Sequence[int] | None = None, tokens: bool = True
) -> Interchange:
    """Interchange by gradient, for a labelling of the rows and, where given, a resample of them.

    senses: a label for every row of the frame. rows: the rows of the resample, as often as they were drawn; a row's
    copies are neither its axis nor its donor. tokens: what each token hands over, too.
    """
    of = derivatives
    rows = list(range(len(of.u))) if rows is None else list(rows)
    senses = [senses[row] for row in rows]  # from here on, i, j and k are places in the resample
    everyone = range(len(rows))
    gap = gap_of(rows, senses, of.u)
    n_layers, n_heads = of.z[0].shape[:2]
    effect, control = np.zeros((2, len(rows), n_layers, n_heads))
    sources = []
    for i in everyone:
        axis = axis_weights(i, rows, senses, of.u, everyone)
        from_tokens = np.zeros((n_layers, n_heads, of.weights[rows[i]].shape[-1]))
        for j, a_ij in axis.items():
            slopes = of.slopes[rows[i]][rows[j]]
            G_ij = slopes.sum(axis=2)  # over p in P_i
            S_ij = (slopes * of.context[rows[i]]).sum(axis=(2, 3))
            for result, own in ((control, True), (effect, False)):
                # No row is axis and donor at once: j lends its u_j here, so its z_j stays out.
                donors = donor_weights(i, own, rows, senses, everyone, without=rows[j])
                m = sum(weight * of.z[rows[k]] for k, weight in donors.items())
                result[i] += a_ij * (S_ij - (G_ij * m).sum(axis=-1))
            if tokens:  # m is m_other
                handed = of.values[rows[i]] - m[:, :, None]
                from_tokens += a_ij * np.einsum("lhpt,lhpd,lhtd->lht", of.weights[rows[i]], slopes, handed)
        sources.append(from_tokens / gap)
    return _result(effect, control, senses, gap, sources)


def exact(encoder: Encoder, frame: pd.DataFrame, together: Sequence[tuple[int, int]] = ()) -> Interchange:
    """Interchange by patching, each head alone or only those named, together (then n_layers and n_heads are 1).

    The rows of each sense are dealt alternately into two folds; axis from one, donors from the other, exchanged and
    averaged. Read as: the gap is that of all rows, as it is by gradient.
    """
    bert = PlainBert(encoder)
    rows = bert.rows(frame)
    senses = [row.sense for row in rows]
    places = list(range(len(rows)))
    u = [bert.patched(row, {}) for row in rows]
    z = [bert.contexts(row).mean(axis=2) for row in rows]
    folds: list[list[int]] = [[], []]
    for sense in dict.fromkeys(senses):
        for turn, i in enumerate(i for i in places if senses[i] == sense):
            folds[turn % 2].append(i)
    heads = [(layer, head) for layer in range(encoder.n_layers) for head in range(encoder.n_heads)]
    patched_together = [together] if together else [[head] for head in heads]
    shape = (1, 1) if together else (encoder.n_layers, encoder.n_heads)
    effect, control = np.zeros((2, len(rows), *shape))
    for axis_fold, donor_fold in (folds, folds[::-1]):
        for i in places:
            axis = axis_weights(i, places, senses, u, axis_fold)
            a_i = sum(weight * u[j] for j, weight in axis.items())
            for result, own in ((effect, False), (control, True)):
                donors = donor_weights(i, own, places, senses, donor_fold, without=None)
                m = sum(weight * z[k] for k, weight in donors.items())  # (n_layers, n_heads, d_head)
                moved = [
                    u[i] @ a_i - bert.patched(rows[i], {head: m[head] for head in group}) @ a_i
                    for group in patched_together
                ]
                result[i] += np.reshape(moved, shape) / 2
    return _result(effect, control, senses, gap_of(places, senses, u), [])


def _result(effect, control, senses, gap, sources) -> Interchange:
    mean_effect, mean_control = (mean_over_a_word(list(each), senses) for each in (effect, control))
    return Interchange(
        mean_effect=mean_effect,
        mean_control=mean_control,
        difference=mean_effect - mean_control,
        gap=gap,
        share=(mean_effect - mean_control) / gap,
        sources=sources,
    )
