"""Two segments in one text, wherever a text goes in: against the plain model on what its own tokeniser makes of the pair."""

import pytest
import torch
from transformers import AutoTokenizer

from selfattn.encoders.sources import resolve

PREMISE, HYPOTHESIS = "The bank of the river was muddy.", "It had rained."
LONG = ("A man is eating food, slowly and with great pleasure.", "Somebody eats.")


def plain(encoder, text, pair, eager=False, cut=None):
    """The plain model's output for one pair, by the tokeniser's own call; cut: (layer, head) zeroed before W_O, by a hook."""
    inputs = AutoTokenizer.from_pretrained(resolve(encoder.name).folder)(text, pair, return_tensors="pt")
    hook = None
    if cut is not None:
        layer, head = cut
        slot = slice(head * encoder.d_head, (head + 1) * encoder.d_head)

        def zero(module, given):
            states = given[0].clone()
            states[..., slot] = 0
            return (states, *given[1:])

        hook = encoder.model.encoder.layer[layer].attention.output.dense.register_forward_pre_hook(zero)
    try:
        with torch.no_grad():
            return encoder.eager(inputs) if eager else encoder.model(**inputs)
    finally:
        if hook is not None:
            hook.remove()


@pytest.mark.parametrize("name", ["BERT", "RoBERTa"])
def test_a_pair_is_read_as_its_tokeniser_reads_it_alone_and_in_a_batch(encoder_of, name):
    encoder, texts, pairs = encoder_of(name), [PREMISE, LONG[0], PREMISE], [HYPOTHESIS, LONG[1], None]
    for text, pair, batched in zip(texts, pairs, encoder.encode_batch(list(map(encoder.tokenize, texts, pairs)))):
        expected, encoding = plain(encoder, text, pair, eager=True), encoder.encode(text, pair)
        assert (batched.text, batched.pair) == (text, pair)
        for found in (encoding, batched):
            assert torch.allclose(found.hidden[-1], expected.last_hidden_state[0], atol=1e-5)
        weights = torch.stack([layer[0] for layer in expected.attentions])
        assert torch.allclose(encoder.reference_weights(text, pair), weights, atol=1e-6)
        assert torch.allclose(encoding.weights(1), weights[1], atol=1e-5)


def test_heads_removed_from_a_pair(encoder):
    """At [CLS], which a cross-encoder scores, and at a word of the second segment."""
    heads = [(0, 10), (4, 3)]
    at_cls = encoder.knock_out(PREMISE, 0, heads=heads, pair=HYPOTHESIS)
    at_word = encoder.knock_out(PREMISE, "rained", heads=heads, pair=HYPOTHESIS)
    place = encoder.encode(PREMISE, HYPOTHESIS).tokens.index("rained")
    assert place > len(encoder.tokenize(PREMISE).ids)
    for i, head in enumerate(heads):
        expected = plain(encoder, PREMISE, HYPOTHESIS, cut=head).last_hidden_state[0]
        assert torch.allclose(at_cls[i], expected[0], atol=1e-5)
        assert torch.allclose(at_word[i], expected[place], atol=1e-5)
