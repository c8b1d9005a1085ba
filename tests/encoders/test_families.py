"""Test which model families are refused, and for which of the others the attention weights are recomputed."""

from dataclasses import replace

import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer

from selfattn import Encoder, Hide, LoadError, NotRecomputable, TextError, load_encoder
from selfattn.analysis.gradients import context_gradients
from selfattn.encoders import capture
from selfattn.encoders.families import COMMON, FAMILIES, byte_tokenizer, fill

pytestmark = pytest.mark.slow

# Pages show these families' attention, but selfattn can't recompute it. Values: words in `Encoder.reason`.
SHOWN = {"XLNet": "has its own attention code, with relative-position terms", "LiLT": "the recomputed weights differ"}
PATCHABLE = ["LiLT"]  # heads' outputs can be replaced
REFUSED = {"Longformer": "attend to windows of the text, or to summaries of it", "Funnel": "pool tokens together"}
RECOMPUTED = [name for name in FAMILIES if name not in {*SHOWN, *REFUSED}]
TEXTS = ["Rain.", "The riverbank was muddy, wasn't it?", "She sat by the water of the river and waited for the banker."]


@pytest.mark.parametrize("name", RECOMPUTED)
def test_recomputed_weights_equal_models_own(encoder_of, name):
    encoder = encoder_of(name)
    assert encoder.recomputable, encoder.reason
    near = {"atol": 1e-5, "rtol": 0}
    for text, batched in zip(TEXTS, encoder.encode_batch(TEXTS), strict=True):
        encoding, separate = encoder.encode(text), encoder.reference_weights(text)
        n, large = len(encoding.tokens), float(encoding.hidden.abs().max())
        assert separate.amax() > 1.5 / n  # equal weights would prove nothing
        torch.testing.assert_close(batched.hidden, encoding.hidden, atol=1e-5 * large, rtol=0)
        padded = encoder.encode(text, pad_to=n + 5)
        assert batched.tokens == encoding.tokens and padded.special[n:] == (True,) * 5
        for layer in range(encoder.n_layers):
            weights, own = encoding.weights(layer), encoding.own_weights(layer)
            for other in (own, separate[layer], batched.weights(layer)):
                torch.testing.assert_close(weights, other, **near)
            # If the query is a padding token, the attention weights may be undefined.
            with_padding = padded.weights(layer)[:, :n]
            torch.testing.assert_close(with_padding, padded.own_weights(layer)[:, :n], **near)
            assert with_padding[..., n:].abs().max() == 0
            torch.testing.assert_close(encoding.rows(1)[layer], weights[:, 1], atol=1e-6, rtol=0)
            torch.testing.assert_close(padded.rows(1)[layer], with_padding[:, 1], atol=1e-6, rtol=0)
            for head in range(encoder.n_heads):
                trace, context = encoding.trace(layer, head), encoding.own_context(layer)[head]
                torch.testing.assert_close(trace.weights, weights[head], atol=1e-6, rtol=0)
                torch.testing.assert_close(encoding.own_weights(layer, head), own[head], atol=1e-6, rtol=0)
                largest = max(1, float(context.abs().max()))
                torch.testing.assert_close(trace.context, context, atol=1e-5 * largest, rtol=0)


@pytest.mark.parametrize("name", SHOWN)
def test_unrecomputable_encoder_returns_reference_weights(encoder_of, name):
    encoder = encoder_of(name)
    assert not encoder.recomputable
    assert SHOWN[name] in encoder.reason
    encoding = encoder.encode(TEXTS[1])
    reference, batched = encoder.reference_weights(TEXTS[1]), encoder.encode_batch(TEXTS)[1]
    torch.testing.assert_close(batched.hidden, encoding.hidden, atol=1e-5 * float(encoding.hidden.abs().max()), rtol=0)
    for layer in range(encoder.n_layers):
        torch.testing.assert_close(encoding.weights(layer), reference[layer], atol=1e-6, rtol=0)
        torch.testing.assert_close(encoding.rows(1)[layer], reference[layer, :, 1], atol=1e-6, rtol=0)
        some, own = encoding.weights(layer, 1, slice(1, 3)), encoding.own_weights(layer, 2)
        torch.testing.assert_close(some, reference[layer, 1, 1:3], atol=1e-6, rtol=0)
        torch.testing.assert_close(own, reference[layer, 2], atol=1e-6, rtol=0)
    with pytest.raises(NotRecomputable, match="can't recompute"):
        encoding.trace(0, 0)
    for refused in (lambda: encoder.encode("Rain.", hidden=[Hide((1,), (2,))]), lambda: encoder.hide("Rain.", 1, [2])):
        with pytest.raises(NotRecomputable, match="No word can be hidden in"):
            refused()
    assert encoder.patchable == (name in PATCHABLE)
    if encoder.patchable:
        return
    for refused in (
        lambda: encoder.knock_out(TEXTS[1], 1),
        lambda: encoder.encode(TEXTS[1], patches=encoder.removed([(0, 0)])),
        lambda: context_gradients(encoder, [(TEXTS[1], (1,))], torch.zeros(1, encoder.d_model)),
    ):
        with pytest.raises(NotRecomputable, match=r"No head .* replaced or removed: the output matrix .* in 0 of 3"):
            refused()
    with pytest.raises(NotRecomputable, match="can't be read"):
        encoding.own_context(0)


@pytest.mark.parametrize(("name", "why"), REFUSED.items())
def test_family_without_square_attention_maps_is_refused(checkpoint, name, why):
    with pytest.raises(LoadError, match=rf"attention maps of shape \(.*not \(heads, tokens, tokens\): its .*{why}"):
        load_encoder(str(checkpoint(name)))


def test_encoder_half_of_t5_is_loaded(tmp_path, encoder_of):
    config = AutoConfig.from_pretrained(encoder_of("T5 (encoder half)").name)
    config.is_encoder_decoder = True
    whole = AutoModel.from_config(config, attn_implementation="eager")
    fill(whole, seed=1, spread=0.18)
    whole.eval().save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(encoder_of("T5 (encoder half)").name).save_pretrained(tmp_path)
    encoder = load_encoder(str(tmp_path))
    assert encoder.note == "the encoder half of an encoder-decoder (t5)"
    inputs = encoder.inputs([encoder.tokenize(TEXTS[1])])
    with torch.no_grad():
        expected = whole.encoder(**inputs).last_hidden_state[0]
    torch.testing.assert_close(encoder.encode(TEXTS[1]).hidden[-1], expected, atol=1e-5, rtol=1e-5)


def test_tokeniser_without_special_tokens_is_accepted(tmp_path):
    tokenizer = byte_tokenizer()
    tokenizer.backend_tokenizer.post_processor = None
    config = AutoConfig.for_model("bert", vocab_size=len(tokenizer), **COMMON)
    AutoModel.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    # A loaded RobertaTokenizer would add special tokens to every text.
    settings = tmp_path / "tokenizer_config.json"
    settings.write_text(settings.read_text().replace("RobertaTokenizer", "PreTrainedTokenizerFast"))
    encoder = load_encoder(str(tmp_path))
    encoding = encoder.encode("The river bank.")
    assert not any(encoding.special)
    assert encoding.tokens[0] == "The"
    assert [word.text for word in encoding.words] == ["The", "river", "bank", "."]
    torch.testing.assert_close(encoding.weights(0), encoder.reference_weights("The river bank.")[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", RECOMPUTED)
def test_other_words_have_no_effect_if_all_heads_are_removed(encoder_of, name):
    encoder = encoder_of(name)
    texts, off = ["the bank of the river", "the bank in the loan"], encoder.removed(encoder.all_heads)
    first, second = encoder.encode_batch(texts, [off, off])
    position = first.words[1].start
    same = torch.allclose(first.hidden[:, position], second.hidden[:, position], atol=1e-5)
    assert same == (name != "MobileBERT")
    assert ("next to it" in encoder.note) == (name == "MobileBERT")  # its embeddings mix neighbouring tokens


@pytest.mark.parametrize(("name", "limit"), [("BERT", 64), ("RoBERTa", 62), ("ModernBERT", 64)])
def test_max_tokens_is_length_of_longest_text(encoder_of, name, limit):
    """RoBERTa's positions start at 2."""
    encoder = encoder_of(name)
    assert encoder.max_tokens == limit
    longest = ("a," * limit)[: limit - sum(encoder.encode("a").special)]
    assert len(encoder.encode(longest).tokens) == limit
    with pytest.raises(TextError, match=f"reads at most {limit}"):
        encoder.encode(longest + "a,")


@pytest.mark.parametrize(
    ("dtype", "error", "recomputable"),
    [("float32", 8e-6, True), ("float32", 3e-5, False), ("bfloat16", 0.06, False), ("float16", float("nan"), False)],
)
def test_large_attention_errors_make_encoder_not_recomputable(checkpoint, monkeypatch, dtype, error, recomputable):
    right = capture.attend_precisely

    def off(query, key, value, *others):
        trace = right(query, key, value, *others)
        is_measured = value.dtype == getattr(torch, dtype)  # the check at load also runs in float32
        return replace(trace, weights=trace.weights + error) if is_measured else trace

    monkeypatch.setattr(capture, "attend_precisely", off)
    encoder = load_encoder(str(checkpoint("BERT")), dtype=dtype)
    assert encoder.recomputable == recomputable
    where = "" if dtype == "float32" else f"in {dtype} "
    assert recomputable or f"{where}the recomputed weights differ from the model's own by" in encoder.reason


@pytest.mark.parametrize(("factor", "refused"), [(1.03, True), (0.97, True), (1.01, False)])
def test_attention_rows_not_summing_to_one_are_refused(checkpoint, monkeypatch, factor, refused):
    run = Encoder.eager

    def scaled(twin, inputs, hidden=(), weights=True):
        output = run(twin, inputs, hidden, weights)
        output.attentions = tuple(layer * factor for layer in output.attentions or ())
        return output

    monkeypatch.setattr(Encoder, "eager", scaled)
    if refused:
        with pytest.raises(LoadError, match="rows don't sum to 1"):
            load_encoder(str(checkpoint("BERT")))
    else:  # shown, because the kernel's weights differ
        assert not load_encoder(str(checkpoint("BERT"))).recomputable


def test_bfloat16_encoder_may_exceed_error_limit_of_float32(checkpoint):
    encoder = load_encoder(str(checkpoint("BERT")), dtype="bfloat16")
    assert encoder.recomputable, encoder.reason
    error = (encoder.encode(TEXTS[1]).weights(0) - encoder.reference_weights(TEXTS[1])[0]).abs().max()
    assert 1e-5 < error < 5e-2
