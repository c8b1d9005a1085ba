"""The plain swaps hold against themselves: gradients are finite differences of their own swaps; a row written out."""

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn import Encoder, load_encoder
from selfattn.encoders.families import FAMILIES, save_tiny
from tests.senses.plain_swaps import PlainBert, axis_weights, by_gradient, donor_weights, exact
from tests.senses.test_swapping import RIVERBANKS

SENTENCES = {sense: RIVERBANKS[sense][:4] for sense in ("water", "money")}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Encoder:
    return load_encoder(str(save_tiny(FAMILIES["BERT"], tmp_path_factory.mktemp("bert"))), device="cpu")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rows = [(sentence, "riverbank", sense) for sense, each in SENTENCES.items() for sentence in each]
    return pd.DataFrame(rows, columns=["sentence", "word", "sense"])


@pytest.fixture(scope="module")
def bert(tiny):
    return PlainBert(tiny)


@pytest.fixture(scope="module")
def rows(bert, frame):
    return bert.rows(frame)


@pytest.fixture(scope="module")
def derivatives(bert, rows):
    return bert.derivatives(rows)


@pytest.mark.slow
def test_the_gradient_is_the_finite_difference_of_the_patching(tiny, bert, rows, derivatives, i=5):
    """e_i and k_i: every part of the axis with its own donors, the contexts moved a little towards them and back."""
    senses, places = [row.sense for row in rows], range(len(rows))
    found = by_gradient(derivatives, senses)
    axis = axis_weights(i, places, senses, derivatives.u, places)
    for own, result in ((False, found.effect), (True, found.control)):
        expected = np.zeros((tiny.n_layers, tiny.n_heads))
        for j, a_ij in axis.items():
            donors = donor_weights(i, own, places, senses, places, without=j)
            m = sum(weight * derivatives.z[k] for k, weight in donors.items())
            for layer in range(tiny.n_layers):
                for head in range(tiny.n_heads):
                    moved = slope_towards(bert, rows[i], layer, head, m[layer, head], derivatives.context[i])
                    expected[layer, head] -= a_ij * (moved @ derivatives.u[j])
        assert np.abs(expected).max() > 1e-3
        assert result[i] == pytest.approx(expected, rel=1e-4, abs=1e-7)


def slope_towards(bert, row, layer, head, m, context, step=1e-5):
    """How u_i changes as the head's contexts move from what they are towards m, at every position of P_i at once."""
    ends = []
    for sign in (1, -1):

        def move(index, contexts, sign=sign):
            contexts = contexts.clone()
            if index == layer:
                columns = slice(head * bert.d_head, (head + 1) * bert.d_head)
                for place, p in enumerate(row.positions):
                    contexts[p, columns] += sign * step * torch.from_numpy(m - context[layer, head, place])
            return contexts

        v = bert.run(row, move)[row.positions].mean(dim=0).numpy()
        ends.append(v / np.linalg.norm(v))
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.slow
def test_exact_patching_gives_the_single_heads_and_all_together(tiny, bert, rows, derivatives, frame):
    """Row 0 written out: its fold has rows 0 and 2 of its sense, 4 and 6 of the other."""
    found = exact(tiny, frame)
    u, z = derivatives.u, derivatives.z

    def unit(vector):
        return vector / np.linalg.norm(vector)

    def step(axis, m, head=(1, 2)):
        return (u[0] - bert.patched(rows[0], {head: m[head]})) @ axis

    with_its_fold = unit(u[2]) - unit(u[4] + u[6])
    with_the_other = unit(u[1] + u[3]) - unit(u[5] + u[7])
    effects = step(with_its_fold, (z[5] + z[7]) / 2), step(with_the_other, (z[4] + z[6]) / 2)
    controls = step(with_its_fold, (z[1] + z[3]) / 2), step(with_the_other, z[2])
    assert found.effect[0, 1, 2] == pytest.approx(sum(effects) / 2, abs=1e-12)
    assert found.control[0, 1, 2] == pytest.approx(sum(controls) / 2, abs=1e-12)
    together = exact(tiny, frame, together=tiny.all_heads)
    assert together.effect.shape == (8, 1, 1) and together.gap == found.gap
    assert abs(together.mean_effect[0, 0] - found.mean_effect.sum()) > 1e-3  # never added up
