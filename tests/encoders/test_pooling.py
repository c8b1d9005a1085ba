"""How a folder says that its encoder makes one vector of a sentence: the published files, each variant, what isn't done."""

import json
import os
import shutil

import pytest

from selfattn import LoadError, TextError, load_encoder
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.pooling import NoPooling, Pooling, load_pooling, read_pooling

STEPS = ("Transformer", "Pooling", "Normalize")


def embedder(folder, steps=STEPS, pooling=None, pooled_in="1_Pooling", first="", **files):
    """Write what sentence-transformers writes beside a model."""
    places = dict(zip(STEPS, (first, pooled_in, "2_Normalize")))
    kind = "sentence_transformers.models"
    modules = [{"path": places.get(step, f"{i}_{step}"), "type": f"{kind}.{step}"} for i, step in enumerate(steps)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling or {"pooling_mode_mean_tokens": True}))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_the_bundled_encoders_own_files(encoder):
    pooling = load_pooling(encoder)
    assert pooling == Pooling("mean", 256)
    tokens = encoder.tokenize("The bank of the river.")
    assert pooling.positions(tokens) == tuple(range(len(tokens.ids)))
    with pytest.raises(TextError, match=r"has 302 tokens.* reads 256: the rest would be cut off\. Shorten it by 46"):
        pooling.positions(encoder.tokenize("bank " * 300))


def test_pooling_files_that_change_after_the_load(tmp_path):
    encoder = load_encoder(embedder(save_tiny(FAMILIES["BERT"], tmp_path / "mine")))
    assert load_pooling(encoder) == Pooling("mean", None)
    (tmp_path / "mine/1_Pooling/config.json").write_text('{"pooling_mode": "cls"}')
    with pytest.raises(NoPooling, match=r"mine changed since it was loaded \(1_Pooling/config.json\)"):
        load_pooling(encoder)


@pytest.mark.parametrize(
    ("said", "mode", "positions"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean", (0, 1, 2, 3)),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls", (0,)),
        ({"pooling_mode_lasttoken": True}, "lasttoken", (3,)),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, "mean_sqrt_len_tokens", (0, 1, 2, 3)),
        # As sentence-transformers 5.4 and later say it.
        ({"pooling_mode": "cls", "embedding_dimension": 32}, "cls", (0,)),
        ({"pooling_mode": ["mean"]}, "mean", (0, 1, 2, 3)),
    ],
)
def test_each_way_of_pooling(encoder, tmp_path, said, mode, positions):
    pooling = read_pooling(embedder(tmp_path, pooling=said))
    assert pooling == Pooling(mode, None)
    assert pooling.positions(encoder.tokenize("Two words")) == positions


REFUSED = [
    (dict(steps=("Transformer", "Pooling", "Dense")), "by Transformer, Pooling, Dense; expected"),
    (dict(steps=("Transformer",)), "by Transformer; expected"),
    (dict(pooling={"pooling_mode_max_tokens": True}), "pools tokens by max; expected one of cls"),
    (dict(pooling={"pooling_mode": ["cls", "mean"]}), "by cls and mean; expected"),
    (dict(pooling={"pooling_mode_mean_tokens": False}), "by nothing; expected"),
    (dict(sentence_bert_config={"do_lower_case": True}), "lower case before its tokeniser"),
    (dict(config_sentence_transformers={"default_prompt_name": "query"}), "a prompt .'query'. before each text"),
    (dict(pooled_in="../elsewhere"), "expected '.' and a folder such as '1_Pooling'"),
    (dict(first="0_Transformer"), "has its steps in '0_Transformer'"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_done_here_is_named(tmp_path, changes, message):
    with pytest.raises(NoPooling, match=message):
        read_pooling(embedder(tmp_path, **changes))


def test_settings_that_change_nothing_are_no_reason(tmp_path):
    folder = embedder(
        tmp_path,
        steps=STEPS[:2],
        sentence_bert_config={"do_lower_case": False, "max_seq_length": 128},
        config_sentence_transformers={"prompts": {"query": "query: "}, "default_prompt_name": None},
    )
    assert read_pooling(folder) == Pooling("mean", 128)


def test_a_folder_without_these_files_says_so(encoder_of):
    with pytest.raises(NoPooling, match=r"bert has no modules\.json: it doesn't say how"):
        load_pooling(encoder_of("BERT"))


@pytest.mark.parametrize("content", [b"{", b'"x"', b'], "a": [', b"[" * 100_000])
def test_broken_files(tmp_path, content):
    embedder(tmp_path)
    (tmp_path / "modules.json").write_bytes(content)
    with pytest.raises(LoadError, match=r"modules\.json can't be read"):
        read_pooling(tmp_path)
    embedder(tmp_path)
    (tmp_path / "1_Pooling" / "config.json").unlink()
    os.mkfifo(tmp_path / "1_Pooling" / "config.json")
    with pytest.raises(LoadError, match="a pipe"):
        read_pooling(tmp_path)


def test_a_folder_that_has_gone_or_is_broken_is_said(checkpoint, tmp_path):
    folder = embedder(shutil.copytree(checkpoint("BERT"), tmp_path / "gone"))
    encoder = load_encoder(str(folder))
    assert load_pooling(encoder) == Pooling("mean", None)
    shutil.rmtree(folder)
    with pytest.raises(NoPooling, match="can't be read as a sentence embedder"):
        load_pooling(encoder)
