"""What the small systems claim beside their published figures."""

import math

import pytest
import torch

from selfattn import kernel
from selfattn.analysis.what_if import causal_mask, four_ways
from selfattn.lessons import (
    geometry,
    gradients,
    kernel_source,
    key_length,
    mean_forgets,
    not_symmetric,
    scaling,
    soft_lookup,
    twelve_tokens,
    word_order,
    worked_example,
)


def test_soft_lookup_blends_and_a_low_temperature_makes_it_hard():
    warm, cold, hot = (soft_lookup.look_up(temperature=t) for t in (1.0, 0.01, 100.0))
    assert 0.6 < warm.soft < 3
    assert cold.soft == pytest.approx(3, abs=1e-3) and cold.hard == 3
    assert hot.soft == pytest.approx(sum(soft_lookup.WATER) / 5, abs=0.05)


def test_dividing_by_sqrt_d_does_not_remove_a_keys_length():
    once, twice = key_length.compare((3, 1), ((1, 4), (2, 8)), ("once", "twice"))["scaled"]
    assert twice == pytest.approx(2 * once)
    found = key_length.compare()
    assert found["scaled"].rank().tolist() == found["score"].rank().tolist()
    assert found["cosine"].tolist() == pytest.approx([1, 7 / math.sqrt(10 * 17), 1])


def test_the_variance_of_random_scores_is_d_k_and_scaling_makes_it_one():
    found = scaling.measure((4, 64, 1024))
    raw, scaled = found[~found["scaled"]], found[found["scaled"]]
    for d_k, variance in zip(raw["d_k"], raw["variance"]):
        assert variance == pytest.approx(d_k, rel=0.15)
    assert scaled["variance"].tolist() == pytest.approx([1, 1, 1], rel=0.15)
    assert raw["entropy"].iloc[-1] < 0.05 < 0.8 < scaled["entropy"].iloc[-1]
    assert raw["gradient"].iloc[-1] < scaled["gradient"].iloc[-1] / 2


def test_the_jacobian_norm_is_autograds():
    scores = torch.tensor([2.0, -1.0, 0.5, 0.0], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    weights = scores.softmax(-1)
    assert float(scaling.jacobian_norm(weights)) == pytest.approx(float(jacobian.norm()))


def test_even_weights_have_evenness_one_and_a_single_one_none():
    assert float(scaling.evenness(torch.full((5,), 0.2))) == pytest.approx(1)
    assert float(scaling.evenness(torch.tensor([1.0, 0, 0]))) == 0


def test_a_learned_projection_can_absorb_the_scale():
    assert scaling.absorbed() < 1e-12


def test_geometry_frames_hold_every_arrow():
    trace = worked_example.compute()
    arrows = geometry.query_key_arrows(trace, "it", worked_example.TOKENS)
    assert arrows["label"].tolist() == ["it", "animal", "street", "because"]
    assert arrows["score"].tolist()[1:] == [10, 7, 5]
    values = geometry.value_arrows(trace, worked_example.TOKENS)
    assert values["kind"].tolist() == ["value"] * 3 + ["context"]


def test_only_minus_infinity_and_renormalised_weights_are_a_mask():
    ways = four_ways(twelve_tokens.compute(), causal_mask(12))
    assert [float(way.leaked.max()) for way in ways] == pytest.approx([0, 11 / 12, 0, 0], abs=1e-6)
    assert [float(way.weights.sum(-1).min()) for way in ways] == pytest.approx([1, 1, 1 / 12, 1], abs=1e-6)
    assert torch.allclose(ways[3].weights.double(), ways[0].weights.double(), atol=1e-6)
    assert not torch.allclose(ways[1].weights.double(), ways[0].weights.double(), atol=1e-2)


def test_the_kernel_source_is_the_kernel_that_runs():
    for part in kernel_source.PARTS:
        shown = kernel_source.source(part)
        assert '"""' not in shown
        assert "_check(" not in shown
        compile(shown, part.__name__, "exec", flags=__import__("__future__").annotations.compiler_flag)
    assert kernel_source.code_lines(kernel.attend) < 20


def test_the_gradient_of_a_weight_is_its_finite_difference():
    step = 1e-6
    found = gradients.weight_gradient(1)
    nudged = worked_example.compute(query=(3 + step, 1)).weights[0, 1]
    assert float(found.query[0]) == pytest.approx((float(nudged) - found.weight) / step, rel=1e-4)


def test_following_the_gradient_raises_the_weight():
    found = gradients.learn(1, 20, 0.3)
    street = found[found["token"] == "street"]["weight"].tolist()
    assert street[0] == pytest.approx(0.104, abs=1e-3)
    assert street == sorted(street)
    assert street[-1] > 0.9


def test_without_positions_shuffling_the_words_only_shuffles_the_rows():
    assert word_order.shuffle().difference < 1e-12
    assert word_order.shuffle(positions=True).difference > 0.1


def test_weights_are_not_symmetric_even_where_scores_are():
    trace = twelve_tokens.compute()
    assert torch.equal(trace.scores, trace.scores.T)
    found = not_symmetric.asymmetry(trace.weights)
    assert found.forth - found.back > 0.5
    assert float(trace.weights[found.row, found.column]) == found.forth
    apart = [abs(trace.weights[i, j] - trace.weights[j, i]) for i in range(12) for j in range(i)]
    assert found.mean_difference == pytest.approx(float(sum(apart)) / 66)


def test_other_values_can_have_the_same_mean():
    found = mean_forgets.same_mean(amount=2)
    assert float((found.after - found.before).abs().max()) > 1
    assert found.difference < 1e-12
    assert torch.allclose(found.context, worked_example.compute().weights[0] @ found.after)
    assert mean_forgets.forgets_order(worked_example.compute()) < 1e-12
