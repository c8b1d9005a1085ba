"""Test the methods that rank words by their influence on a target word."""

import pytest
import torch
from transformers import AutoModel, AutoModelForTextEncoding

from selfattn import load_encoder
from selfattn.encoders.errors import NotFinite
from selfattn.encoders.projections import project
from selfattn.senses.word_rankings import WordRankings
from tests.encoders.test_families import RECOMPUTED
from tests.senses import plain_hiding

TEXT = "She sat by the riverbank of the river and the well-known bank, in the rain."
# These families compute a norm or the softmax in float32 even in a float64 model, so finite differences are rough.
SINGLE = ["ModernBERT", "EuroBERT", "T5 (encoder half)", "mT5 (encoder half)"]
# plain_hiding.py needs transformers' AttentionInterface, which these families don't use.
HOOKED = ["DeBERTa", "DeBERTa-v2", "DeBERTa-v3", "MPNet", "RoFormer", "RemBERT", "MegatronBERT", "XLM", "LUKE"]


def ranked(encoder):
    """Return (word, groups, unit, moves) for the word "riverbank".

    groups: the token positions of each of the m other words. unit: the unit vector of "riverbank".
    moves: for each ranking method, the change of `unit` if one of the m words loses its influence, (m, d_model).
    """
    encoding = encoder.encode(TEXT)
    word = encoding.places("riverbank")[0]
    groups = [other.positions for other in encoding.words if other.positions != word.positions]
    unit = torch.nn.functional.normalize(encoding.vector(encoder.n_layers, word.positions).double(), dim=0)
    rankings = WordRankings(encoder)
    moves = rankings.along(word, unit, groups, torch.eye(encoder.d_model, dtype=torch.float64))
    assert not rankings.reasons
    return word, groups, unit, {way: each.T for way, each in moves.items()}


def plainly(model, inputs, word, group=()):
    """Zero the word's attention weights on the positions `group`, and return the word's unit vector after the last layer."""
    softmax = torch.Tensor.softmax

    def zeroing(scores, *args, **options):
        weights = softmax(scores, -1).clone()
        for position in word.positions:
            weights[..., position, list(group)] = 0
        return weights

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        for owner in (torch.nn.functional, torch, torch.Tensor):
            patch.setattr(owner, "softmax", zeroing)
        last = model(**inputs).last_hidden_state[0, list(word.positions)]
    return torch.nn.functional.normalize(last.mean(dim=0).double(), dim=0)


@pytest.mark.parametrize("name", RECOMPUTED)
@pytest.mark.slow
def test_value_zeroing_matches_transformers(encoder_of, checkpoint, name):
    encoder = encoder_of(name)
    word, groups, unit, moves = ranked(encoder)
    inputs, kind = encoder.inputs([word.sentence]), AutoModelForTextEncoding if "T5" in name else AutoModel
    model = kind.from_pretrained(checkpoint(name), attn_implementation="eager").eval()
    for at in (4, len(groups) - 4):  # the second word has several tokens
        zeroed = plainly(model, inputs, word, groups[at])
        torch.testing.assert_close(moves["value zeroing"][at], zeroed - unit, atol=1e-5, rtol=0)
        ids = inputs["input_ids"].clone()
        ids[:, list(groups[at])] = encoder.tokenizer.mask_token_id
        blanked = plainly(model, inputs | {"input_ids": ids}, word)
        torch.testing.assert_close(moves[encoder.tokenizer.mask_token][at], blanked - unit, atol=1e-5, rtol=0)
        assert (zeroed - unit).norm() > 1e-3 and (blanked - unit).norm() > 1e-3


@pytest.mark.parametrize("name", [name for name in RECOMPUTED if name not in HOOKED])
@pytest.mark.slow
def test_gradient_equals_finite_differences(encoder_of, checkpoint, name):
    encoder = encoder_of(name)
    *_, moves = ranked(encoder)
    row = plain_hiding.placed(encoder, TEXT, "riverbank")
    with torch.no_grad():
        expected = plain_hiding.first_order(plain_hiding.load(checkpoint(name)), row, row.others, step=1e-3)
    near = 3e-4 if name in SINGLE else 1e-6
    torch.testing.assert_close(moves["gradient"], torch.from_numpy(expected), atol=near, rtol=0)


@pytest.mark.parametrize("name", ["BERT", "ModernBERT", "MobileBERT", "MPNet", "T5 (encoder half)"])
def test_ranking_by_weights_x_v_uses_output_matrix(encoder_of, name):
    encoder = encoder_of(name)
    encoding = encoder.encode(TEXT)
    word, group = encoding.places("riverbank")[0], encoding.places("well-known")[0].positions
    total = 0
    for layer in range(encoder.n_layers):
        handed = 0
        for head in range(encoder.n_heads):
            trace, projected = encoding.trace(layer, head), project(encoder, encoding, layer, head)
            weights = trace.weights[list(word.positions)].mean(dim=0)[list(group)]
            handed = handed + projected.output(weights[None] @ trace.value[list(group)])
        total += float(handed.norm())
    assert float(WordRankings(encoder).by_attention(word, [group])["weights x V"]) == pytest.approx(total, rel=1e-5)


def test_nan_does_not_disable_ranking_method(overflowing):
    """After NaN in one sentence, a report rejects that sentence's row, but keeps the ranking method."""
    encoder = load_encoder(str(overflowing))
    word = encoder.locate("The bank had a loan.", "bank")[0]
    nothing = torch.zeros(1, encoder.d_model, dtype=torch.float64)
    for asked in ("gradient", "value zeroing", encoder.tokenizer.mask_token):
        others = {way: "" for way in ("gradient", "value zeroing", encoder.tokenizer.mask_token) if way != asked}
        rankings = WordRankings(encoder, dict(others))
        with pytest.raises(NotFinite):
            rankings.along(word, nothing[0], [(1,)], nothing)
        assert rankings.reasons == others
