"""Effects of removed heads equal those by plain hooks on the model."""

import pytest
import torch

from selfattn.analysis.removing import removal_effect

pytestmark = pytest.mark.slow

TEXT = "The bank of the river was muddy."
FIRST, SECOND = ("The bank of the river.", (2,)), ("He met the banker there.", (4, 5))


def cosine(a, b):
    return torch.nn.functional.cosine_similarity(a, b, dim=0).item()


def word(states, positions):
    return states[list(positions)].mean(0)


@pytest.mark.parametrize("how", ["zero", "mean"])
def test_the_effect_of_a_head_is_the_cosine_without_it_minus_the_cosine_with_it(encoder, how):
    seen = []
    effect = removal_effect(encoder, FIRST, SECOND, how, lambda done, total: seen.append((done, total)))
    assert effect.shape == (6, 12)
    before = cosine(*(word(encoder.encode(text).hidden[-1], at) for text, at in (FIRST, SECOND)))
    for layer, head in [(0, 10), (3, 7), (5, 11)]:
        slot, without = slice(head * encoder.d_head, (head + 1) * encoder.d_head), []
        for text, at in (FIRST, SECOND):
            inputs = {}
            through(encoder, text, inputs.setdefault)
            value = inputs[layer][:, slot].mean(0) if how == "mean" else 0
            without.append(word(overwritten(encoder, text, layer, slot, value), at))
        assert effect[layer, head].item() == pytest.approx(cosine(*without) - before, abs=1e-5)
    assert seen[-1][0] == seen[-1][1] and [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert (effect < 0).any() and (effect > 0).any()  # effects have both signs


def through(encoder, text, change):
    """Return the last hidden state with change(layer, states) as the input (n, d_model) of each W_O, by the model alone."""

    def hook(layer):
        return lambda module, given: (change(layer, given[0][0].clone())[None], *given[1:])

    outputs = [block.attention.output.dense for block in encoder.model.encoder.layer]
    hooks = [output.register_forward_pre_hook(hook(layer)) for layer, output in enumerate(outputs)]
    try:
        with torch.no_grad():
            return encoder.model(torch.tensor([encoder.tokenize(text).ids])).last_hidden_state[0]
    finally:
        for each in hooks:
            each.remove()


def overwritten(encoder, text, layer, slot, value):
    """Return the last hidden state with one slice of the input of a layer's W_O overwritten."""

    def put(at, states):
        if at == layer:
            states[:, slot] = value
        return states

    return through(encoder, text, put)
