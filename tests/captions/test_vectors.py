"""Captions of a word's two vectors: the cosines, the head and the claim follow from the numbers."""

import numpy as np
import pytest
import torch

from selfattn import load_encoder
from selfattn.analysis.removing import removal_effect
from selfattn.captions import vectors as captions
from selfattn.tidy_tables import heads_frame
from tests.captions.conftest import A, B


def cosine(first, second):
    return float(np.dot(first, second) / np.linalg.norm(first) / np.linalg.norm(second))


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
    assert "Without head 1 of layer 0 it is 0.80 as well, as far as can be told." in captions.removal(
        shown, "L0 H1", "bank", 0.8, None
    )


@pytest.mark.slow
@pytest.mark.parametrize("precision", captions.NOISE)
def test_the_noise_of_a_precision_is_a_bound_and_no_wide_one(encoder, precision):
    pair = ("The bank of the river.", (2,)), ("The bank approved the loan.", (2,))
    coarse = removal_effect(load_encoder(device="cpu", dtype=precision), *pair)
    moved = float((coarse - removal_effect(encoder, *pair)).abs().max())
    assert captions.NOISE[precision] / 10 < moved < captions.NOISE[precision]  # measured between processors: .2 to .5


@pytest.mark.slow
def test_removal_of_a_real_head_against_the_vectors_themselves(encoder, sides):
    (_, in_a, _), (_, in_b, _) = sides.values()
    effect = removal_effect(encoder, (A, in_a.positions), (B, in_b.positions))
    last = [encoding.hidden[-1][word.start].numpy() for encoding, word, _ in sides.values()]
    without = [encoder.knock_out(text, word.start)[3, 7].numpy() for text, (_, word, _) in zip((A, B), sides.values())]
    before, after = cosine(*last), cosine(*without)
    text = captions.removal(heads_frame(effect=effect), "L3 H7", "crane", before, None)
    said = f'The two "crane" vectors have cosine {before:.2f}. Without head 7 of layer 3 it is {after:.2f}: '
    assert text.startswith(said)
    share = f"{abs(after - before) / (1 - before):.0%}".replace("%", " %")
    assert (f"grows by {share}" if after < before else f"{share} of their difference is gone") in text
    layer, head = divmod(int(effect.abs().argmax()), encoder.n_heads)
    assert f"The largest effect is L{layer} H{head}'s" in text and "No head does it alone." in text


@pytest.mark.parametrize(
    ("effects", "chosen", "parts", "absent"),
    [
        (
            [0.02, -0.05],
            "L0 H0",
            ["of layer 0 it is 0.82: 10 % of their difference is gone.", "No head does it alone."],
            [],
        ),
        ([0.02, -0.05], "L0 H0", ["L0 H1's: without it the cosine is 0.75: their difference grows by 25 %."], []),
        (
            [0.02, -0.05],
            "L0 H1",
            ["Without head 1 of layer 0 it is 0.75", "the largest effect of all heads."],
            ["L0 H1's"],
        ),
        ([0.15, 0.0], "L0 H0", ["75 % of their difference is gone", "the largest effect of all"], ["alone", "control"]),
    ],
)
def test_removal_claims_no_more_than_the_numbers(effects, chosen, parts, absent):
    text = captions.removal(heads(effects), chosen, "crane", 0.8, None)
    assert all(part in text for part in parts), text
    assert not [part for part in absent if part in text], text


def test_removal_of_a_head_from_equal_vectors_has_no_share():
    assert "it is 1.00. That" in captions.removal(heads([0.0, 0.0]), "L0 H0", "crane", 1.0, None)


@pytest.mark.parametrize(("control", "hint"), [([0.0, -0.03], True), ([0.009, 0.001], False), ([0.011, 0.0], True)])
def test_removal_stands_beside_its_control(control, hint):
    text = captions.removal(heads([0.02, 0.0], control), "L0 H0", "crane", 0.8, 0.93)
    place = int(np.argmax(np.abs(control)))
    sign = "−" if control[place] < 0 else "+"
    assert "the sense is the same (cosine 0.93), the largest effect is" in text
    assert f"L0 H{place}'s, {sign}{abs(control[place]):.3f}; here it is +0.020." in text
    assert ("a hint, not a finding" in text) == hint


def test_only_head_names_both_cosines_in_their_order():
    text = captions.only_head(0.97, 0.81, "L3 H7", "crane")
    assert (
        'With L3 H7 as the only attention in the whole encoder, the two final "crane" vectors have cosine 0.97' in text
    )
    assert text.endswith("with all heads 0.81.")
