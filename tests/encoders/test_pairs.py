"""Compare selfattn's results for pairs of texts with those of the transformers model."""

import pytest
import torch
from transformers import AutoTokenizer

from selfattn.encoders.sources import resolve
from tests.encoders.test_patches import patched_by_hooks

PREMISE, HYPOTHESIS = "The bank of the river was muddy.", "It had rained."
LONG = ("A man is eating food, slowly and with great pleasure.", "Somebody eats.")


@pytest.mark.parametrize("name", ["BERT", "RoBERTa"])
def test_vectors_and_weights_of_text_pair_match_transformers(encoder_of, name):
    encoder, texts, pairs = encoder_of(name), [PREMISE, LONG[0], PREMISE], [HYPOTHESIS, LONG[1], None]
    tokenizer = AutoTokenizer.from_pretrained(resolve(encoder.name).folder)
    for text, pair, batched in zip(texts, pairs, encoder.encode_batch(list(map(encoder.tokenize, texts, pairs)))):
        with torch.no_grad():
            expected = encoder.eager(tokenizer(text, pair, return_tensors="pt"))
        encoding = encoder.encode(text, pair)
        assert (batched.text, batched.pair) == (text, pair)
        for found in (encoding, batched):
            assert torch.allclose(found.hidden[-1], expected.last_hidden_state[0], atol=1e-5)
        weights = torch.stack([layer[0] for layer in expected.attentions])
        assert torch.allclose(encoder.reference_weights(text, pair), weights, atol=1e-6)
        assert torch.allclose(encoding.weights(1), weights[1], atol=1e-5)


def test_knock_out_in_text_pair_agrees_with_hooks(encoder):
    heads = [(0, 10), (4, 3)]
    at_cls = encoder.knock_out(PREMISE, 0, heads=heads, pair=HYPOTHESIS)
    at_word = encoder.knock_out(PREMISE, "rained", heads=heads, pair=HYPOTHESIS)
    tokens = encoder.tokenize(PREMISE, HYPOTHESIS)
    place = tokens.tokens.index("rained")
    assert place > len(encoder.tokenize(PREMISE).ids)
    for i, head in enumerate(heads):
        expected = patched_by_hooks(encoder, tokens, encoder.removed([head]))
        assert torch.allclose(at_cls[i], expected[0], atol=1e-5)
        assert torch.allclose(at_word[i], expected[place], atol=1e-5)
