"""Test reading a sentence embedder's pooling from its files."""

import json
import os
import shutil

import pytest

from selfattn import LoadError, TextError, load_encoder
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.pooling import NoPooling, Pooling, load_pooling, read_pooling

STEPS = ("Transformer", "Pooling", "Normalize")


def embedder(
    folder, steps=STEPS, pooling=None, pooled_in="1_Pooling", first="", kind="sentence_transformers.models", **files
):
    places = dict(zip(STEPS, (first, pooled_in, "2_Normalize")))
    modules = [{"path": places.get(step, f"{i}_{step}"), "type": f"{kind}.{step}"} for i, step in enumerate(steps)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling or {"pooling_mode_mean_tokens": True}))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_bundled_encoder_uses_mean_pooling(encoder):
    pooling = load_pooling(encoder)
    assert pooling == Pooling("mean", 256)
    tokens = encoder.tokenize("The bank of the river.")
    assert pooling.positions(tokens) == tuple(range(len(tokens.ids)))
    with pytest.raises(TextError, match=r"has 302 tokens.* reads at most 256\. Shorten the text by 46"):
        pooling.positions(encoder.tokenize("bank " * 300))


def test_pooling_file_changed_since_loading_is_refused(tmp_path):
    encoder = load_encoder(embedder(save_tiny(FAMILIES["BERT"], tmp_path / "mine")))
    assert load_pooling(encoder) == Pooling("mean", None)
    (tmp_path / "mine/1_Pooling/config.json").write_text('{"pooling_mode": "cls"}')
    with pytest.raises(NoPooling, match=r"mine changed after loading \(1_Pooling/config.json\)"):
        load_pooling(encoder)


@pytest.mark.parametrize(
    ("settings", "mode", "positions"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean", (0, 1, 2, 3)),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls", (0,)),
        ({"pooling_mode_lasttoken": True}, "lasttoken", (3,)),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, "mean_sqrt_len_tokens", (0, 1, 2, 3)),
        # Keys of sentence-transformers 5.4 and later.
        ({"pooling_mode": "cls", "embedding_dimension": 32}, "cls", (0,)),
        ({"pooling_mode": ["mean"]}, "mean", (0, 1, 2, 3)),
    ],
)
def test_supported_pooling_modes_are_read(encoder, tmp_path, settings, mode, positions):
    pooling = read_pooling(embedder(tmp_path, pooling=settings))
    assert pooling == Pooling(mode, None)
    assert pooling.positions(encoder.tokenize("Two words")) == positions


ST = "sentence_transformers.models"
TEXT_ONLY = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}


def asking(key, value):
    return dict(
        sentence_bert_config={key: value}
    ), f"sets {key} = .* in sentence_bert_config.json .*, a setting that selfattn doesn't support"


REFUSED = [
    (
        dict(steps=("Transformer", "Pooling", "Dense")),
        f"the steps Transformer, Pooling, {ST}.Dense in modules.json. Expected",
    ),
    (dict(steps=("Transformer",)), "the steps Transformer in modules.json. Expected"),
    (dict(kind="my_package"), "the steps my_package.Transformer, my_package.Pooling, my_package.Normalize in"),
    (dict(kind="sentence_transformers.other"), r"the steps sentence_transformers\.other\.Transformer"),
    (dict(pooling={"pooling_mode_max_tokens": True}), "has the pooling mode max. Expected one of cls"),
    (dict(pooling={"pooling_mode": ["cls", "mean"]}), "mode cls and mean. Expected"),
    (dict(pooling={"pooling_mode_mean_tokens": False}), "mode none. Expected"),
    (dict(pooling={"pooling_mode": 5, "pooling_mode_mean_tokens": True}), "mode 5. Expected"),
    (dict(pooling={"pooling_mode": "", "pooling_mode_mean_tokens": True}), "mode none. Expected"),
    (dict(pooling={"pooling_mode": [{}]}), "mode {}. Expected"),
    (dict(pooling={"pooling_mode": "mean", "pooling_mode_median": True}), "sets pooling_mode_median = 'True'"),
    asking("tokenizer_args", {"do_lower_case": True, "model_max_length": 8}),
    asking("model_args", {"num_hidden_layers": 1}),
    asking("transformer_task", "fill-mask"),
    asking("modality_config", TEXT_ONLY | {"text": {"method": "forward", "method_output_name": "pooler_output"}}),
    asking("processing_kwargs", {"text": {"add_special_tokens": False}}),
    (dict(sentence_bert_config={"max_seq_length": "8"}), "has max_seq_length = '8'. Expected"),
    (dict(sentence_bert_config={"max_seq_length": 0}), "has max_seq_length = '0'"),
    (
        {"sentence_xlm-roberta_config": {"do_lower_case": True}},
        "sets do_lower_case = .* in sentence_xlm-roberta_config.json",
    ),
    (dict(config_sentence_transformers={"similarity_fn_name": "euclidean"}), "sets similarity_fn_name = 'euclidean'"),
    (dict(steps=STEPS[:2], config_sentence_transformers={"similarity_fn_name": "dot"}), "similarity_fn_name = 'dot'"),
    (
        dict(pooled_in="../elsewhere"),
        "the folders '.', '../elsewhere', '2_Normalize' in modules.json. Expected '.' and folders",
    ),
    (dict(first="0_Transformer"), "has the folders '0_Transformer'"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=range(len(REFUSED)))
def test_error_names_unsupported_setting(tmp_path, changes, message):
    with pytest.raises(NoPooling, match=message):
        read_pooling(embedder(tmp_path, **changes))


def test_normalising_each_token_is_refused(tmp_path):
    (embedder(tmp_path) / "2_Normalize").mkdir()
    (tmp_path / "2_Normalize" / "config.json").write_text('{"module_input_name": "token_embeddings"}')
    with pytest.raises(NoPooling, match="sets module_input_name = 'token_embeddings'"):
        read_pooling(tmp_path)


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"do_lower_case": False, "max_seq_length": 128}, 128),
        ({"max_seq_length": None, "tokenizer_args": {}, "model_args": {"trust_remote_code": True}}, None),
        ({"max_seq_length": 128, "tokenizer_args": {"model_max_length": 16}}, 16),
        ({"transformer_task": "feature-extraction", "modality_config": TEXT_ONLY, "unpad_inputs": True}, None),
    ],
)
def test_harmless_settings_are_accepted(tmp_path, settings, most):
    general = {"prompts": {"query": "query: "}, "default_prompt_name": None, "similarity_fn_name": "dot"}
    folder = embedder(tmp_path, sentence_bert_config=settings, config_sentence_transformers=general)
    assert read_pooling(folder) == Pooling("mean", most)


def test_folder_without_modules_json_is_refused(encoder_of):
    with pytest.raises(NoPooling, match=r"bert is not a sentence embedder: its folder has no modules\.json"):
        load_pooling(encoder_of("BERT"))


@pytest.mark.parametrize("content", [b"{", b'"x"', b'], "a": [', b"[" * 100_000])
def test_broken_pooling_files_are_refused(tmp_path, content):
    embedder(tmp_path)
    (tmp_path / "modules.json").write_bytes(content)
    with pytest.raises(LoadError, match=r"modules\.json can't be read"):
        read_pooling(tmp_path)
    embedder(tmp_path)
    (tmp_path / "1_Pooling" / "config.json").unlink()
    os.mkfifo(tmp_path / "1_Pooling" / "config.json")
    with pytest.raises(LoadError, match="a pipe"):
        read_pooling(tmp_path)


def test_deleted_folder_is_refused(checkpoint, tmp_path):
    folder = embedder(shutil.copytree(checkpoint("BERT"), tmp_path / "gone"))
    encoder = load_encoder(str(folder))
    assert load_pooling(encoder) == Pooling("mean", None)
    shutil.rmtree(folder)
    with pytest.raises(NoPooling, match="can't be used as a sentence embedder"):
        load_pooling(encoder)
