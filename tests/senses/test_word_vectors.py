"""Test the vectors of a word in its sentences."""

import pytest
import torch

from selfattn.encoders.capture import LayerRecording
from selfattn.senses import separation
from selfattn.senses.word_vectors import head_vectors, word_vectors
from tests.senses.conftest import tiny_table


def recording(value, mask=None):
    n_heads, n = value.shape[1:3]
    context = torch.zeros(1, n, n_heads, value.shape[-1])
    return LayerRecording(
        module=torch.nn.Identity(), query=value, key=value, value=value, mask=mask, terms=(), scale=1.0,
        context=context,
    )  # fmt: skip


def test_uniform_baseline_averages_unmasked_tokens():
    value = torch.tensor([[[[1.0], [3.0], [8.0]]]])  # one head, three tokens
    mask = torch.tensor([[[[True, True, False], [True, True, True], [False, True, True]]]])
    _, uniform, own = head_vectors(recording(value, mask), [0])
    assert uniform.item() == 2
    assert own.item() == 1
    _, uniform, own = head_vectors(recording(value, mask), [0, 2])  # the mean over a split word's tokens
    assert uniform.item() == pytest.approx((2 + 5.5) / 2)
    assert own.item() == 4.5
    assert head_vectors(recording(value), [0])[1].item() == 4


def test_bag_of_words_leaves_out_word_itself(encoder):
    assert word_vectors(encoder, encoder.locate("bank", "bank")).bag.abs().max() == 0


@pytest.mark.slow
def test_layers_are_measured_if_heads_cannot_be_read(encoder_of):
    report = separation(encoder_of("XLNet"), tiny_table(), shuffles=5)
    assert report.layers["layer"].tolist() == ["embedding", 0, 1, 2]
    assert report.layers["accuracy"].between(0, 1).all()
    assert report.heads.empty and "p_value" in report.heads
