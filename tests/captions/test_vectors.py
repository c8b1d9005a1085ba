"""Captions of two vectors: the cosines, the heads, their control and the claim follow from the numbers."""

import pytest
import torch

from selfattn import load_encoder
from selfattn.analysis.measures import MEASURES
from selfattn.analysis.removing import removal_effect
from selfattn.captions import vectors as captions
from selfattn.tidy_tables import heads_frame


def heads(effects, controls=None):
    columns = {"effect": torch.tensor([effects])} | ({} if controls is None else {"control": torch.tensor([controls])})
    return heads_frame(**columns)


def test_effects_under_the_noise_of_a_precision_are_hidden_and_counted():
    frame = heads([0.007, -0.0059, 0.0001], [0.001, 0.02, 0.0])
    frame["effect_minus_control"] = frame["effect"] - frame["control"]
    assert captions.noise_floor(frame, "effect", "float32") == (frame, "")
    shown, text = captions.noise_floor(frame, "effect", "bfloat16")
    assert shown["effect"].tolist() == pytest.approx([0.007, 0, 0])
    assert shown["effect_minus_control"].tolist() == pytest.approx([0, -0.0259, 0])  # two effects, twice the noise
    assert (
        text == "In bfloat16 rounding alone moves this by up to 0.006: 2 of 3 heads lie under that and are drawn as 0."
    )
    assert "by up to 0.0014: 1 of 3" in captions.noise_floor(frame, "effect_minus_control", "float16")[1]
    assert captions.noise_floor(frame, "special_tokens", "bfloat16")[1] == ""
    half, text = captions.noise_floor(frame, "effect", "bfloat16", {"effect": 0.4})
    assert half["effect"].tolist() == pytest.approx([0.007, -0.0059, 0]) and half["control"].equals(frame["control"])
    assert "by up to 0.0024: 1 of 3" in text


@pytest.mark.slow
@pytest.mark.parametrize("precision", captions.NOISE)
def test_the_noise_of_a_precision_is_a_bound_and_no_wide_one(encoder, precision):
    pair = ("The bank of the river.", (2,)), ("The bank approved the loan.", (2,))
    coarse = removal_effect(load_encoder(device="cpu", dtype=precision), *pair)
    moved = float((coarse - removal_effect(encoder, *pair)).abs().max())
    assert captions.NOISE[precision] / 10 < moved < captions.NOISE[precision]  # measured between processors: .2 to .5


NO_MORE = "Over other sentences other heads may lead."
SWAPPED = (
    'The two "bank" vectors have cosine 0.31. Swapped alone, L0 H1 moves A most: A 9 % of the way to B, B 3 % of the way to A, '
    "A with the control's output 2 % of the way to B. "
)
SWAPS = MEASURES["swap, A from B"].beside
THREE = ([0.02, 0.09], [0.04, 0.03])


@pytest.mark.parametrize(
    ("columns", "shown", "chosen", "expected"),
    [
        ((*THREE, [0.01, 0.02]), 0, "L0 H1",
         f"{SWAPPED}The largest of the 2 heads in the control is L0 H1's, 2 %: L0 H1 exceeds it. {NO_MORE}"),
        ((*THREE, [0.0901, 0.02]), 0, "L0 H1",
         f"{SWAPPED}The largest of the 2 heads in the control is L0 H0's, 9 %: L0 H1 does not exceed it, so it is a hint, not a "
         f"finding. {NO_MORE}"),
        ((*THREE, [0.01, 0.02]), 2, "L0 H0",
         f"{SWAPPED}L0 H0: A 2 % of the way to B, B 4 % of the way to A, A with the control's output 1 % of the way to B. The "
         f"largest of the 2 heads in the control is L0 H1's, 2 %: L0 H1 exceeds it. {NO_MORE}"),
        (THREE, 1, "L0 H0",
         "The two \"bank\" vectors have cosine 0.31. Swapped alone, L0 H0 moves B most: A 2 % of the way to B, B 4 % of the way "
         f"to A. No control yet, so whether this is about the meaning can't be said. {NO_MORE}"),
        (([float("nan")] * 2, [float("nan")] * 2), 0, "L0 H1",
         "The two \"bank\" vectors have cosine 0.31. They are the same: no head can move one."),
    ],
)  # fmt: skip
def test_a_swap_stands_in_both_directions_beside_the_largest_of_the_control(columns, shown, chosen, expected):
    frame = heads_frame(**{name: torch.tensor([own]) for name, own in zip(SWAPS, columns)})
    measure = MEASURES[SWAPS[shown]]
    assert captions.by_head(frame, measure, SWAPS[: len(columns)], chosen, 0.31, '"bank"') == expected


@pytest.mark.parametrize(
    ("effects", "control", "shown", "said"),
    [
        (
            [0.02, -0.05],
            [0.0, 0.01],
            "effect",
            "L0 H1 changes it most: −0.050, in the control +0.010. L0 H0: +0.020, in",
        ),
        (
            [0.02, -0.05],
            [0.01, 0.05],
            "effect",
            "L0 H1's, +0.050: L0 H1 does not exceed it, so it is a hint, not a finding.",
        ),
        ([0.02, -0.0501], [-0.05, 0.0], "control", "L0 H0's, −0.050: L0 H1 exceeds it."),
    ],
)
def test_a_removal_stands_beside_the_largest_of_the_control_by_absolute_value(effects, control, shown, said):
    text = captions.by_head(heads(effects, control), MEASURES[shown], ["effect", "control"], "L0 H0", 0.8, '"crane"')
    assert said in text and "Removed alone, at every position, L0 H1" in text


@pytest.mark.parametrize(
    ("run", "said"), [([True, False, True], "only the 2 heads that it ranks highest"), ([True] * 3, "")]
)
def test_what_was_run_of_a_map_by_gradient_is_counted(run, said):
    text = captions.by_gradient(torch.tensor(run))
    assert said in text and bool(text) == bool(said)


def test_only_head_names_both_cosines_in_their_order():
    text = captions.only_head(0.97, 0.81, "L3 H7", "crane")
    assert (
        'With L3 H7 as the only attention in the whole encoder, the two final "crane" vectors have cosine 0.97' in text
    )
    assert text.endswith("with all heads 0.81.")
