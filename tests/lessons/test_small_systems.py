"""What the small systems claim beside their published figures."""

import math

import pytest
import torch

from pages.learn.from_scratch.lesson_pages import gradients, key_length, scaling, soft_lookup, word_order
from selfattn import kernel
from selfattn.analysis.what_if import causal_mask, four_ways
from selfattn.lessons import kernel_source, one_head_by_hand, twelve_tokens, worked_example
from selfattn.numbers import vector


def test_soft_lookup_blends_and_a_low_temperature_makes_it_hard():
    made = one_head_by_hand.compute().trace
    water = made.value[:, 1:]
    warm, cold, hot = (
        float(soft_lookup.look_up(made.query[1], made.key, water, t).context) for t in (1.0, 0.01, 100.0)
    )
    assert 0.6 < warm < 3
    assert cold == pytest.approx(3, abs=1e-3)
    assert hot == pytest.approx(float(water.mean()), abs=0.05)


def test_dividing_by_sqrt_d_does_not_remove_a_keys_length():
    query, *keys = torch.tensor([(3.0, 1.0), (1.0, 4.0), (2.0, 8.0), (1.5, 0.5)])
    found = key_length.compare(query, *keys, names=("once", "twice", "short"))
    once, twice, _ = found["scaled"]
    assert twice == pytest.approx(2 * once)
    assert found["scaled"].rank().tolist() == found["score"].rank().tolist()
    assert found["cosine"].tolist() == pytest.approx([7 / math.sqrt(10 * 17), 7 / math.sqrt(10 * 17), 1])


def test_the_variance_of_random_scores_is_d_k_and_scaling_makes_it_one():
    found = scaling.measure()
    raw, scaled = found[~found["scaled"]], found[found["scaled"]]
    for d_k, variance in zip(raw["d_k"], raw["variance"]):
        assert variance == pytest.approx(d_k, rel=0.3)
    assert scaled["variance"].tolist() == pytest.approx([1] * len(scaled), rel=0.3)
    assert raw["gradient"].iloc[-1] < scaled["gradient"].iloc[-1] / 2


def test_the_jacobian_norm_is_autograds():
    scores = torch.tensor([2.0, -1.0, 0.5, 0.0], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    weights = scores.softmax(-1)
    assert float(scaling.jacobian_norm(weights)) == pytest.approx(float(jacobian.norm()))


def test_under_a_causal_mask_every_word_of_the_reversed_sentence_has_another_context():
    one, other = word_order.both_orders(("dog", "bites", "man"), positions=False)
    hidden = [kernel.attend(each.query, each.key, each.value, causal_mask(3)).context for each in (one, other)]
    assert word_order.OPTIONS[0] == "all three"
    assert float((hidden[0] - hidden[1].flip(0)).abs().amax(-1).min()) > 0.05
    assert torch.allclose(one.context, other.context.flip(0))


def test_a_question_quotes_the_threads_numbers():
    made = one_head_by_hand.compute().trace
    query, own, river = (vector(row) for row in (made.query[1], made.key[1], made.key[4]))
    assert f"asks {query}" in soft_lookup.QUESTION and f"{river}, its own {own}" in soft_lookup.QUESTION


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
    gradient, _ = gradients.learn(1, 0, 0.1)
    before, nudged = (float(worked_example.compute(query=(3 + by, 1)).weights[0, 1]) for by in (0, step))
    assert float(gradient[0, 0]) == pytest.approx((nudged - before) / step, rel=1e-4)


def test_following_the_gradient_raises_the_weight():
    _, found = gradients.learn(1, 20, 0.3)
    street = found[found["token"] == "street"]["weight"].tolist()
    assert street[0] == pytest.approx(0.104, abs=1e-3)
    assert street == sorted(street)
    assert street[-1] > 0.9


def test_without_positions_shuffling_the_words_only_shuffles_the_rows():
    for positions in (False, True):
        first, second = word_order.both_orders(("dog", "bites", "man"), positions)
        difference = float((first.context.flip(0) - second.context).abs().max())
        assert difference > 0.1 if positions else difference < 1e-12


def test_other_values_can_have_the_same_mean():
    trace = worked_example.compute()
    values = worked_example.other_values(trace, amount=2)
    assert float((values - trace.value).abs().max()) > 1
    assert torch.allclose(kernel.attend(trace.query, trace.key, values).context, trace.context, atol=1e-12, rtol=0)
