"""Test the check that compares a loaded encoder with the transformers model."""

from itertools import product
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from selfattn import LoadError, load_encoder
from selfattn.encoders import capture, parity
from selfattn.encoders.capture import Recorder, recorded_attention, run
from selfattn.encoders.checkpoint import check_folder
from selfattn.encoders.families import Family, save_tiny
from selfattn.encoders.parity import filled
from selfattn.encoders.sources import resolve
from selfattn.kernel import attend
from tests.encoders.test_families import TEXTS

CONVBERT = Family("ConvBERT", "convbert", "wordpiece", {"embedding_size": 16, "head_ratio": 2})
GEMMA = {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 8, "layer_types": None}


@pytest.mark.parametrize(("is_causal", "causal"), [(None, False), (False, False), (True, True)])
def test_is_causal_is_read_from_argument_or_module(is_causal, causal):
    module = nn.Module()
    if is_causal is not None:
        module.is_causal = is_causal
    query, key, value = torch.randn(3, 1, 2, 5, 4, generator=torch.Generator().manual_seed(0))
    context, _ = recorded_attention(module, query, key, value, None)
    mask = torch.ones(5, 5, dtype=torch.bool).tril() if causal else None
    torch.testing.assert_close(context.transpose(1, 2), attend(query, key, value, mask).context, atol=1e-6, rtol=0)
    other, _ = recorded_attention(module, query, key, value, None, is_causal=not causal)
    assert (other - context).abs().max() > 0.1  # the argument of the call overrides the module


def test_default_scaling_of_scores_is_recorded():
    query, key, value = torch.randn(3, 1, 2, 5, 4, generator=torch.Generator().manual_seed(0))
    recorder, inputs = Recorder(), {"module": nn.Module(), "attention_mask": None}
    context, _ = run(recorded_attention, inputs, recorder, query=query, key=key, value=value)
    torch.testing.assert_close(recorder.layers[0].trace().context, context[0].transpose(0, 1), atol=1e-6, rtol=0)


def test_decoder_is_refused(tmp_path):
    save_tiny(Family("Gemma", "gemma3_text", "wordpiece", GEMMA), tmp_path)
    with pytest.raises(LoadError, match=r"is a decoder \(gemma3_text\): its tokens attend only to"):
        load_encoder(str(tmp_path))


@pytest.fixture(scope="module")
def convbert(tmp_path_factory):
    return load_encoder(str(save_tiny(CONVBERT, tmp_path_factory.mktemp("convbert"))))


def test_n_heads_counts_attention_maps(convbert):
    """ConvBERT's config counts four heads, but two are convolutions."""
    assert convbert.model.config.num_attention_heads == 4
    assert (convbert.n_layers, convbert.n_heads, convbert.d_head) == (3, 2, 8)
    encoding = convbert.encode(TEXTS[1])
    assert encoding.n_heads == 2
    assert encoding.weights(2, 1).shape == (len(encoding.tokens),) * 2
    assert encoding.rows(1).shape[:2] == (3, 2)


def test_texts_of_equal_length_share_forward_pass(convbert, encoder_of):
    assert convbert.equal_lengths
    assert "padding changes the results" in convbert.note
    assert not encoder_of("BERT").equal_lengths
    assert encoder_of("BERT").note == ""
    for text, batched in zip(TEXTS, convbert.encode_batch(TEXTS)):
        single = convbert.encode(text)
        assert batched.text == text
        torch.testing.assert_close(batched.hidden, single.hidden, atol=1e-5, rtol=0)
        torch.testing.assert_close(batched.weights(1), single.weights(1), atol=1e-5, rtol=0)


def off(monkeypatch, when, change):
    """Apply `change` to each recorded context (a layer's attention output) for which `when` is true."""
    receive = Recorder.receive

    def wrong(recorder, context, inputs):
        recorded = receive(recorder, context, inputs)
        return change(recorded) if when(recorder, recorded) else recorded

    monkeypatch.setattr(Recorder, "receive", wrong)


PASSES = {
    "one layer": lambda recorder, context: recorder.n_calls == 3,  # the tiny encoder's last layer
    "padded": lambda recorder, context: context.shape[0] > 1,
    "alone": lambda recorder, context: context.shape[0] == 1,
    "at the limit": lambda recorder, context: context.shape[1] > 40,  # not measured for the bundled encoder
}
CASES = [*product(["BERT"], PASSES, [1.01]), ("BERT", "padded", float("nan")), *product([None], [*PASSES][:3], [1.01])]


@pytest.mark.parametrize(("name", "when", "factor"), CASES)
@pytest.mark.slow
def test_encoder_with_wrong_contexts_is_not_recomputable(checkpoint, monkeypatch, name, when, factor):
    off(monkeypatch, PASSES[when], lambda context: context * factor)
    encoder = load_encoder(name and str(checkpoint(name)), device="cpu")
    assert not encoder.recomputable
    where = {"one layer": "last hidden states", "alone": "hidden states before layer 1"}.get(when, "") if name else ""
    assert f"{where} differ from the model's own by" in encoder.reason


@pytest.mark.slow
def test_check_with_one_eager_pass_agrees_with_full_check(encoder):
    short = encoder.tokenize("The bank of the river.")
    measured = parity.measure(encoder, short)
    assert (measured.reason, measured.equal_lengths) == ("", False)
    assert vars(parity.measure(encoder, short, pinned=True)) == vars(measured)
    check_folder(resolve().folder)  # raises nothing


@pytest.mark.parametrize(("n", "error"), [(8, float("nan")), (64, 1e-3)])
def test_wrong_weights_in_one_layer_are_found(checkpoint, monkeypatch, n, error):
    """In a text of 64 tokens, the check compares only some rows of the attention map."""
    right, layers = capture.attend_precisely, []

    def wrong(query, key, *others):
        trace = right(query, key, *others)
        layers.extend([n] * (key.shape[-2] == n))
        if layers == [n] * 3:
            trace.weights[..., 1:, :] += error
        return trace

    monkeypatch.setattr(capture, "attend_precisely", wrong)
    assert "layer 2 of bert, the recomputed weights differ" in load_encoder(str(checkpoint("BERT"))).reason


@pytest.mark.parametrize("layer", [1, 3])
@pytest.mark.slow
def test_nan_in_bfloat16_is_found(checkpoint, monkeypatch, layer):
    def when(recorder, context):
        return recorder.n_calls == layer and context.dtype == torch.bfloat16

    off(monkeypatch, when, lambda context: context * float("nan"))
    assert load_encoder(str(checkpoint("BERT"))).recomputable
    encoder = load_encoder(str(checkpoint("BERT")), dtype="bfloat16")
    assert not encoder.recomputable
    assert encoder.reason.startswith("in bfloat16")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_model_that_fails_in_low_precision_is_refused(checkpoint, dtype):
    """XLNet adds float32 position encodings to hidden states of the lower precision."""
    for name, family in (("XLNet", "xlnet"), ("DeBERTa", "deberta")):
        message = rf"\({family}\) runs in float32, but not in {dtype} \(RuntimeError: .*Load the encoder in float32"
        with pytest.raises(LoadError, match=message):
            load_encoder(str(checkpoint(name)), dtype=dtype)
    assert not load_encoder(str(checkpoint("XLNet"))).recomputable
    assert load_encoder(str(checkpoint("LiLT")), dtype=dtype).reason.startswith("in layer 0 of lilt")


@pytest.mark.parametrize("error", [1e-3, float("nan")])
def test_wrong_contexts_are_found(checkpoint, monkeypatch, error):
    right = capture.sdpa_attention_forward

    def wrong(*inputs, **options):
        context, weights = right(*inputs, **options)
        return context + error, weights

    monkeypatch.setattr(capture, "sdpa_attention_forward", wrong)
    assert "contexts differ" in load_encoder(str(checkpoint("BERT"))).reason


def test_filled_repeats_text_to_wanted_length(encoder_of):
    tokens = encoder_of("BERT").tokenize("the river bank")
    longer = filled(tokens, 10)
    assert (longer.ids[0], longer.ids[-1]) == (tokens.ids[0], tokens.ids[-1])
    assert longer.ids[1:-1] == (tokens.ids[1:-1] * 3)[:8]
    assert longer.special == (True, *(False,) * 8, True)
    assert filled(tokens, len(tokens.ids)).ids == tokens.ids


def test_larger_factor_allows_larger_difference_of_contexts():
    value = torch.ones(1, 1, 2, 4)
    recording = SimpleNamespace(value=value, context=(value + 5e-5).transpose(1, 2))
    weights = torch.full((1, 2, 2), 0.5)
    assert parity._contexts_differ(recording, weights, more=10.0) == ""
    assert parity._contexts_differ(recording, weights, more=1.0).startswith(
        "the contexts differ from the model's own by 5"
    )
