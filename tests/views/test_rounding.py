"""Test that effects within rounding noise are drawn as 0."""

import pytest
import torch

from selfattn import load_encoder
from selfattn.analysis.removing import removal_effect
from selfattn.tidy_tables import heads_frame
from selfattn.views.rounding import NOISE, noise_floor

EFFECTS = heads_frame(effect=torch.tensor([[0.007, -0.0059, 0.0001]]), control=torch.tensor([[0.001, 0.02, 0.0]]))
EFFECTS["effect_minus_control"] = EFFECTS["effect"] - EFFECTS["control"]


@pytest.mark.parametrize(
    ("precision", "columns", "effect", "both"),
    [
        ("float32", {}, [0.007, -0.0059, 0.0001], [0.006, -0.0259, 0.0001]),
        ("bfloat16", {}, [0.007, 0, 0], [0, -0.0259, 0]),  # a difference of effects has twice the noise
        ("bfloat16", {"columns": {"effect": 0.4}}, [0.007, -0.0059, 0], [0.006, -0.0259, 0.0001]),
    ],
)
def test_effects_below_noise_are_set_to_zero(precision, columns, effect, both):
    shown, _ = noise_floor(EFFECTS, "effect", precision, **columns)
    assert shown["effect"].tolist() == pytest.approx(effect)
    assert shown["effect_minus_control"].tolist() == pytest.approx(both)


@pytest.mark.parametrize(
    ("measure", "precision", "columns", "bound", "hidden"),
    [
        ("effect", "bfloat16", {}, "0.006", 2),
        ("effect_minus_control", "float16", {}, "0.0014", 1),
        ("effect", "bfloat16", {"columns": {"effect": 0.4}}, "0.0024", 1),
    ],
)
def test_note_counts_heads_with_effects_below_noise(measure, precision, columns, bound, hidden):
    _, note = noise_floor(EFFECTS, measure, precision, **columns)
    assert note == (
        f"In {precision}, rounding alone causes effects of up to {bound}. "
        f"Smaller effects, in {hidden} of 3 heads, are drawn as 0."
    )


@pytest.mark.slow
@pytest.mark.parametrize("precision", NOISE)
def test_noise_bounds_are_tight(encoder, precision):
    pair = ("The bank of the river.", (2,)), ("The bank approved the loan.", (2,))
    coarse = removal_effect(load_encoder(device="cpu", dtype=precision), *pair)
    moved = float((coarse - removal_effect(encoder, *pair)).abs().max())
    assert NOISE[precision] / 10 < moved < NOISE[precision]  # 0.2 to 0.5 of the bound on different processors
