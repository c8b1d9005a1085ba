"""Compare patches, which replace a head's output, with PyTorch hooks that do the same."""

import pytest
import torch
from torch import nn

from selfattn import Patch
from selfattn.analysis.gradients import context_gradients
from tests.encoders.test_families import PATCHABLE, RECOMPUTED

TEXT = "She sat by the river."


def calls_of_w_o(encoder, text):
    """Return each layer's module W_O and the index (from 1) of the layer's call to it. Layers may share one module."""
    seen, counts = [], {}

    def watch(module, given):
        counts[module] = counts.get(module, 0) + 1
        seen.append((module, counts[module], given[0].detach()))

    linears = [module for module in encoder.model.modules() if isinstance(module, nn.Linear)]
    hooks = [module.register_forward_pre_hook(watch) for module in linears]
    encoding = encoder.encode(text)
    for hook in hooks:
        hook.remove()
    contexts = [recording.context.flatten(-2) for recording in encoding.recordings]
    return [
        next((m, n) for m, n, given in seen if given.shape == context.shape and torch.equal(given, context))
        for context in contexts
    ]


def patched_by_hooks(encoder, text, patches):
    calls, counts, hooks = calls_of_w_o(encoder, text), {}, []

    def overwrite(module, given):
        counts[module] = counts.get(module, 0) + 1
        states = given[0].clone()
        for patch in patches:
            if calls[patch.layer] == (module, counts[module]):
                slot = slice(patch.head * encoder.d_head, (patch.head + 1) * encoder.d_head)
                for i, position in enumerate(range(states.shape[1]) if patch.positions is None else patch.positions):
                    states[0, position, slot] = patch.value if patch.value.dim() == 1 else patch.value[i]
        return (states, *given[1:])

    for module in {module for module, _ in calls}:
        hooks.append(module.register_forward_pre_hook(overwrite))
    with torch.no_grad():
        output = encoder.model(**encoder.inputs([encoder.tokenize(text)]))
    for hook in hooks:
        hook.remove()
    return output.last_hidden_state[0]


def some_patches(encoder, seed=0):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    last, d = encoder.n_layers - 1, encoder.d_head
    return [Patch(0, 1, (4, 0), draw(2, d)), Patch(0, 1, (3,), draw(d)), Patch(last, 0, None, draw(d))]


@pytest.mark.parametrize("name", [*RECOMPUTED, *PATCHABLE])
@pytest.mark.slow
def test_patches_give_same_states_as_hooks(encoder_of, name):
    encoder = encoder_of(name)
    patches = some_patches(encoder)
    expected = patched_by_hooks(encoder, TEXT, patches)
    encoding = encoder.encode(TEXT, patches=patches)
    torch.testing.assert_close(encoding.hidden[-1], expected, atol=1e-5, rtol=1e-5)
    assert (expected - encoder.encode(TEXT).hidden[-1]).abs().max() > 1e-3
    torch.testing.assert_close(encoding.own_context(0)[1, 4], patches[0].value[0], atol=0, rtol=0)


@pytest.mark.parametrize(
    "name", ["BERT", "ALBERT", "DeBERTa-v3", "EuroBERT", "MobileBERT", "T5 (encoder half)", *PATCHABLE]
)
@pytest.mark.slow
def test_gradient_equals_finite_differences(encoder_of, name):
    encoder, place = encoder_of(name), (TEXT, (2, 3))
    generator = torch.Generator().manual_seed(0)
    toward = torch.nn.functional.normalize(torch.randn(2, encoder.d_model, generator=generator), dim=1)
    (found,) = context_gradients(encoder, [place], toward)
    donor = encoder.encode("The riverbank was muddy.").context((1,))
    change = found.toward(donor)
    for layer, head in [(0, 1), (encoder.n_layers - 1, 0)]:
        ends = []
        for step in (0.004, -0.004):
            context = found.context[layer, head]
            patch = Patch(layer, head, place[1], context + step * (donor[layer, head] - context))
            vector = encoder.encode(TEXT, patches=[patch]).vector(encoder.n_layers, place[1])
            ends.append(toward @ vector / vector.norm())
        torch.testing.assert_close(change[:, layer, head], (ends[0] - ends[1]) / 0.008, atol=1e-4, rtol=1e-2)
    assert change.abs().max() > 1e-3
    places = [("The river was muddy after the rain, and the bank by the river was muddy, too.", (1,)), place]
    if not encoder.equal_lengths:  # in one pass, with padding
        beside = context_gradients(encoder, places, toward)[1]
        torch.testing.assert_close(beside.gradient, found.gradient, atol=1e-6, rtol=1e-4)
        torch.testing.assert_close(beside.recordings[0].value, found.recordings[0].value, atol=1e-5, rtol=1e-5)


def test_each_text_in_batch_gets_its_patches(encoder):
    texts = ["Rain.", TEXT, "The bank of the river was muddy."]  # the longest text comes last, but runs first
    patches = [[Patch(5, 11, None, torch.ones(32))], (), some_patches(encoder, 1)]
    for text, of_text, batched in zip(texts, patches, encoder.encode_batch(texts, patches)):
        torch.testing.assert_close(batched.hidden, encoder.encode(text, patches=of_text).hidden, atol=3e-5, rtol=0)
        assert batched.patches == tuple(of_text)
    with pytest.raises(ValueError, match="Expected 3 collections of patches, one for each text, got 1"):
        encoder.encode_batch(texts, patches[:1])


def test_each_copy_of_text_gets_its_patches(encoder, monkeypatch):
    patches = [some_patches(encoder, seed) for seed in range(3)]
    monkeypatch.setattr("selfattn.encoders.batches.COPIED_TOKENS", 20)
    vectors = encoder.changed_vectors((TEXT, (2, 5)), patches)
    expected = [encoder.encode(TEXT, patches=each).vector(6, (2, 5)) for each in patches]
    torch.testing.assert_close(vectors, torch.stack(expected), atol=1e-5, rtol=1e-5)


WRONG = [
    ([Patch(6, 0, None, torch.zeros(32))], "L0 H0 to L5 H11, got L6 H0"),
    ([Patch(0, -1, None, torch.zeros(32))], "L0 H0 to L5 H11, got L0 H-1"),
    ([Patch(0, 0, (8,), torch.zeros(32))], "positions from 0 to 7 .* got \\(8,\\)"),
    ([Patch(0, 0, (-1,), torch.zeros(32))], "positions from 0 to 7"),
    ([Patch(0, 0, (), torch.zeros(32))], "positions from 0 to 7"),
    ([Patch(0, 0, (1, 2), torch.zeros(3, 32))], r"\(32,\) or \(2, 32\) for the patch of L0 H0, got \(3, 32\)"),
    ([Patch(0, 0, None, torch.zeros(8, 32))], r"\(32,\) for the patch of L0 H0, got \(8, 32\)"),
    ([Patch(0, 0, (1,), torch.full((32,), torch.nan))], "NaN or infinity"),
    ([Patch(0, 0, (1,), torch.tensor([1.0] * 31 + [torch.inf]))], r"L0 H0, got \(32,\) with NaN or infinity"),
    ([Patch(0, 0, (1, 1), torch.zeros(32))], "two patches for L0 H0 at position 1"),
    ([Patch(0, 0, (1,), torch.zeros(32)), Patch(0, 0, None, torch.ones(32))], "two patches for L0 H0 at position 1"),
]


@pytest.mark.parametrize(("patches", "message"), WRONG, ids=range(len(WRONG)))
def test_invalid_patches_are_refused(encoder, patches, message):
    for call in (
        lambda: encoder.encode(TEXT, patches=patches),
        lambda: encoder.encode_batch(["The bank of the river was muddy.", TEXT], [(), patches]),
        lambda: encoder.changed_vectors((TEXT, 2), [(), patches]),
    ):
        with pytest.raises(ValueError, match=message):
            call()
