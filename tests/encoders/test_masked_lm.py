"""Compare predictions for a masked word with those of transformers."""

from functools import cache

import pytest
import torch
from transformers import AutoModelForMaskedLM

from selfattn import TextError, load_encoder
from selfattn.encoders.errors import NotFinite
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.heads_on_top import NoHead
from selfattn.encoders.masked_lm import load_masked_head, replace_word
from tests.encoders.test_families import RECOMPUTED

WITH_HEAD = [name for name in RECOMPUTED if "encoder half" not in name and name != "LUKE"]  # LUKE's head needs entities
TEXT = "The bank of the river was muddy."


@pytest.fixture(scope="module")
def encoder_of(tmp_path_factory):
    @cache
    def encoder(name):
        return load_encoder(str(save_tiny(FAMILIES[name], tmp_path_factory.mktemp("masked"), masked_head=True)))

    return encoder


@pytest.mark.parametrize("name", WITH_HEAD)
@pytest.mark.slow
def test_predictions_equal_those_of_transformers(encoder_of, name):
    encoder = encoder_of(name)
    head = load_masked_head(encoder)
    encoding = encoder.encode(replace_word(encoder.tokenize(TEXT), 1, head.mask_token))
    model = AutoModelForMaskedLM.from_pretrained(encoder.name, attn_implementation="eager").eval()
    with torch.no_grad():
        expected = model(**encoder.inputs([encoding])).logits[0, head.place(encoding)].log_softmax(-1)
    found = head.log_probabilities(encoding.states[-1][head.place(encoding)])
    torch.testing.assert_close(found, expected, atol=2e-4, rtol=1e-4)
    table = head.predictions(encoding, top=3)
    ids = expected.topk(3).indices.tolist()
    assert (table["rank"].tolist(), table["id"].tolist()) == ([1, 2, 3], ids)
    assert table["token"].tolist() == encoder.tokenizer.convert_ids_to_tokens(ids)
    assert table["probability"].tolist() == pytest.approx(expected[ids].exp().tolist(), rel=1e-3)


def test_masked_lm_head_shares_encoder_embeddings(encoder_of):
    encoder = encoder_of("BERT")
    head = load_masked_head(encoder)
    names = {id(parameter) for parameter in encoder.model.parameters()}
    not_shared = sum(parameter.numel() for parameter in head._model.parameters() if id(parameter) not in names)
    assert not_shared < 2_000  # the embeddings alone have 82 x 32 numbers


@pytest.mark.slow
def test_encoder_without_masked_lm_head_is_refused(encoder, tmp_path):
    others = [load_encoder(save_tiny(FAMILIES[name], tmp_path / name)) for name in ("DistilBERT", "T5 (encoder half)")]
    for each in (encoder, *others):
        with pytest.raises(NoHead, match=r"no masked-language head.*bert-base-uncased"):
            load_masked_head(each)


def test_tokeniser_without_mask_token_is_refused(tmp_path):
    encoder = load_encoder(save_tiny(FAMILIES["BERT"], tmp_path, masked_head=True))
    encoder.tokenizer.mask_token_id = None
    with pytest.raises(NoHead, match="masked-language head can't be used: the tokeniser has no mask token"):
        load_masked_head(encoder)


def test_text_needs_exactly_one_mask(encoder_of):
    head = load_masked_head(encoder_of("BERT"))
    for text in (TEXT, "The [MASK] of the [MASK]."):
        with pytest.raises(TextError, match="one \\[MASK\\] in the text, got"):
            head.predictions(head.encoder.encode(text))


def test_nan_prediction_raises_error(encoder_of):
    head = load_masked_head(encoder_of("BERT"))
    states = torch.full((1, head.encoder.d_model), torch.inf)
    with pytest.raises(
        NotFinite, match=r"masked-language head of .* computes NaN or infinity for this text in float32"
    ):
        head.log_probabilities(states)


def test_replace_word_keeps_rest_of_text(encoder):
    tokens = encoder.tokenize("Didn't she, well?")
    assert replace_word(tokens, 0, "Could") == "Could she, well?"
    assert replace_word(tokens, 4, "!") == "Didn't she, well!"
    with pytest.raises(IndexError, match="from 0 to 4, got 5"):
        replace_word(tokens, 5, "x")
    assert replace_word(encoder.tokenize("中国大"), 1, " [MASK] ") == "中 [MASK] 大"
