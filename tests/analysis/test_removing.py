"""Compare `removal_effect` with plain hooks that remove the same heads."""

import pytest
import torch

from selfattn import Patch
from selfattn.analysis.removing import removal_effect
from tests.encoders.test_patches import patched_by_hooks

pytestmark = pytest.mark.slow

FIRST, SECOND = ("The bank of the river.", (2,)), ("He met the banker there.", (4, 5))


def cosine(a, b):
    return torch.nn.functional.cosine_similarity(a, b, dim=0).item()


def word(states, positions):
    return states[list(positions)].mean(0)


@pytest.mark.parametrize("how", ["zero", "mean"])
def test_removal_effects_match_plain_hooks(encoder, how):
    seen = []
    effect = removal_effect(encoder, FIRST, SECOND, how, lambda done, total: seen.append((done, total)))
    assert effect.shape == (6, 12)
    before = cosine(*(word(encoder.encode(text).hidden[-1], at) for text, at in (FIRST, SECOND)))
    for layer, head in [(0, 10), (3, 7), (5, 11)]:
        without = []
        for text, at in (FIRST, SECOND):
            output = encoder.encode(text).own_context(layer)[head]
            patch = Patch(layer, head, None, output.mean(0) if how == "mean" else torch.zeros(encoder.d_head))
            without.append(word(patched_by_hooks(encoder, text, [patch]), at))
        assert effect[layer, head].item() == pytest.approx(cosine(*without) - before, abs=1e-5)
    assert seen[-1][0] == seen[-1][1] and [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert (effect < 0).any() and (effect > 0).any()
