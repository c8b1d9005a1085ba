"""What removing heads changes, against plain hooks on the model and cosines of our own."""

import pytest
import torch

from selfattn.analysis.interventions import alone, joint_effect, knock_out_effect

TEXT = "The bank of the river was muddy."
FIRST, SECOND = ("The bank of the river.", (2,)), ("He met the banker there.", (4, 5))


def cosine(a, b):
    return torch.nn.functional.cosine_similarity(a, b, dim=0).item()


def word(states, positions):
    return states[list(positions)].mean(0)


@pytest.mark.parametrize("how", ["zero", "mean"])
def test_the_effect_of_a_head_is_the_cosine_without_it_minus_the_cosine_with_it(encoder, how):
    seen = []
    effect = knock_out_effect(encoder, FIRST, SECOND, how, lambda done, total: seen.append((done, total)))
    assert effect.shape == (6, 12)
    before = cosine(*(word(encoder.encode(text).hidden[-1], at) for text, at in (FIRST, SECOND)))
    for layer, head in [(0, 10), (3, 7), (5, 11)]:
        after = cosine(
            *(word(encoder.without_heads(text, [[(layer, head)]], how)[0], at) for text, at in (FIRST, SECOND))
        )
        assert effect[layer, head].item() == pytest.approx(after - before, abs=1e-5)
    assert seen[-1][0] == seen[-1][1] and [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert (effect < 0).any() and (effect > 0).any()  # effects have both signs


def test_heads_removed_together(encoder):
    heads = [(1, 2), (4, 9), (4, 10)]
    before = cosine(*(word(encoder.encode(text).hidden[-1], at) for text, at in (FIRST, SECOND)))
    after = cosine(*(word(without(encoder, text, heads), at) for text, at in (FIRST, SECOND)))
    assert joint_effect(encoder, FIRST, SECOND, heads) == pytest.approx(after - before, abs=1e-5)
    assert abs(after - before) > 1e-3
    one = joint_effect(encoder, FIRST, SECOND, [(3, 7)])
    assert one == pytest.approx(knock_out_effect(encoder, FIRST, SECOND)[3, 7].item(), abs=1e-6)


def without(encoder, text, heads):
    """The last hidden state with the heads' slices zeroed just before W_O, by hooks: nothing of ours takes part."""

    def cut(removed):
        def hook(module, given):
            states = given[0].clone().unflatten(-1, (encoder.n_heads, encoder.d_head))
            states[..., removed, :] = 0
            return (states.flatten(-2), *given[1:])

        return hook

    hooks = [
        block.attention.output.dense.register_forward_pre_hook(cut([head for at, head in heads if at == layer]))
        for layer, block in enumerate(encoder.model.encoder.layer)
    ]
    try:
        with torch.no_grad():
            return encoder.model(torch.tensor([encoder.tokenize(text).ids])).last_hidden_state[0]
    finally:
        for hook in hooks:
            hook.remove()


def test_a_head_alone_equals_a_pass_with_all_other_slices_zeroed_before_the_output_matrix(encoder):
    layer, head = 2, 5
    found = alone(encoder, TEXT, layer, head)
    block, seen = encoder.model.encoder.layer[layer], {}
    watch = block.register_forward_pre_hook(lambda module, given: seen.update(read=given[0]))
    try:
        expected = without(encoder, TEXT, [other for other in encoder.all_heads if other != (layer, head)])
    finally:
        watch.remove()
    torch.testing.assert_close(found.hidden, expected, atol=1e-5, rtol=1e-5)
    with torch.no_grad():
        query, key = (
            projection(seen["read"][0])[:, head * encoder.d_head : (head + 1) * encoder.d_head]
            for projection in (block.attention.self.query, block.attention.self.key)
        )
    weights = (query @ key.T / encoder.d_head**0.5).softmax(-1)
    torch.testing.assert_close(found.trace.weights, weights, atol=1e-5, rtol=0)


def test_a_head_of_the_first_layer_alone_keeps_its_weights(encoder):
    plain = encoder.encode(TEXT).trace(0, 10).weights
    torch.testing.assert_close(alone(encoder, TEXT, 0, 10).trace.weights, plain, atol=1e-6, rtol=0)
