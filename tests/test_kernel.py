"""Test `attend` against published numbers and torch in float64."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from selfattn.kernel import attend
from selfattn.kernel_inputs import Term


def tensor(rows):
    return torch.tensor(rows, dtype=torch.float64)


def random(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_attend_computes_worked_example_of_lesson():
    trace = attend(tensor([[3, 1]]), tensor([[3, 1], [1, 4], [1.5, 0.5]]), tensor([[2, 1.5], [0, 1], [2, 1]]))
    assert trace.scores.tolist() == [[10, 7, 5]]
    assert [round(100 * w) for w in trace.weights[0].tolist()] == [87, 10, 3]
    assert trace.context[0].tolist() == pytest.approx([1.79, 1.44], abs=0.005)


def test_attend_computes_published_example_with_three_words():
    trace = attend(tensor([[0, 1]]), tensor([[0, 1], [0.5, 0.5], [0, 0]]), tensor([[1, 0], [0, 1], [1, 1]]))
    assert trace.scores.tolist() == [[1, 0.5, 0]]
    # The published weights have two digits.
    assert trace.weights[0].tolist() == pytest.approx([0.46, 0.32, 0.22], abs=0.006)


def test_attend_computes_published_example_with_twelve_tokens():
    """ "Good" attends to "not" and "amazing"; see twelve_tokens.py."""
    query, value = torch.zeros(12, 2, dtype=torch.float64), torch.zeros(12, 2, dtype=torch.float64)
    query[3], query[4], query[10] = tensor([20, 20]), tensor([0, 1]), tensor([19, 19])
    value[3], value[4], value[10] = tensor([1, 0]), tensor([0, 1]), tensor([1, 1])
    free = attend(query, query, value)
    assert [round(w, 2) for w in free.weights[4].tolist()] == [0, 0, 0, 0.67, 0, 0, 0, 0, 0, 0, 0.33, 0]
    assert free.context[4].tolist() == pytest.approx([0.99999467, 0.33023767], abs=5e-9)
    causal = attend(query, query, value, mask=torch.ones(12, 12).tril().bool())
    assert round(causal.weights[4, 3].item(), 2) == 1.00


def test_attend_computes_published_example_of_raschka():
    """Source: S. Raschka, "Build a Large Language Model (From Scratch)", section 3.4."""
    x = torch.tensor(
        [[.43, .15, .89], [.55, .87, .66], [.57, .85, .64], [.22, .58, .33], [.77, .25, .10], [.05, .80, .55]]
    )  # fmt: skip
    torch.manual_seed(123)
    w_query, w_key, w_value = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 2)
    trace = attend(x @ w_query, x @ w_key, x @ w_value)

    def printed(values):
        return [f"{v:.4f}" for v in values.tolist()]

    assert printed(trace.scores[1]) == ["1.2705", "1.8524", "1.8111", "1.0795", "0.5577", "1.5440"]
    assert printed(trace.weights[1]) == ["0.1500", "0.2264", "0.2199", "0.1311", "0.0906", "0.1820"]
    assert printed(trace.context[1]) == ["0.3061", "0.8210"]


BIAS, KEEP = random(5, 6, seed=3), random(2, 4, 5, 6, seed=4) > -0.5  # a bias and a mask, with leading dimensions


@pytest.mark.parametrize(
    ("options", "torchs"),
    [
        ({}, {}),
        ({"mask": KEEP}, {"attn_mask": KEEP}),
        ({"mask": BIAS}, {"attn_mask": BIAS}),
        ({"scale": 0.7}, {"scale": 0.7}),
        ({"terms": [Term("bias", BIAS), Term("other", BIAS.abs())], "mask": KEEP},
         {"attn_mask": (BIAS + BIAS.abs()).masked_fill(~KEEP, -math.inf)}),
    ],
)  # fmt: skip
def test_attend_agrees_with_torch(options, torchs):
    query, key, value = random(2, 4, 5, 8), random(2, 4, 6, 8, seed=1), random(2, 4, 6, 3, seed=2)
    trace = attend(query, key, value, **options)
    assert (trace.context - scaled_dot_product_attention(query, key, value, **torchs)).abs().max() < 1e-12
    assert trace.scale == options.get("scale", 1 / math.sqrt(8))
    assert torch.equal(trace.scaled, trace.scores * trace.scale)  # the terms are added in a later step
    assert [term.name for term in trace.terms] == [term.name for term in options.get("terms", ())]


def test_each_step_follows_from_previous_step():
    query, key, value = random(3, 4), random(3, 4, seed=1), random(3, 4, seed=2)
    mask = torch.tensor([[True, False, True]])
    trace = attend(query, key, value, mask)
    assert torch.equal(trace.scaled, trace.scores * trace.scale)
    assert torch.equal(trace.masked[:, 1], torch.full((3,), -math.inf, dtype=torch.float64))
    assert torch.equal(trace.masked[:, 0], trace.scaled[:, 0])
    assert torch.equal(trace.maximum, trace.masked[:, [0, 2]].max(-1, keepdim=True).values)
    assert torch.equal(trace.shifted, trace.masked - trace.maximum)
    assert torch.allclose(trace.exponentials, math.e**trace.shifted, atol=1e-15)
    assert torch.allclose(trace.total[:, 0], trace.exponentials[:, 0] + trace.exponentials[:, 2], atol=1e-15)
    assert torch.equal(trace.weights, trace.exponentials / trace.total)
    assert torch.allclose(trace.weights, trace.masked.softmax(-1), atol=1e-15)
    assert torch.equal(trace.context, trace.weights @ value)


def test_permuting_tokens_permutes_result():
    query, key, value = random(6, 4), random(6, 4, seed=1), random(6, 4, seed=2)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    trace, moved = attend(query, key, value), attend(query[order], key[order], value[order])
    assert torch.allclose(trace.weights.sum(-1), torch.ones(6, dtype=torch.float64), atol=1e-15)
    assert torch.allclose(moved.weights, trace.weights[order][:, order], atol=1e-15)
    assert torch.allclose(moved.context, trace.context[order], atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_large_scores_do_not_overflow(dtype):
    query = torch.tensor([[1e4]], dtype=dtype)
    trace = attend(query, torch.tensor([[1.0], [-1.0], [0.5]], dtype=dtype), torch.eye(3, dtype=dtype))
    assert trace.weights.tolist() == [[1, 0, 0]]
    assert trace.weights.dtype == trace.context.dtype == dtype


HALF = pytest.mark.parametrize(("dtype", "rounding"), [(torch.float16, 2**-11), (torch.bfloat16, 2**-8)])


def half(dtype, *shape, seed=0):
    return random(*shape, seed=seed).to(dtype)


@HALF
def test_half_precision_agrees_with_eager_attention(dtype, rounding):
    query, key, value = half(dtype, 5, 8), half(dtype, 6, 8, seed=1), half(dtype, 6, 3, seed=2)
    trace = attend(query, key, value, KEEP[0, 0], terms=[Term("bias", BIAS.float())])
    added = (BIAS.masked_fill(~KEEP[0, 0], -math.inf)).to(dtype)
    eager = (query @ key.T * trace.scale + added).softmax(-1, dtype=torch.float32).to(dtype)
    assert (trace.weights - eager).abs().max() < 8 * rounding
    assert (trace.context - eager @ value).abs().max() < 16 * rounding
    steps = {name: step for name, step in vars(trace).items() if isinstance(step, torch.Tensor) and name != "mask"}
    assert {name: step.dtype for name, step in steps.items()} == dict.fromkeys(steps, dtype)
    single = attend(query.float(), key.float(), value.float(), KEEP[0, 0], terms=[Term("bias", BIAS.float())])
    assert all(torch.equal(step, getattr(single, name).to(dtype)) for name, step in steps.items())  # rounded only once


@pytest.mark.parametrize("sign", [1, -1])
def test_overflowing_scores_are_kept_in_float32(sign):
    query, key = half(torch.float16, 4, 64) + 70 * sign, half(torch.float16, 6, 64, seed=1) + 70
    value, scale = half(torch.float16, 6, 3, seed=2), 1 / 64
    assert (query @ key.T).isinf().all()
    trace = attend(query, key, value, scale=scale)
    scaled_first = ((query.float() * scale) @ key.float().T).softmax(-1)
    assert (trace.weights - scaled_first).abs().max() < 2**-11
    assert (trace.context - scaled_dot_product_attention(query, key, value, scale=scale)).abs().max() < 2**-8
    assert torch.equal(trace.scores, query.float() @ key.float().T)
    assert (trace.scores.dtype, trace.scaled.dtype) == (torch.float32, torch.float16)
    assert trace.query.dtype == trace.weights.dtype == trace.context.dtype == torch.float16
    assert all(step.isfinite().all() for step in vars(trace).values() if isinstance(step, torch.Tensor))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("lowest", [-1e9, torch.finfo(torch.float32).min])
def test_large_negative_mask_values_act_like_minus_infinity(dtype, lowest):
    query, key, value = half(dtype, 2, 4), half(dtype, 3, 4, seed=1), half(dtype, 3, 4, seed=2)
    keep = torch.tensor([[True, False, True], [False, False, False]])
    infinite, finite = (
        attend(query, key, value, torch.zeros(2, 3).masked_fill(~keep, number)) for number in (-math.inf, lowest)
    )
    assert torch.equal(infinite.weights, attend(query, key, value, keep).weights)
    assert torch.equal(finite.weights[0], infinite.weights[0])
    assert infinite.weights[1].tolist() == [0, 0, 0]
    even = torch.full((3,), 1 / 3).to(dtype)  # the scores are rounded away next to such a large number
    free = attend(query, key, value).weights[1]
    expected = free if (dtype, lowest) == (torch.float64, -1e9) else even
    assert torch.allclose(finite.weights[1], expected, atol=1e-6)
    assert finite.masked.isfinite().all()


@pytest.mark.parametrize("mask", [torch.tensor([[False, False]]), torch.tensor([[-math.inf, -math.inf]])])
def test_weights_of_fully_masked_row_are_zero(mask):
    trace = attend(random(1, 4), random(2, 4), random(2, 4), mask=mask)
    assert trace.weights.tolist() == [[0, 0]]
    assert trace.context.tolist() == [[0, 0, 0, 0]]
    assert trace.maximum.tolist() == [[-math.inf]]
    assert (trace.exponentials.tolist(), trace.total.tolist()) == ([[0, 0]], [[0]])


def test_fully_masked_row_has_finite_gradients():
    query, mask = random(2, 4).requires_grad_(), torch.tensor([[True, True], [False, False]])
    attend(query, random(2, 4, seed=1), random(2, 4, seed=2), mask).context.sum().backward()
    assert query.grad.isfinite().all()
    assert query.grad[1].tolist() == [0, 0, 0, 0]


BAD = {
    "d_head": ((2, 3), (2, 4), (2, 4), {}, r"\(2, 3\).*\(2, 4\)"),
    "one value per key": ((2, 3), (4, 3), (5, 3), {}, r"\(4, 3\).*\(5, 3\)"),
    "vector": ((3,), (2, 3), (2, 3), {}, "matrices"),
    "no keys": ((2, 3), (0, 3), (0, 3), {}, "at least 1"),
    "batch": ((2, 2, 3), (3, 2, 3), (3, 2, 3), {}, "leading"),
    "mask shape": ((2, 3), (4, 3), (4, 3), {"mask": torch.ones(3, 3).bool()}, r"mask \(3, 3\).*\(2, 4\)"),
    "mask dtype": ((2, 3), (2, 3), (2, 3), {"mask": torch.ones(2, 2).long()}, "boolean.*int64"),
    "mask plus infinity": ((2, 3), (2, 3), (2, 3), {"mask": torch.tensor([[0.0, math.inf]])}, "plus infinity"),
    "mask nan": ((2, 3), (2, 3), (2, 3), {"mask": torch.full((2, 2), math.nan)}, "NaN"),
    "scale": ((2, 3), (2, 3), (2, 3), {"scale": math.nan}, "finite"),
    "term shape": (
        (3, 4),
        (3, 4),
        (3, 4),
        {"terms": [Term("bias", random(3, 2))]},
        "term 'bias' must be a float tensor",
    ),
    "term batch": ((3, 4), (3, 4), (3, 4), {"terms": [Term("bias", random(5, 3, 3))]}, r"broadcasts to \(3, 3\)"),
    "term dtype": (
        (3, 4),
        (3, 4),
        (3, 4),
        {"terms": [Term("bias", torch.ones(3, 3).bool())]},
        "must be a float tensor",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_inputs_are_refused(case):
    query, key, value, options, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        attend(random(*query), random(*key), random(*value), **options)


def test_mixed_or_integer_dtypes_are_refused():
    with pytest.raises(ValueError, match="float32"):
        attend(random(2, 3).float(), random(2, 3), random(2, 3))
    with pytest.raises(ValueError, match="int64"):
        attend(*(torch.ones(2, 3, dtype=torch.long) for _ in range(3)))


def test_attend_uses_no_torch_attention():
    assert not {"softmax", "scaled_dot_product_attention", "functional"} & {*attend.__code__.co_names}
