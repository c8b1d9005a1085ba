"""What removing heads changes, against plain hooks on the model and cosines of our own."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from selfattn import NotRecomputable, Patch
from selfattn.analysis import swapping
from selfattn.analysis.gradients import context_gradients
from selfattn.analysis.removing import alone, removal_effect
from selfattn.analysis.swapping import swap_pair

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
            own = entering(encoder, text, layer)[:, slot]
            value = own.mean(0) if how == "mean" else 0
            without.append(word(overwritten(encoder, text, range(len(own)), layer, slot, value), at))
        assert effect[layer, head].item() == pytest.approx(cosine(*without) - before, abs=1e-5)
    assert seen[-1][0] == seen[-1][1] and [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert (effect < 0).any() and (effect > 0).any()  # effects have both signs


def through(encoder, text, change):
    """The last hidden state with change(layer, states) for what enters each W_O, (n, d_model): nothing of ours takes part."""

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


def test_a_head_alone_equals_a_pass_with_all_other_slices_zeroed_before_the_output_matrix(encoder):
    def only(layer, states):
        kept, slot = torch.zeros_like(states), slice(5 * encoder.d_head, 6 * encoder.d_head)
        kept[:, slot] = states[:, slot] if layer == 2 else 0
        return kept

    found = alone(encoder, TEXT, 2, 5)
    torch.testing.assert_close(found.hidden[-1], through(encoder, TEXT, only), atol=1e-5, rtol=1e-5)


A, B = ("The bank of the river.", (2,)), ("The bank approved the loan.", (2,))
C = ("The bank sloped toward the stream.", (2,))


def test_swaps_on_the_pair_that_the_dashboard_opens_with(encoder):
    """Measured before the library was written, with hooks of its own."""
    swaps = swap_pair(encoder, A, B, C)
    assert swaps.share.argmax() == 5 * 12 + 7
    figures = {(5, 7): (0.25, 0.05), (0, 4): (0.09, 0.07), (0, 10): (0.08, 0.05), (5, 10): (0.07, 0.04)}
    for head, (share, control) in figures.items():
        assert swaps.share[head].item() == pytest.approx(share, abs=0.0051)
        assert swaps.control[head].item() == pytest.approx(control, abs=0.0051)
    assert (swaps.a_from_b[5, 7].item(), swaps.b_from_a[5, 7].item()) == pytest.approx((0.23, 0.28), abs=0.0051)


def test_all_heads_swapped_together_bring_the_word_the_whole_way(encoder):
    swaps = swap_pair(encoder, A, B, C, heads=[tuple(encoder.all_heads), ()])
    assert swaps.share.tolist() == pytest.approx([1, 0], abs=1e-4)
    assert swaps.cosine.tolist() == pytest.approx([1, 0.81], abs=0.0051)
    assert swaps.control[0].item() == pytest.approx(0.37, abs=0.0051)


def test_a_swap_is_the_donors_mean_at_every_piece_of_the_word(encoder):
    seen = []
    swaps = swap_pair(encoder, FIRST, SECOND, progress=lambda done, total: seen.append((done, total)))
    units = [unit(word(encoder.encode(text).hidden[-1], at)) for text, at in (FIRST, SECOND)]
    axis = (units[1] - units[0]) / (units[1] - units[0]).square().sum()
    for layer, head in [(0, 3), (4, 9)]:
        slot = slice(head * encoder.d_head, (head + 1) * encoder.d_head)
        donors = [word(entering(encoder, text, layer), at)[slot] for text, at in (FIRST, SECOND)]
        a = unit(word(overwritten(encoder, *FIRST, layer, slot, donors[1]), FIRST[1]))
        b = unit(word(overwritten(encoder, *SECOND, layer, slot, donors[0]), SECOND[1]))
        assert swaps.a_from_b[layer, head].item() == pytest.approx(float((a - units[0]) @ axis), abs=1e-5)
        assert swaps.b_from_a[layer, head].item() == pytest.approx(float((units[1] - b) @ axis), abs=1e-5)
        assert swaps.cosine[layer, head].item() == pytest.approx(float(a @ units[1]), abs=1e-5)
    assert torch.allclose(swaps.share, (swaps.a_from_b + swaps.b_from_a) / 2) and swaps.control.isnan().all()
    assert seen == [(1, 2), (2, 2)]


def unit(vector):
    return vector / vector.norm()


def entering(encoder, text, layer):
    """What enters W_O of a layer, (n, d_model)."""
    seen = {}
    through(encoder, text, seen.setdefault)
    return seen[layer]


def overwritten(encoder, text, positions, layer, slot, value):
    """The last hidden state with one slice before W_O overwritten."""

    def put(at, states):
        if at == layer:
            states[list(positions), slot] = value
        return states

    return through(encoder, text, put)


def test_the_gradient_is_the_slope_of_small_steps(encoder):
    """Against finite differences: steps of 5 % toward the donor and away from it."""
    toward = torch.nn.functional.normalize(torch.randn(2, 384, generator=torch.Generator().manual_seed(0)), dim=1)
    (found,) = context_gradients(encoder, [SECOND], toward)
    donor = encoder.encode(FIRST[0]).context(FIRST[1])
    change = found.toward(donor)
    for layer, head in [(0, 10), (3, 2), (5, 7)]:
        slot = slice(head * encoder.d_head, (head + 1) * encoder.d_head)
        own = entering(encoder, SECOND[0], layer)[list(SECOND[1])][:, slot]
        ends = []
        for step in (0.05, -0.05):
            patch = Patch(layer, head, SECOND[1], own + step * (donor[layer, head] - own))
            ends.append(unit(encoder.encode(SECOND[0], patches=[patch]).vector(6, SECOND[1])))
        slope = toward @ (ends[0] - ends[1]) / 0.1
        torch.testing.assert_close(change[:, layer, head], slope, atol=2e-4, rtol=1e-2)


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


def test_heads_that_their_gradient_still_puts_above_those_that_were_run_are_run_too(encoder_of, monkeypatch):
    tiny, sides = encoder_of("BERT"), (("The bank approved the loan.", "bank"), ("She sat by the bank.", "bank"))
    flattering = SimpleNamespace(toward=lambda donor: torch.full((1, tiny.n_layers, tiny.n_heads), 9.0))
    monkeypatch.setattr(swapping, "context_gradients", lambda *given: [flattering] * 2)
    found, exact = swap_pair(tiny, *sides, how="leading"), swap_pair(tiny, *sides)
    assert found.exact.all()
    torch.testing.assert_close(found.b_from_a, exact.b_from_a)


def test_a_word_that_is_the_same_in_both_sentences_has_no_way_to_go(encoder):
    for how in ("exact", "gradient", "leading"):
        swaps = swap_pair(encoder, A, A, C, how=how)
        assert all(
            getattr(swaps, name).isnan().all() for name in ("share", "a_from_b", "b_from_a", "control", "cosine")
        )


def test_what_cannot_be_swapped_is_refused(encoder):
    with pytest.raises(ValueError, match='"exact", "gradient" or "leading", got \'fast\''):
        swap_pair(encoder, A, B, how="fast")
    shown = replace(encoder, patch_reason="a test.")
    for how in ("exact", "gradient"):
        with pytest.raises(NotRecomputable, match="a test"):
            swap_pair(shown, A, B, how=how)
