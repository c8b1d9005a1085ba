"""Test Encoder: encoding, batches, removed heads and wrong inputs."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from selfattn import Encoder, TextError, load_encoder
from selfattn.analysis.gradients import context_gradients
from selfattn.encoders.errors import NotFinite
from selfattn.encoders.families import FAMILIES, save_tiny

MUDDY = "The bank of the river was muddy after the rain."


def test_encoding_has_tokens_and_states(encoder):
    encoding = encoder.encode(MUDDY)
    n = len(encoding.tokens)
    assert encoding.tokens[:3] == ("[CLS]", "the", "bank")
    assert encoding.special == (True, *[False] * (n - 2), True)
    assert [word.text for word in encoding.words] == [*MUDDY[:-1].split(), "."]
    assert encoding.hidden.shape == (7, n, 384)
    assert encoding.static.shape == (n, 384)
    with torch.no_grad():
        output = encoder.model(torch.tensor([encoding.ids]))
    assert torch.equal(encoding.hidden[-1], output.last_hidden_state[0])
    table = encoder.model.get_input_embeddings().weight
    assert torch.equal(encoding.static[2], table[encoding.ids[2]])
    assert torch.allclose(encoding.vector(3, [2, 5]), (encoding.hidden[3, 2] + encoding.hidden[3, 5]) / 2, atol=1e-6)


def test_bank_attends_to_river(encoder):
    assert encoder.encode(MUDDY).trace(0, 4).weights[2, 5].item() == pytest.approx(0.51, abs=0.005)


@pytest.mark.parametrize("rows", [None, slice(3, 5), slice(4, None), slice(0, 9, 2), slice(5, 5)])
def test_rows_argument_selects_rows_of_full_result(encoder, monkeypatch, rows):
    encoding = encoder.encode(MUDDY)
    whole, own = encoding.recordings[2].trace(), encoding.own_weights(2)
    monkeypatch.setattr("selfattn.encoders.encoding.BLOCK", 25)  # two rows of one head
    wanted = whole.weights[:, rows or slice(None)]
    assert torch.allclose(encoding.weights(2, rows=rows), wanted, atol=2e-6)
    assert torch.allclose(encoding.weights(2, 7, rows), wanted[7], atol=2e-6)
    trace = encoding.trace(2, 7, rows)
    assert torch.allclose(trace.weights, wanted[7], atol=2e-6)
    assert torch.allclose(trace.context, whole.context[7, rows or slice(None)], atol=2e-6)
    assert torch.allclose(encoding.own_weights(2, 7), own[7], atol=2e-6)


@pytest.mark.slow
def test_knock_out_removes_heads_together(encoder):
    both = encoder.knock_out(MUDDY, [2, 5])
    assert torch.allclose(both, (encoder.knock_out(MUDDY, 2) + encoder.knock_out(MUDDY, 5)) / 2, atol=1e-5)
    with pytest.raises(ValueError, match='"zero" or "mean", got \'median\''):
        encoder.knock_out(MUDDY, 2, how="median")
    vectors = encoder.knock_out(MUDDY, "BANK", heads=[(), (0, 4), ((0, 4), (3, 7)), tuple(encoder.all_heads)])
    assert torch.allclose(vectors[0], encoder.encode(MUDDY).hidden[-1, 2], atol=1e-5)
    assert torch.allclose(vectors[1], encoder.knock_out(MUDDY, 2)[0, 4], atol=1e-5)
    both = encoder.encode(MUDDY, patches=encoder.removed([(0, 4), (3, 7)])).hidden[-1, 2]
    assert torch.allclose(vectors[2], both, atol=1e-5) and not torch.allclose(both, vectors[1], atol=1e-3)
    off = encoder.encode(MUDDY, patches=encoder.removed(encoder.all_heads))
    assert torch.allclose(vectors[3], off.hidden[-1, 2], atol=1e-5)
    assert encoder.knock_out(MUDDY, 2, heads=[]).shape == (0, 384)


def test_batch_is_split_by_length(encoder, monkeypatch):
    """A single pass over all texts, padded to equal length, would have twelve thousand tokens in all."""
    texts = ["The bank."] * 20 + ["bank " * 300] + ["The bank of the river."] * 20
    passes = []
    run = Encoder.inputs
    monkeypatch.setattr(Encoder, "inputs", lambda *arguments: passes.append(run(*arguments)) or passes[-1])
    encodings = encoder.encode_batch(texts)
    assert [encoding.text for encoding in encodings] == texts
    sizes = [each["input_ids"].numel() for each in passes]
    assert max(sizes) <= 1024
    assert sum(sizes) < 1.5 * sum(len(encoding.tokens) for encoding in encodings) + 1024


def test_single_text_as_batch_is_refused(encoder):
    with pytest.raises(TypeError, match=r"Expected a list of texts, got one text \('The bank\.'\)\. Use encode"):
        encoder.encode_batch("The bank.")


def test_encoding_does_not_hold_batch_in_memory(encoder):
    short = encoder.encode_batch(["The bank.", "very " * 120])[0]
    held = [*short.states, short.static]
    held += [getattr(layer, name) for layer in short.recordings for name in ("query", "key", "value", "context")]
    assert all(tensor.untyped_storage().nbytes() == 4 * tensor.numel() for tensor in held)


def test_nan_error_names_text_and_layer(overflowing):
    encoder, fine, text = load_encoder(str(overflowing)), "The bank of the river.", "The loan in the morning."
    message = "tiny computes NaN or infinity for 'The loan in the morning.' in float32, first in the embeddings"
    for call in (encoder.encode, encoder.reference_weights, lambda text: encoder.encode_batch([fine, text])):
        with pytest.raises(NotFinite, match=message):
            call(text)
    for call in (
        lambda: encoder.knock_out(text, 1, heads=[(0, 0)]),
        lambda: context_gradients(encoder, [(text, (1,))], torch.ones(1, encoder.d_model)),
    ):
        with pytest.raises(NotFinite, match="first in the last hidden state"):
            call()
    assert encoder.encode(fine, pad_to=20).hidden.isfinite().all()
    layer, at = encoder.model.encoder.layer[1].output.dense, torch.tensor([2])  # the position of one token
    for number in (torch.nan, torch.inf, -torch.inf):
        hook = layer.register_forward_hook(lambda module, given, made, number=number: made.index_fill(1, at, number))
        with pytest.raises(NotFinite, match=r"first in layer 1\. Choose"):
            encoder.encode(fine)
        hook.remove()


@pytest.mark.parametrize(
    ("change", "text", "pair", "message"),
    [
        ({"type_vocab_size": 1}, "The bank.", "A river.", "no embedding for segment id 1"),
        ({"max_position_embeddings": 16}, "bank " * 15, None, "17 tokens, but tiny reads at most 16"),
        ({"vocab_size": 45}, "The bank was known.", None, "id 5., but tiny has only 45 token embeddings"),
    ],
)
def test_token_without_embedding_is_refused(tmp_path, change, text, pair, message):
    family = FAMILIES["BERT"]
    encoder = load_encoder(str(save_tiny(replace(family, settings={**family.settings, **change}), tmp_path / "tiny")))
    larger = load_encoder(str(save_tiny(family, tmp_path / "larger")))
    assert larger.reader == encoder.reader
    for given in ((text, pair), (larger.tokenize(text, pair), None)):
        with pytest.raises(TextError, match=message):
            encoder.encode(*given)
    assert encoder.encode("bank", pad_to=9).hidden.isfinite().all()


@pytest.mark.parametrize("stated", [0, -1])
def test_nonpositive_position_limit_is_ignored(tmp_path, stated):
    family = FAMILIES["ModernBERT"]
    settings = {**family.settings, "max_position_embeddings": stated}
    assert load_encoder(str(save_tiny(replace(family, settings=settings), tmp_path / "tiny"))).max_tokens == 64


def test_padding_token_without_embedding_is_accepted(encoder_of):
    encoder = encoder_of("BERT")
    texts = ["The bank.", "The bank of the river was muddy."]
    names = ("pad_token", "model_input_names", "unk_token", "unk_token_id")
    tokenizer = SimpleNamespace(pad_token_id=999, **{name: getattr(encoder.tokenizer, name) for name in names})
    batch = replace(encoder, tokenizer=tokenizer).encode_batch([encoder.tokenize(text) for text in texts])
    assert torch.allclose(batch[0].hidden, encoder.encode(texts[0]).hidden, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("half \ud83d emoji", "not valid Unicode"),
        ("\x00\x01", "only special tokens"),
        ("word " * 2000, "2,002 tokens.*at most 512"),
    ],
)
def test_error_says_why_text_is_unreadable(encoder, text, message):
    with pytest.raises(TextError, match=message):
        encoder.encode(text)


def test_index_error_names_valid_range(encoder):
    encoding = encoder.encode("The bank.")
    for call, message in {
        lambda: encoding.trace(6, 0): "layer from 0 to 5, got 6",
        lambda: encoding.trace(0, -1): "head from 0 to 11, got -1",
        lambda: encoding.rows(9): "position from 0 to 4, got 9",
        lambda: encoder.knock_out("The bank.", 5): "positions from 0 to 4",
    }.items():
        with pytest.raises(IndexError, match=message):
            call()


def test_work_of_each_forward_pass_is_reported(encoder):
    """The work is tokens x layers x d_model. Padding tokens and the copies of a text that `knock_out` makes count too."""
    given = []

    @contextmanager
    def around(work: int):
        given.append(work / (6 * 384))
        yield

    ours = replace(encoder, around=around)
    word = ours.locate("We sat on the bank.", "bank")[0]  # 8 tokens
    ours.encode("We sat on the bank.")
    ours.encode_batch(["We sat on the bank.", "Rain."])
    ours.reference_weights("We sat on the bank.")
    ours.knock_out(*word, heads=[(0, 1), (2, 3), (4, 5)])
    context_gradients(ours, [word], torch.ones(1, 384))
    assert given == [8, 16, 8, 24, 8]


class ExponentialRows(TorchDispatchMode):
    """Records how many rows each softmax computes."""

    def __init__(self):
        super().__init__()
        self.rows = []

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        made = function(*arguments, **(named or {}))
        if function is torch.ops.aten.exp.default:
            self.rows.append(made.shape[-2])
        return made


def test_large_attention_map_is_computed_in_blocks(encoder, monkeypatch):
    encoding = encoder.encode(MUDDY)
    n = len(encoding.tokens)
    whole = encoding.weights(2)
    monkeypatch.setattr("selfattn.encoders.encoding.BLOCK", 5 * n)
    with ExponentialRows() as one_head:
        assert torch.equal(encoding.weights(2, 7), whole[7])
    with ExponentialRows() as all_heads:  # one row of twelve heads is more than BLOCK
        assert torch.equal(encoding.weights(2), whole)
    assert (one_head.rows, all_heads.rows) == ([5, 5, n - 10], [1] * n)
