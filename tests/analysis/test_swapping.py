"""What removing heads changes, against plain hooks on the model and cosines of our own."""

from dataclasses import replace

import pytest
import torch

from selfattn import NotRecomputable, Patch
from selfattn.analysis.removing import alone, removal_effect
from selfattn.analysis.swapping import context_gradients, swap_pair

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
        after = cosine(
            *(encoder.knock_out(text, at, heads=[(layer, head)], how=how)[0] for text, at in (FIRST, SECOND))
        )
        assert effect[layer, head].item() == pytest.approx(after - before, abs=1e-5)
    assert seen[-1][0] == seen[-1][1] and [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert (effect < 0).any() and (effect > 0).any()  # effects have both signs


@pytest.mark.slow
def test_heads_removed_together(encoder):
    heads = [(1, 2), (4, 9), (4, 10)]
    before = cosine(*(word(encoder.encode(text).hidden[-1], at) for text, at in (FIRST, SECOND)))
    after = cosine(*(word(without(encoder, text, heads), at) for text, at in (FIRST, SECOND)))
    assert removal_effect(encoder, FIRST, SECOND, heads=[tuple(heads)]).item() == pytest.approx(
        after - before, abs=1e-5
    )
    assert abs(after - before) > 1e-3
    one = removal_effect(encoder, FIRST, SECOND, heads=[((3, 7),)]).item()
    assert one == pytest.approx(removal_effect(encoder, FIRST, SECOND)[3, 7].item(), abs=1e-6)


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
    torch.testing.assert_close(found.hidden[-1], expected, atol=1e-5, rtol=1e-5)
    with torch.no_grad():
        query, key = (
            projection(seen["read"][0])[:, head * encoder.d_head : (head + 1) * encoder.d_head]
            for projection in (block.attention.self.query, block.attention.self.key)
        )
    weights = (query @ key.T / encoder.d_head**0.5).softmax(-1)
    torch.testing.assert_close(found.weights(layer, head), weights, atol=1e-5, rtol=0)


A, B = ("The bank of the river.", (2,)), ("The bank approved the loan.", (2,))
C = ("The bank sloped toward the stream.", (2,))


@pytest.mark.slow
def test_swaps_on_the_pair_that_the_dashboard_opens_with(encoder):
    """Measured before the library was written, with hooks of its own."""
    swaps = swap_pair(encoder, A, B, C)
    assert swaps.share.argmax() == 5 * 12 + 7
    figures = {(5, 7): (0.25, 0.05), (0, 4): (0.09, 0.07), (0, 10): (0.08, 0.05), (5, 10): (0.07, 0.04)}
    for head, (share, control) in figures.items():
        assert swaps.share[head].item() == pytest.approx(share, abs=0.0051)
        assert swaps.control[head].item() == pytest.approx(control, abs=0.0051)
    assert (swaps.a_from_b[5, 7].item(), swaps.b_from_a[5, 7].item()) == pytest.approx((0.23, 0.28), abs=0.0051)


@pytest.mark.slow
def test_all_heads_swapped_together_bring_the_word_the_whole_way(encoder):
    swaps = swap_pair(encoder, A, B, C, heads=[tuple(encoder.all_heads), (5, 7), ()])
    assert swaps.share[0].item() == pytest.approx(1, abs=1e-4) and swaps.cosine[0].item() == pytest.approx(1, abs=1e-5)
    assert swaps.control[0].item() == pytest.approx(0.37, abs=0.0051)
    assert swaps.share[1].item() == pytest.approx(swap_pair(encoder, A, B).share[5, 7].item(), abs=1e-5)
    assert swaps.share[2].item() == pytest.approx(0, abs=1e-5)
    assert swaps.cosine[2].item() == pytest.approx(0.81, abs=0.0051)


SPLIT = ("He met the banker there.", (4, 5))  # a word of two tokens stands for one of several pieces


@pytest.mark.slow
def test_a_swap_is_the_donors_mean_at_every_piece_of_the_word(encoder):
    seen = []
    swaps = swap_pair(encoder, FIRST, SPLIT, progress=lambda done, total: seen.append((done, total)))
    units = [unit(word(encoder.encode(text).hidden[-1], at)) for text, at in (FIRST, SPLIT)]
    axis = (units[1] - units[0]) / (units[1] - units[0]).square().sum()
    for layer, head in [(0, 3), (4, 9)]:
        slot = slice(head * encoder.d_head, (head + 1) * encoder.d_head)
        donors = [word(entering(encoder, text, layer), at)[slot] for text, at in (FIRST, SPLIT)]
        a = unit(word(overwritten(encoder, *FIRST, layer, slot, donors[1]), FIRST[1]))
        b = unit(word(overwritten(encoder, *SPLIT, layer, slot, donors[0]), SPLIT[1]))
        assert swaps.a_from_b[layer, head].item() == pytest.approx(float((a - units[0]) @ axis), abs=1e-5)
        assert swaps.b_from_a[layer, head].item() == pytest.approx(float((units[1] - b) @ axis), abs=1e-5)
        assert swaps.cosine[layer, head].item() == pytest.approx(float(a @ units[1]), abs=1e-5)
    assert torch.allclose(swaps.share, (swaps.a_from_b + swaps.b_from_a) / 2) and swaps.control.isnan().all()
    assert seen == [(1, 2), (2, 2)]


def unit(vector):
    return vector / vector.norm()


def entering(encoder, text, layer):
    """What enters W_O of a layer, (n, d_model), watched by a hook."""
    seen = {}
    dense = encoder.model.encoder.layer[layer].attention.output.dense
    hook = dense.register_forward_pre_hook(lambda module, given: seen.update(states=given[0][0]))
    try:
        encoder.encode(text)
    finally:
        hook.remove()
    return seen["states"]


def overwritten(encoder, text, positions, layer, slot, value):
    """The last hidden state with one slice before W_O overwritten, by a hook: nothing of ours takes part."""

    def put(module, given):
        states = given[0].clone()
        for position in positions:
            states[0, position, slot] = value
        return (states, *given[1:])

    hook = encoder.model.encoder.layer[layer].attention.output.dense.register_forward_pre_hook(put)
    try:
        with torch.no_grad():
            return encoder.model(torch.tensor([encoder.tokenize(text).ids])).last_hidden_state[0]
    finally:
        hook.remove()


def test_the_gradient_is_the_slope_of_small_steps(encoder):
    """Against finite differences: steps of 5 % toward the donor and away from it."""
    toward = torch.nn.functional.normalize(torch.randn(2, 384, generator=torch.Generator().manual_seed(0)), dim=1)
    (found,) = context_gradients(encoder, [SPLIT], toward)
    donor = encoder.encode(FIRST[0]).context(FIRST[1])
    change = found.toward(donor)
    for layer, head in [(0, 10), (3, 2), (5, 7)]:
        slot = slice(head * encoder.d_head, (head + 1) * encoder.d_head)
        own = entering(encoder, SPLIT[0], layer)[list(SPLIT[1])][:, slot]
        ends = []
        for step in (0.05, -0.05):
            patch = Patch(layer, head, SPLIT[1], own + step * (donor[layer, head] - own))
            ends.append(unit(encoder.encode(SPLIT[0], patches=[patch]).vector(6, SPLIT[1])))
        slope = toward @ (ends[0] - ends[1]) / 0.1
        torch.testing.assert_close(change[:, layer, head], slope, atol=2e-4, rtol=1e-2)


@pytest.mark.slow
def test_by_gradient_the_heads_stand_in_the_same_order_and_sets_are_sums(encoder):
    exact, gradient = (swap_pair(encoder, A, B, C, how=how) for how in ("exact", "gradient"))
    ranks = [swaps.share.flatten().argsort().argsort().double() for swaps in (exact, gradient)]
    assert torch.corrcoef(torch.stack(ranks))[0, 1] > 0.98
    assert (exact.control - gradient.control).abs().max() < 0.03 and gradient.cosine.isnan().all()
    together = swap_pair(encoder, A, B, heads=[(), ((5, 7), (0, 4))], how="gradient")
    assert together.share.tolist() == pytest.approx([0, float(gradient.share[5, 7] + gradient.share[0, 4])], abs=1e-6)


# Above twelve tokens. By gradient another head than the exact one stands first in the first; in the second the control's first
# one falls behind the second's number by gradient.
TAILS = (
    " because nobody else had asked about it before the long winter came.",
    " although it was late and the others were waiting outside in the rain.",
    " as the old man told us again and again over a cup of tea.",
)
LONG = (
    (
        "Why is the fan blowing hot air?" + TAILS[1],
        "My grandmother has long been a secret fan of wrestling" + TAILS[2],
        "A powerful fan blew fake snow across the stage" + TAILS[0],
        "fan",
    ),
    (
        "Her fingers moved so quickly that the ear could not follow each note of the sonata" + TAILS[0],
        "On the seat of our car was a note from the police" + TAILS[1],
        "If you press this key harder, the note will sound louder" + TAILS[2],
        "note",
    ),
)


@pytest.mark.slow
def test_the_first_head_of_a_map_by_gradient_is_an_exact_one(encoder):
    for *texts, word in LONG:
        at = [encoder.encode(text).places(word)[0] for text in texts]
        exact, rough, seen = swap_pair(encoder, *at), swap_pair(encoder, *at, how="gradient"), {}
        found = swap_pair(encoder, *at, how="leading", progress=seen.__setitem__)
        assert (rough.share.argmax() != exact.share.argmax()) == (word != "note")
        assert not found.exact.all() and list(seen)[-1] == list(seen.values())[-1]
        for name in ("a_from_b", "b_from_a", "control"):
            ours, gradient = getattr(found, name), getattr(rough, name)
            assert found.exact.flatten()[gradient.flatten().topk(8).indices].all(), name
            assert getattr(exact, name).argmax() == ours.argmax() and found.exact.flatten()[ours.argmax()], name
            assert torch.allclose(ours[found.exact], getattr(exact, name)[found.exact], atol=1e-5)
            assert torch.allclose(ours[~found.exact], gradient[~found.exact], atol=1e-6)


@pytest.mark.slow
def test_a_word_that_is_the_same_in_both_sentences_has_no_way_to_go(encoder):
    for how in ("exact", "gradient", "leading"):
        swaps = swap_pair(encoder, A, A, C, how=how)
        assert all(
            getattr(swaps, name).isnan().all() for name in ("share", "a_from_b", "b_from_a", "control", "cosine")
        )


def test_what_cannot_be_swapped_is_refused(encoder):
    with pytest.raises(ValueError, match='"exact", "gradient" or "leading", got \'fast\''):
        swap_pair(encoder, A, B, how="fast")
    shown = replace(encoder, recomputable=False, reason="a test.")
    for how in ("exact", "gradient"):
        with pytest.raises(NotRecomputable, match="a test"):
            swap_pair(shown, A, B, how=how)
