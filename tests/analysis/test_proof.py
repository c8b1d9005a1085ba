"""Test that `prove` detects errors in the recomputed attention."""

import math
from dataclasses import replace

import pytest
import torch

from selfattn import NotRecomputable
from selfattn.analysis.proof import prove
from selfattn.encoders import capture, projections

TEXT = "The bank of the river was muddy."


def test_bundled_encoder_has_only_rounding_errors(encoder):
    steps = []
    proof = prove(encoder, TEXT, lambda done, total: steps.append((done, total)))
    assert list(zip(proof["layer"], proof["head"])) == encoder.all_heads
    assert proof["same_inputs"].max() < 2e-6
    assert proof["separate_pass"].max() < 5e-6
    assert proof["context"].max() < 5e-6
    assert proof["projections"].max() < 1e-5
    assert steps[-1] == (6, 6)


def test_proof_detects_error_in_one_head(encoder, monkeypatch):
    right = capture.attend_precisely

    def wrong(query, *others):
        if query.shape[0] == 12:
            query = query.clone()
            query[7] *= 1.01
        return right(query, *others)

    monkeypatch.setattr(capture, "attend_precisely", wrong)
    proof = prove(encoder, TEXT)
    bad = proof["head"] == 7
    assert (proof[bad][["same_inputs", "separate_pass"]] > 1e-4).all(axis=None)
    assert (proof[~bad][["same_inputs", "separate_pass"]] < 5e-6).all(axis=None)
    assert (proof[bad]["context"] > 1e-5).all() and (proof[~bad]["context"] < 5e-6).all()


@pytest.mark.parametrize("error", [0.25, math.nan])
@pytest.mark.slow
def test_proof_detects_error_in_one_projection(encoder, monkeypatch, error):
    right = projections.project

    def wrong(encoder, encoding, layer, head):
        projected = right(encoder, encoding, layer, head)
        off = torch.zeros_like(projected.key)
        off[3, 5] = error  # one number of the key
        return replace(projected, key=projected.key + off) if (layer, head) == (2, 7) else projected

    monkeypatch.setattr("selfattn.analysis.proof.project", wrong)
    found = prove(encoder, TEXT).set_index(["layer", "head"])["projections"]
    assert found[2, 7] == pytest.approx(error, abs=1e-4, nan_ok=True)
    assert (found.drop((2, 7)) < 1e-5).all()


@pytest.mark.slow
def test_prove_skips_separate_eager_pass_for_long_text(encoder, monkeypatch):
    monkeypatch.setenv("SELFATTN_SEPARATE_PASS_MEGABYTES", "1")
    fits = int((2**20 / 4 / 72) ** 0.5)  # four bytes per weight, 72 heads
    assert encoder.separate_pass_fits(fits)
    assert not encoder.separate_pass_fits(fits + 1)
    assert prove(encoder, "a " * (fits - 1))["separate_pass"].isna().all()  # fits + 1 tokens with [CLS] and [SEP]
    monkeypatch.setenv("SELFATTN_SEPARATE_PASS_MEGABYTES", "18")
    assert encoder.separate_pass_fits(256)  # exactly 18 MB


def test_prove_restores_matmul_precision(encoder):
    torch.set_float32_matmul_precision("high")
    try:
        prove(encoder, TEXT)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")


def test_prove_refuses_unsupported_encoder(encoder_of):
    with pytest.raises(NotRecomputable, match="can't recompute"):
        prove(encoder_of("XLNet"), TEXT)
