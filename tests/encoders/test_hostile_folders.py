"""Folders that lie, lead elsewhere or explode: each is refused with one message, and this process goes on."""

import itertools
import json
import os
import pickle
import shutil
import socket

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModel, ByT5Tokenizer

from selfattn import load_encoder
from selfattn.encoders.checkpoint import file_digest
from selfattn.encoders.errors import failing_as
from selfattn.encoders.families import FAMILIES, fill, save_tiny, wordpiece_tokenizer
from tests.encoders.test_loading import Canary, change_config, refused


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return save_tiny(FAMILIES["BERT"], tmp_path_factory.mktemp("template") / "mine")


@pytest.fixture
def folder(template, tmp_path):
    """A good folder, for a test to break."""
    return shutil.copytree(template, tmp_path / "mine")


def change_tokenizer(folder, **parts):
    file = folder / "tokenizer.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **parts}))


# --- what is loaded is what was digested


@pytest.mark.parametrize(
    "values",
    [
        {"transformers_weights": "pytorch_model.safetensors"},
        {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}},
        {"backbone": "resnet50"},
        {"use_timm_backbone": True},
        {"anything": [{"backbone_config": {"model_type": "resnet"}}]},
        {"attn_implementation": "kernels-community/flash-attn"},
        {"anything": {"_attn_implementation_internal": "sdpa"}},
        {"configuration_files": ["config.4.0.0.json"]},
        {"fusion_config": {"a": 1}},
    ],
    ids=lambda values: next(iter(values)),
)
def test_keys_that_lead_away_from_the_folders_own_weights(folder, values):
    change_config(folder, **values)
    refused(folder, "config", "leads to other weights or code")


def test_what_older_versions_wrote_into_configs_still_loads(folder):
    change_config(folder, _attn_implementation_autoset=True, quantization_config=None, rope_theta=10_000_000)
    change_config(folder, label2id={"backbone": 0, "hidden_size": 1}, output_attentions=True, return_dict=False)
    assert load_encoder(str(folder), trusted=True).recomputable


def test_the_single_file_is_digested_where_an_index_stands_beside_it(folder):
    decoy = {name: torch.zeros_like(tensor) for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(decoy, folder / "decoy.safetensors", {"format": "pt"})
    index = {"metadata": {}, "weight_map": dict.fromkeys(decoy, "decoy.safetensors")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    encoder = load_encoder(str(folder), trusted=True)
    assert encoder.model.get_input_embeddings().weight.abs().max() > 0  # transformers takes the single file
    assert encoder.digest == file_digest(folder / "model.safetensors")


def test_an_index_that_names_a_pickle(folder, tmp_path):
    canary = tmp_path / "canary"
    names = list(load_file(folder / "model.safetensors"))
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Canary(canary)))
    index = {"metadata": {}, "weight_map": dict.fromkeys(names, "pytorch_model.bin")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(folder, "weights", "pytorch_model.bin")
    assert not canary.exists()


@pytest.mark.parametrize("weight_map", [None, {}, {"a": ["b"]}, {"a": "../elsewhere.safetensors"}])
def test_an_index_that_makes_no_sense(folder, weight_map):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    refused(folder, "weights")


def test_a_part_of_a_distributed_checkpoint(folder):
    """transformers would read these parts, and not the file that was digested."""
    shutil.copy(folder / "model.safetensors", folder / "shard-00000-model-00001-of-00001.safetensors")
    refused(folder, None, "distributed checkpoint")


def test_weights_that_change_between_digest_and_load(folder, monkeypatch):
    read = AutoModel.from_pretrained

    def changed_in_between(*arguments, **options):
        tensors = load_file(folder / "model.safetensors")
        save_file(
            {name: tensor + 1 for name, tensor in tensors.items()}, folder / "model.safetensors", {"format": "pt"}
        )
        return read(*arguments, **options)

    monkeypatch.setattr(AutoModel, "from_pretrained", changed_in_between)
    refused(folder, "changed", "changed while it was read")


def test_a_file_of_the_same_size_and_time_has_its_own_digest(tmp_path):
    file, times = tmp_path / "file", (10**9, 10**9)
    file.write_bytes(b"one")
    os.utime(file, times)
    first = file_digest(file)
    file.write_bytes(b"two")
    os.utime(file, times)
    assert file_digest(file) != first


# --- what is no text encoder


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("vit", "is no text encoder"),
        ("gpt2", "is a decoder"),
        ("longt5", "is an encoder-decoder"),
        ("dpr", "bert_model.save_pretrained"),
    ],
)
def test_what_is_no_text_encoder_is_refused_by_its_config_alone(folder, family, words):
    change_config(folder, model_type=family)
    refused(folder, "encoder", words, "BERT")


@pytest.mark.parametrize("family", [None, "", 5, ["bert"], "quantum-bert"])
def test_no_known_model_type(folder, family):
    change_config(folder, model_type=family)
    refused(folder, "config")


def test_an_xmod_needs_a_language(tmp_path):
    config = AutoConfig.for_model(
        "xmod", vocab_size=120, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=64, languages=["en_XX", "de_DE"]
    )  # fmt: skip
    model = AutoModel.from_config(config)
    fill(model, seed=0, spread=0.3)
    model.save_pretrained(tmp_path)
    wordpiece_tokenizer().save_pretrained(tmp_path)
    refused(tmp_path, "encoder", '"default_language": "en_XX"')
    change_config(tmp_path, default_language="en_XX")  # the remedy helps
    assert load_encoder(str(tmp_path), trusted=True).family == "xmod"


# --- tokenisers


@pytest.mark.parametrize(
    "settings",
    [
        {"tokenizer_class": "AutoModel"},
        {"tokenizer_class": ["BertTokenizer"]},
        {"fast_tokenizer_files": ["tokenizer.4.0.0.json"]},
        {"gguf_file": "a.gguf"},
    ],
    ids=str,
)
def test_settings_of_a_tokenizer_that_lead_elsewhere(folder, settings):
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))
    refused(folder, "tokenizer")


@pytest.mark.parametrize("length", ["albert", [512], 0, float("nan")], ids=str)
@pytest.mark.slow
def test_a_length_that_is_no_number_of_tokens(folder, length):
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "model_max_length": length}))
    refused(folder, "tokenizer", "model_max_length is")


def test_a_folder_without_a_tokenizer(folder):
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    refused(folder, "tokenizer", "has no tokeniser", "save_pretrained")


def test_a_tokenizer_written_in_python(tmp_path, checkpoint):
    folder = shutil.copytree(checkpoint("T5 (encoder half)"), tmp_path / "mine")
    (folder / "tokenizer.json").unlink()
    ByT5Tokenizer().save_pretrained(folder)
    assert not [path for path in folder.iterdir() if "vocab" in path.name]  # it reads bytes
    refused(folder, "tokenizer", "ByT5Tokenizer) is written in Python")


@pytest.mark.parametrize("signal", [KeyboardInterrupt, type("RerunException", (BaseException,), {})])
def test_what_is_no_failure_goes_through(signal):
    with pytest.raises(signal), failing_as(ValueError):
        raise signal()


# --- files that are none


def make_pipe(path):
    os.mkfifo(path)


def make_socket(path):
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's whole path may have 108 bytes
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(path.name)
    os.chdir(here)


MAKERS = {
    "pipe": make_pipe,
    "socket": make_socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path.name),
    "unreadable": lambda path: path.symlink_to("/proc/self/mem"),
}


READ = ("config.json", "tokenizer.json", "model.safetensors")


@pytest.mark.parametrize(("file", "kind"), [*itertools.product(READ, MAKERS), ("vocab.txt", "pipe")])
def test_what_is_no_plain_file(folder, file, kind):
    (folder / file).unlink(missing_ok=True)
    MAKERS[kind](folder / file)
    error = refused(folder)
    assert str(error).count("\n") == 0
    if kind != "unreadable":
        assert error.kind == "file"
        assert f"mine/{file}" in str(error)


def test_a_link_that_leads_in_a_circle_in_an_operators_folder(folder, monkeypatch):
    (folder / "below").mkdir()
    (folder / "below" / "a").symlink_to("b")
    (folder / "below" / "b").symlink_to("a")
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(folder.parent))
    assert refused("mine").kind in ("file", "link")


def test_a_link_to_nothing_is_no_reason_to_refuse(folder):
    (folder / "pytorch_model.bin").symlink_to("/nowhere/at/all")  # as in a cache that holds a model in part
    assert load_encoder(str(folder), trusted=True).family == "bert"


# --- code that comes with a model


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_that_comes_with_a_known_family_is_not_run(folder, tmp_path, file):
    """Nomic, GTE, Jina v3 and EuroBERT carry auto_map on the Hub, and transformers has them: loaded without it."""
    canary = tmp_path / "canary"
    (folder / "theirs.py").write_text(f"open({str(canary)!r}, 'w')\n")
    settings = json.loads((folder / file).read_text())
    auto_map = {"AutoModel": "theirs.Model", "AutoConfig": "theirs.Config", "AutoTokenizer": ["theirs.T", None]}
    (folder / file).write_text(json.dumps({**settings, "auto_map": auto_map}))
    encoder = load_encoder(str(folder), trusted=True)
    assert (encoder.family, encoder.recomputable) == ("bert", True)
    assert type(encoder.model).__module__.startswith("transformers.")
    assert not canary.exists()


def test_code_that_comes_with_an_unknown_family_is_refused(folder, tmp_path):
    canary = tmp_path / "canary"
    (folder / "theirs.py").write_text(f"open({str(canary)!r}, 'w')\n")
    change_config(folder, model_type="theirs", auto_map={"AutoModel": "theirs.Model", "AutoConfig": "theirs.Config"})
    refused(folder, "code", "never runs code")
    assert not canary.exists()
