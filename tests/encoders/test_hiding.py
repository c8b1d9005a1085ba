"""Test that hiding a token equals setting its scores to minus infinity in transformers' own code."""

from collections.abc import Callable
from functools import partialmethod

import pytest
import torch
from torch.nn import functional
from transformers import AutoModel, AutoModelForTextEncoding

from selfattn import Head, Hide, NotRecomputable, Patch, TextError, load_encoder
from selfattn.encoders.capture import Recorder
from tests.encoders.test_families import RECOMPUTED

TEXT = "She sat by the water of the river and waited for the banker."
ONE_MASK = ["XLM"]  # one mask for all heads


@pytest.fixture
def plain(checkpoint) -> Callable:
    """Return a function that runs plain transformers with some tokens hidden."""

    def states(name: str, inputs: dict, hides: list[Hide]) -> tuple[torch.Tensor, torch.Tensor]:
        kind = AutoModelForTextEncoding if "T5" in name else AutoModel
        model = kind.from_pretrained(checkpoint(name), attn_implementation="eager").eval()
        maps, softmax = [], torch.Tensor.softmax

        def hiding(scores, *args, **options):
            layer, scores = len(maps), scores.clone()
            for hide in hides:
                for head in range(scores.shape[1]):
                    if hide.heads is None or (layer, head) in hide.heads:
                        for query in hide.queries:
                            scores[:, head, query, list(hide.keys)] = -torch.inf
            maps.append(softmax(scores, -1))
            return maps[-1]

        with pytest.MonkeyPatch.context() as patch, torch.no_grad():
            for owner, attribute in ((functional, "softmax"), (torch, "softmax"), (torch.Tensor, "softmax")):
                patch.setattr(owner, attribute, hiding)
            output = model(**inputs, output_hidden_states=True)
        return torch.stack([*output.hidden_states[:-1], output.last_hidden_state])[:, 0], torch.cat(maps)

    return states


def some_hides(encoder) -> list[Hide]:
    some = [] if encoder.one_head_reason else [Hide((4,), (6, 7), [Head(0, 1), Head(1, 0)]), Hide((5,), (1,), [(1, 1)])]
    return [Hide((2, 3), (5, 8)), *some]


@pytest.mark.parametrize("name", RECOMPUTED)
@pytest.mark.slow
def test_hiding_has_effect_of_minus_infinity_scores(encoder_of, plain, name):
    encoder = encoder_of(name)
    hides = some_hides(encoder)
    encoding, reference = encoder.encode(TEXT, hidden=hides), encoder.reference_weights(TEXT, hidden=hides)
    states, expected = plain(name, encoder.inputs([encoding]), hides)
    near = {"atol": 1e-5 * max(1.0, float(states.abs().max())), "rtol": 0}
    torch.testing.assert_close(encoding.hidden, states, **near)
    assert float((encoding.hidden - encoder.encode(TEXT).hidden).abs().max()) > 1e-3  # hiding has an effect
    batched, unchanged = encoder.encode_batch([TEXT, f"{TEXT} It was muddy."], hidden=[hides, ()])
    torch.testing.assert_close(batched.hidden, states, **near)
    assert batched.hides == tuple(hides) and unchanged.hides == ()
    for layer in range(encoder.n_layers):
        edges = {edge for hide in hides for edge in hide.edges(layer, encoder.n_heads)}
        weights, own, context = encoding.weights(layer), encoding.own_weights(layer), encoding.own_context(layer)
        for head in range(encoder.n_heads):
            trace = encoding.trace(layer, head)
            for _, query, key in (edge for edge in edges if edge[0] == head):
                assert trace.masked[query, key] == -torch.inf and trace.weights[query, key] == 0
                assert trace.scaled[query, key].isfinite()
            torch.testing.assert_close(trace.context, context[head], atol=1e-5, rtol=1e-5)
        for other in (own, reference[layer], expected[layer]):
            torch.testing.assert_close(weights, other, atol=1e-5, rtol=0)
    rows = torch.stack([encoding.weights(at)[:, 2] for at in range(encoder.n_layers)])
    torch.testing.assert_close(encoding.rows(2), rows, atol=1e-6, rtol=0)
    assert encoder.hide_reason == "" and bool(encoder.one_head_reason) == (name in ONE_MASK)
    if encoder.one_head_reason:
        with pytest.raises(
            NotRecomputable, match=r"in single heads of .*: its attention modules accept only one mask for all heads"
        ):
            encoder.encode(TEXT, hidden=[Hide((2,), (4,), [Head(0, 0)])])


def test_hide_in_one_head_changes_one_attention_row(encoder):
    plain, hidden = encoder.encode(TEXT), encoder.encode(TEXT, hidden=[Hide((5,), (3,), [Head(1, 4)])])
    before, after = plain.weights(1), hidden.weights(1)
    changed = (before != after).any(-1)
    assert changed.nonzero().tolist() == [[4, 5]]
    others = torch.arange(before.shape[-1]) != 3
    torch.testing.assert_close(after[4, 5, others], before[4, 5, others] / (1 - before[4, 5, 3]), atol=1e-6, rtol=0)


def test_hide_gives_same_vectors_as_encode(encoder):
    text = "The river bank, the snow bank and the bank."
    words = ["river", 7, (6, 7)]
    vectors = encoder.hide(text, 3, words)
    for vector, keys in zip(vectors, [(2,), (7,), (6, 7)], strict=True):
        alone = encoder.encode(text, hidden=[Hide((3,), keys)])
        torch.testing.assert_close(vector, alone.vector(encoder.n_layers, (3,)), atol=1e-5, rtol=0)
    heads = [[Head(0, 10)], None, encoder.all_heads]
    some = encoder.hide(text, (3,), words, heads=heads)
    torch.testing.assert_close(some[1:], vectors[1:], atol=1e-5, rtol=0)
    alone = encoder.encode(text, hidden=[Hide((3,), (2,), heads[0])]).vector(encoder.n_layers, (3,))
    torch.testing.assert_close(some[0], alone, atol=1e-5, rtol=0)
    assert encoder.hide(text, 3, []).shape == (0, encoder.d_model)


def test_word_of_second_text_can_be_hidden(encoder):
    seen = []
    vectors = encoder.hide(
        "The bank.", "bank", ["river"], pair="A river.", progress=lambda done, of: seen.append((done, of))
    )
    tokens = encoder.tokenize("The bank.", "A river.")
    river = tokens.places("river")[0].positions
    hidden = encoder.encode("The bank.", "A river.", hidden=[Hide((2,), river)])
    torch.testing.assert_close(vectors[0], hidden.hidden[-1, 2], atol=1e-5, rtol=0)
    assert seen == [(1, 1)]


def test_patches_and_hidden_tokens_can_be_combined(encoder):
    patch, hide = Patch(4, 2, (5,), torch.ones(encoder.d_head)), Hide((5,), (8,))
    both = encoder.encode(TEXT, patches=[patch], hidden=[hide])
    assert both.patches == (patch,) and both.hides == (hide,)
    torch.testing.assert_close(both.own_context(4)[2, 5], torch.ones(encoder.d_head))
    assert both.trace(4, 2).weights[5, 8] == 0
    for other in (encoder.encode(TEXT, patches=[patch]), encoder.encode(TEXT, hidden=[hide])):
        assert float((both.hidden[-1] - other.hidden[-1]).abs().max()) > 1e-3


@pytest.mark.parametrize(
    ("hides", "message"),
    [
        ([Hide((2, 3), (3,))], "can't be hidden from itself.* at 3"),
        ([Hide((2,), (40,))], "positions from 0 to 15.*40"),
        ([Hide((40,), (2,))], "positions from 0 to 15.*40"),
        ([Hide((-1,), (2,))], "positions from 0"),
        ([Hide((), (2,))], "positions from 0"),
        ([Hide((2,), ())], "positions from 0"),
        ([Hide((2,), (5,), [Head(6, 0)])], "L0 H0 to L5 H11, got L6 H0"),
    ],
)
def test_invalid_hide_is_refused(encoder, hides, message):
    for refused in (
        lambda: encoder.encode(TEXT, hidden=hides),
        lambda: encoder.encode_batch([TEXT], hidden=[hides]),
        lambda: encoder.reference_weights(TEXT, hidden=hides),
        lambda: encoder.changed_vectors((TEXT, 4), hidden=[hides]),
    ):
        with pytest.raises(ValueError, match=message):
            refused()


def test_hide_refuses_wrong_arguments(encoder):
    with pytest.raises(ValueError, match="positions from 0 to 15"):  # padding can't be a query
        encoder.encode(TEXT, pad_to=20, hidden=[Hide((18,), (2,))])
    with pytest.raises(ValueError, match="Expected 2 items in heads, one for each word, got 1"):
        encoder.hide(TEXT, 4, [5, 6], heads=[None])
    with pytest.raises(ValueError, match="can't be hidden from itself"):
        encoder.hide(TEXT, 4, [4])
    with pytest.raises(TextError, match="'the' occurs 3 times"):
        encoder.hide(TEXT, 4, ["the"])
    with pytest.raises(TextError, match=r"'stream' occurs 0 times\. Spell it as in the text"):
        encoder.hide(TEXT, 4, ["stream"])
    with pytest.raises(ValueError, match="Expected 2 collections of hidden tokens, one for each text, got 1"):
        encoder.encode_batch([TEXT, TEXT], hidden=[()])


def test_bundled_encoder_hides_tokens(encoder):
    """For the bundled encoder, loading doesn't check that hiding works."""
    hides = [Hide((5,), (8,)), Hide((2,), (4,), [Head(layer, layer) for layer in range(6)])]
    encoding, reference = encoder.encode(TEXT, hidden=hides), encoder.reference_weights(TEXT, hidden=hides)
    weights = torch.stack([encoding.weights(layer) for layer in range(6)])
    assert weights[:, :, 5, 8].abs().max() == 0 and all(weights[at, at, 2, 4] == 0 for at in range(6))
    torch.testing.assert_close(weights, reference, atol=2e-6, rtol=0)
    assert encoder.hide_reason == encoder.one_head_reason == ""


def test_hide_accepts_single_head_or_position(encoder):
    wanted = encoder.encode(TEXT, hidden=[Hide((5,), (8,), [Head(0, 3)])])
    given = encoder.encode(TEXT, hidden=(each for each in [Hide(5, 8, Head(0, 3))]))
    assert torch.equal(given.hidden, wanted.hidden)
    with pytest.raises(ValueError, match="heads is empty"):
        encoder.encode(TEXT, hidden=[Hide((5,), (8,), [])])
    with pytest.raises(TypeError, match="Expected a list of words to hide"):
        encoder.hide(TEXT, 4, "river")


# Broken versions of Recorder.hide. Each is named after where it hides tokens.
def nowhere(hide, recorder, mask, *given):
    return mask


def in_some_heads_alone(hide, recorder, mask, *given):
    hidden = hide(recorder, mask, *given)
    return mask if recorder._hidden and hidden.dim() == 4 and hidden.shape[1] == 1 else hidden


def in_the_fast_pass_alone(hide, recorder, mask, *given):
    return hide(recorder, mask, *given) if recorder.keep else mask


@pytest.mark.parametrize(
    ("name", "broken", "reason"),
    [
        ("BERT", nowhere, "a hidden token still has the weight"),
        ("MPNet", nowhere, "a hidden token still has the weight"),
        ("BERT", in_some_heads_alone, "a hidden token still has the weight"),
        ("MPNet", in_some_heads_alone, "a hidden token still has the weight"),
        ("BERT", in_the_fast_pass_alone, "the recomputed weights differ"),
    ],
)
def test_loading_reports_why_tokens_cannot_be_hidden(checkpoint, monkeypatch, name, broken, reason):
    monkeypatch.setattr(
        Recorder, "hide", partialmethod(lambda own, hide, *given: broken(hide, own, *given), Recorder.hide)
    )
    encoder = load_encoder(str(checkpoint(name)))
    assert encoder.recomputable and reason in encoder.hide_reason
    with pytest.raises(NotRecomputable, match=reason):
        encoder.hide(TEXT, 4, [5])
