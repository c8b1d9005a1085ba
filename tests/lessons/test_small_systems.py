"""Test the small models of the lessons."""

import pytest
import torch

from pages.learn.from_scratch.lesson_pages import STOPS, gradients, kernel_source, scores, twelve_tokens, word_order
from selfattn import kernel
from selfattn.analysis.what_if import causal_mask, four_ways
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.views.kernel_lines import source


def test_scaled_scores_have_variance_one():
    found = scores.measure()
    raw, scaled = found[~found["scaled"]], found[found["scaled"]]
    for d_k, variance in zip(raw["d_k"], raw["variance"]):
        assert variance == pytest.approx(d_k, rel=0.3)
    assert scaled["variance"].tolist() == pytest.approx([1] * len(scaled), rel=0.3)
    assert raw["entropy"].iloc[-1] < 1 < 4 < scaled["entropy"].min()  # at most 5 bits are possible
    assert raw["gradient"].iloc[-1] < scaled["gradient"].iloc[-1] / 2


def test_jacobian_norm_matches_autograd():
    row = torch.tensor([2.0, -1.0, 0.5, 0.0], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row)
    assert float(scores.jacobian_norm(row.softmax(-1))) == pytest.approx(float(jacobian.norm()))


def test_head_adds_output_to_embedding():
    for hidden in (None, 4):
        bank = one_head_by_hand.compute("river", hidden=hidden)
        weights = (bank.trace.scores[1] / 2**0.5).exp() * torch.tensor([1, 1, 1, 1, float(hidden is None)])
        added = weights / weights.sum() @ bank.trace.value @ one_head_by_hand.W_OUTPUT
        assert bank.added.tolist() == pytest.approx(added.tolist())
        assert bank.total.tolist() == pytest.approx((bank.embeddings[1] + added).tolist())


def test_order_matters_with_mask_or_positions():
    one, other = word_order.both_orders(("dog", "bites", "man"), positions=False)
    assert torch.allclose(one.context, other.context.flip(0), atol=1e-12, rtol=0)
    hidden = [kernel.attend(each.query, each.key, each.value, causal_mask(3)).context for each in (one, other)]
    assert STOPS["order"].options[0].startswith("none")
    assert float((hidden[0] - hidden[1].flip(0)).abs().amax(-1).min()) > 0.05
    one, other = word_order.both_orders(("dog", "bites", "man"), positions=True)
    assert not torch.allclose(one.context, other.context.flip(0), atol=0.05)
    assert float(one.weights.max()) < 0.9  # no weight is close to 1


def test_two_of_four_ways_to_mask_are_correct():
    ways = four_ways(twelve_tokens.compute(), causal_mask(12))
    assert [float(way.leaked.max()) for way in ways] == pytest.approx([0, 11 / 12, 0, 0], abs=1e-6)
    assert [float(way.weights.sum(-1).min()) for way in ways] == pytest.approx([1, 1, 1 / 12, 1], abs=1e-6)


def test_source_code_of_attention_compiles():
    for part in kernel_source.PARTS:
        shown = source(part)
        assert '"""' not in shown and "check_inputs(" not in shown
        compile(shown, part.__name__, "exec", flags=__import__("__future__").annotations.compiler_flag)
    assert len(source(kernel.attend).splitlines()) < 20


def test_gradient_matches_finite_differences():
    step = 1e-6
    gradient, _ = gradients.learn(1, 0, 0.1)
    queries = [worked_example.QUERY + torch.tensor([by, 0.0]) for by in (0, step)]
    before, nudged = (float(worked_example.compute(query).weights[0, 1]) for query in queries)
    assert float(gradient[0, 0]) == pytest.approx((nudged - before) / step, rel=1e-4)
    _, found = gradients.learn(1, 20, 0.3)
    street = found[found["token"] == "street"]["weight"].tolist()
    assert street[0] == pytest.approx(0.104, abs=1e-3) and street == sorted(street) and street[-1] > 0.9
