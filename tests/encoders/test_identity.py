"""Test `Encoder.content`, the digest that identifies an encoder."""

import json
import shutil

import pytest

from selfattn import load_encoder
from selfattn.encoders.checkpoint import configuration_digest, file_digests
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.sources import BUNDLED_CONTENT, resolve
from tests.encoders.test_loading import change_config
from tests.encoders.test_pooling import embedder


def configuration(folder):
    return configuration_digest(folder, file_digests(folder))


@pytest.fixture
def sentence_embedder(folder):
    files = {"sentence_bert_config": {"max_seq_length": 16}, "special_tokens_map": {"unk_token": "[UNK]"}}
    return embedder(folder, config_sentence_transformers={"prompts": {}}, **files)


@pytest.mark.slow
def test_copy_of_encoder_folder_has_same_configuration(encoder, tmp_path):
    assert encoder.content == BUNDLED_CONTENT
    copy = shutil.copytree(resolve().folder, tmp_path / "snapshot")
    for file in (".gitattributes", "README.md", "data_config.json"):  # these files don't affect the numbers
        (copy / file).unlink()
    assert configuration(copy) == encoder.configuration
    change_config(copy, hidden_act="relu")
    other = load_encoder(copy)
    assert other.digest == encoder.digest and other.content != encoder.content


def test_configuration_digest_ignores_irrelevant_changes(sentence_embedder):
    before = configuration(sentence_embedder)
    config = json.loads((sentence_embedder / "config.json").read_text())
    config |= {"_name_or_path": "elsewhere", "transformers_version": "4", "dtype": "float16", "torch_dtype": "float16"}
    (sentence_embedder / "config.json").write_text(json.dumps(dict(sorted(config.items(), reverse=True)), indent=4))
    (sentence_embedder / "README.md").write_text("Mine.")
    (sentence_embedder / "trainer_state.json").write_text("{}")
    assert configuration(sentence_embedder) == before


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("config.json", {"hidden_act": "relu"}),
        ("tokenizer.json", {"truncation": None, "version": "2"}),
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("special_tokens_map.json", {"unk_token": "[PAD]"}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
        ("sentence_bert_config.json", {"max_seq_length": 8}),
        ("config_sentence_transformers.json", {"default_prompt_name": "query"}),
    ],
)
def test_digest_changes_with_each_configuration_file(sentence_embedder, file, values):
    before = configuration(sentence_embedder)
    change_config(sentence_embedder, file, **values)
    assert configuration(sentence_embedder) != before


def test_digest_covers_pooling_in_old_layout(tmp_path):
    """Before version 2, sentence-transformers saved the pooling settings in a folder beside the model's folder."""
    around = embedder(tmp_path, first="0_Transformer")
    folder = save_tiny(FAMILIES["BERT"], around / "0_Transformer")
    files, before = file_digests(folder), configuration(folder)
    assert {"../modules.json", "../1_Pooling/config.json", "config.json"} <= {*files}
    change_config(around, "1_Pooling/config.json", pooling_mode_cls_token=True)
    assert configuration(folder) != before


def test_content_digest_ignores_precision(encoder_of, checkpoint):
    assert load_encoder(checkpoint("BERT"), dtype="bfloat16").content == encoder_of("BERT").content
