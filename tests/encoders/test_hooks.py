"""Hooks don't change a model's outputs."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from transformers import AutoModel

from selfattn import load_encoder
from selfattn.encoders import capture, hooks
from selfattn.encoders.capture import Recorder, current_recorder, run

HOOKED = ["DeBERTa", "DeBERTa-v2", "DeBERTa-v3", "MPNet", "RoFormer", "RemBERT", "MegatronBERT", "XLM", "LUKE"]
TEXT = "She sat by the river."


@pytest.mark.parametrize("name", HOOKED)
def test_hooks_do_not_change_model_outputs(encoder_of, checkpoint, name):
    encoder = encoder_of(name)
    assert encoder.hooked and encoder.recomputable
    inputs = encoder.inputs([encoder.tokenize(TEXT)])
    plain = AutoModel.from_pretrained(checkpoint(name), attn_implementation="eager").eval()
    with torch.no_grad():
        expected = plain(**inputs).last_hidden_state
        assert torch.equal(encoder.model(**inputs).last_hidden_state, expected)
        assert torch.equal(run(encoder.model, inputs, Recorder()).last_hidden_state, expected)


def test_recorder_is_unset_after_failed_pass(encoder_of):
    encoder = encoder_of("MPNet")
    with pytest.raises(IndexError):
        run(encoder.model, {"input_ids": torch.tensor([[10**6]])}, Recorder())
    assert current_recorder() is None


def test_loading_checks_that_head_outputs_can_be_replaced(checkpoint, monkeypatch):
    folder = str(checkpoint("LiLT"))
    assert load_encoder(folder).patch_reason == ""
    with monkeypatch.context() as patch:
        patch.setattr(capture, "_patched", lambda context, patches: context)
        assert "removing a head doesn't change the last hidden state" in load_encoder(folder).patch_reason
    monkeypatch.setattr(hooks, "output_layer", lambda module, own: getattr(own, "layout_output", own.output).dense)
    names = ("query", "key", "value")
    monkeypatch.setattr(hooks, "separate", lambda module: names if hasattr(module, "layout_query") else None)
    assert "the output matrix has other inputs besides the heads' contexts" in load_encoder(folder).patch_reason


@pytest.mark.parametrize("name", ["DeBERTa-v3", "ModernBERT"])
@pytest.mark.slow
def test_parallel_threads_get_same_numbers_as_one_thread(encoder_of, name):
    encoder = encoder_of(name)
    jobs = []
    for i in range(16):
        text = f"{'the river ' * (1 + i % 4)}bank."
        jobs += [
            lambda text=text: torch.cat([encoder.encode(text).weights(layer) for layer in range(encoder.n_layers)]),
            lambda text=text: encoder.encode(text).hidden,
            lambda text=text, i=i: encoder.knock_out(text, 1, heads=[(i % 3, i % 4), ((0, 1), (2, i % 4))]),
            lambda text=text: encoder.reference_weights(text),
        ]
    alone = [job() for job in jobs]
    # Another number of torch threads would change the results' last bits.
    threads = torch.get_num_threads()
    with ThreadPoolExecutor(16, initializer=torch.set_num_threads, initargs=(threads,)) as pool:
        together = list(pool.map(lambda job: job(), jobs * 2))
    assert len({tuple(numbers.shape) for numbers in alone}) > 8
    for one, other in zip(alone * 2, together, strict=True):
        assert torch.equal(one, other)
