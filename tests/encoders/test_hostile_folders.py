"""Broken or hostile encoder folders are refused with a message."""

import base64
import itertools
import json
import os
import pickle
import re
import shutil
import socket
import sys
import threading

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModel, ByT5Tokenizer

from selfattn import load_encoder
from selfattn.encoders import checkpoint, tokenizer
from selfattn.encoders.checkpoint import file_digest
from selfattn.encoders.errors import failing_as
from selfattn.encoders.families import FAMILIES, fill, save_tiny, wordpiece_tokenizer
from selfattn.encoders.heads_on_top import NoHead
from selfattn.encoders.masked_lm import load_masked_head
from tests.encoders.test_loading import Canary, change_config, change_weights, refused

AWAY = ("which can load weights or code from elsewhere",)
CONFIGS = [
    ({"transformers_weights": "pytorch_model.safetensors"}, *AWAY),
    ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}}, *AWAY),
    ({"backbone": "resnet50"}, *AWAY),
    ({"use_timm_backbone": True}, *AWAY),
    ({"anything": [{"backbone_config": {"model_type": "resnet"}}]}, *AWAY),
    ({"attn_implementation": "kernels-community/flash-attn"}, *AWAY),
    ({"anything": {"_attn_implementation_internal": "sdpa"}}, *AWAY),
    ({"configuration_files": ["config.4.0.0.json"]}, *AWAY),
    ({"fusion_config": {"a": 1}}, *AWAY),
    ({"model_type": "vit"}, "is not a text encoder", "BERT"),
    ({"model_type": "gpt2"}, "is a decoder", "BERT"),
    ({"model_type": "longt5"}, "is an encoder-decoder", "BERT"),
    ({"model_type": "dpr"}, "bert_model.save_pretrained", "BERT"),
    *(({"model_type": family}, "has no model_type") for family in (None, "", 5, ["bert"])),
    ({"model_type": "quantum-bert"}, "the installed transformers doesn't know"),
    ({"hidden_size": 64}, "their shapes don't match"),
    ({"hidden_size": -1},),
    ({"num_attention_heads": 5},),
    ({"hidden_act": "no such thing"},),
    ({"layer_norm_eps": float("nan")},),
    ({"num_hidden_layers": [3, 300]},),
    ({"a": {"__float__": "NaN"}},),
]


@pytest.mark.parametrize("case", CONFIGS, ids=lambda case: str(case[0]))
def test_hostile_config_is_refused(folder, case):
    values, *error = case
    change_config(folder, **values)
    assert len(str(refused(folder, *error))) < 500


TOKENIZERS = [
    {"tokenizer_class": "AutoModel"},
    {"tokenizer_class": ["BertTokenizer"]},
    {"fast_tokenizer_files": ["tokenizer.4.0.0.json"]},
    {"gguf_file": "a.gguf"},
    *({"model_max_length": length} for length in ("albert", [512], 0, float("nan"))),
]


@pytest.mark.parametrize("settings", TOKENIZERS, ids=str)
def test_hostile_tokenizer_config_is_refused(folder, settings):
    change_config(folder, "tokenizer_config.json", **settings)
    refused(folder, "model_max_length in" if "model_max_length" in settings else "")


def test_old_config_keys_are_accepted(folder):
    change_config(folder, _attn_implementation_autoset=True, quantization_config=None, rope_theta=10_000_000)
    change_config(folder, label2id={"backbone": 0, "hidden_size": 1}, output_attentions=True, return_dict=False)
    assert load_encoder(str(folder)).recomputable


def test_single_weights_file_is_preferred_to_index(folder):
    decoy = {name: torch.zeros_like(tensor) for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(decoy, folder / "decoy.safetensors", {"format": "pt"})
    index = {"metadata": {}, "weight_map": dict.fromkeys(decoy, "decoy.safetensors")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    encoder = load_encoder(str(folder))
    assert encoder.model.get_input_embeddings().weight.abs().max() > 0  # transformers reads the single file
    assert encoder.digest == file_digest(folder / "model.safetensors")


@pytest.mark.parametrize("named", [None, {}, {"a": ["b"]}, {"a": "../a.safetensors"}, {"a": "pytorch_model.bin"}])
def test_invalid_weights_index_is_refused(folder, tmp_path, named):
    canary = tmp_path / "canary"
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Canary(canary)))
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": named}))
    refused(folder, "Download the model again")
    assert not canary.exists()


def test_distributed_checkpoint_is_refused(folder):
    """transformers would read this shard instead of model.safetensors."""
    shutil.copy(folder / "model.safetensors", folder / "shard-00000-model-00001-of-00001.safetensors")
    refused(folder, "distributed checkpoint")


def test_weights_changed_after_hashing_are_refused(folder, monkeypatch):
    read = AutoModel.from_pretrained

    def changed_in_between(*arguments, **options):
        change_weights(folder, lambda tensors: tensors.update({name: tensor + 1 for name, tensor in tensors.items()}))
        return read(*arguments, **options)

    monkeypatch.setattr(AutoModel, "from_pretrained", changed_in_between)
    refused(folder, "changed during loading")


@pytest.mark.parametrize("digested", ["gone", "exchanged", "back"])
def test_file_exchanged_only_during_loading_is_detected(folder, monkeypatch, digested):
    file, aside, read = folder / "tokenizer.json", folder.parent / "aside", tokenizer.AutoTokenizer.from_pretrained
    reached, now, done, digest = threading.Event(), threading.Event(), threading.Event(), checkpoint.file_digest

    def waiting(path):
        if path != file:
            return digest(path)
        reached.set()
        assert now.wait(60)
        try:
            return digest(path)
        finally:
            done.set()

    def at(moment):
        if moment == digested:
            now.set()
            assert done.wait(60)

    def exchanged(*arguments, **options):
        assert reached.wait(60)
        file.rename(aside)
        at("gone")
        file.write_text(aside.read_text().replace('"bank"', '"bunk"'))
        at("exchanged")
        try:
            return read(*arguments, **options)
        finally:
            file.unlink()
            aside.rename(file)
            at("back")

    monkeypatch.setattr(checkpoint, "file_digest", waiting)
    monkeypatch.setattr(tokenizer.AutoTokenizer, "from_pretrained", exchanged)
    refused(folder, "changed during loading")


@pytest.mark.parametrize("of", ["folder", "file"])
def test_link_changed_during_loading_is_refused(folder, monkeypatch, of):
    """The test changes only `flipped`, the last link of the chain model.safetensors -> `link` -> `flipped`."""
    other, read = shutil.copytree(folder, folder.parent / "other"), AutoModel.from_pretrained
    change_weights(other, lambda tensors: tensors.update({name: tensor + 1 for name, tensor in tensors.items()}))
    mine = folder.parent / "weights"
    mine.mkdir()
    (folder / "model.safetensors").rename(mine / "model.safetensors")
    flipped = folder.parent / "flipped"
    name = "model.safetensors" if of == "file" else ""
    flipped.symlink_to(mine / name)
    link = folder.parent / "link"
    link.symlink_to(flipped if name else flipped / "model.safetensors")
    (folder / "model.safetensors").symlink_to(link)
    assert load_encoder(folder).digest == file_digest(mine / "model.safetensors")

    def flip(to):
        flipped.unlink()
        flipped.symlink_to(to / name)

    def exchanged(*arguments, **options):
        flip(other)
        try:
            return read(*arguments, **options)
        finally:
            flip(mine)

    monkeypatch.setattr(AutoModel, "from_pretrained", exchanged)
    refused(folder, "changed during loading")


def test_masked_language_head_is_refused_if_files_changed(tmp_path):
    encoder = load_encoder(str(save_tiny(FAMILIES["BERT"], tmp_path / "mine", masked_head=True)))
    for file in ("tokenizer.json", "config.json", "model.safetensors"):
        assert encoder.files[file] == file_digest(tmp_path / "mine" / file)
    load_masked_head(encoder)
    change_config(tmp_path / "mine", "tokenizer.json", truncation=None, padding=None)
    with pytest.raises(NoHead, match=r"mine changed after loading \(tokenizer.json\)"):
        load_masked_head(encoder)


def test_digest_depends_on_content(tmp_path):
    file, times = tmp_path / "file", (10**9, 10**9)
    file.write_bytes(b"one")
    os.utime(file, times)
    first = file_digest(file)
    file.write_bytes(b"two")
    os.utime(file, times)
    assert file_digest(file) != first


def test_xmod_without_default_language_is_refused(tmp_path):
    config = AutoConfig.for_model(
        "xmod", vocab_size=120, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=64, languages=["en_XX", "de_DE"]
    )  # fmt: skip
    model = AutoModel.from_config(config)
    fill(model, seed=0, spread=0.3)
    model.save_pretrained(tmp_path)
    wordpiece_tokenizer().save_pretrained(tmp_path)
    refused(tmp_path, '"default_language": "en_XX"')
    change_config(tmp_path, default_language="en_XX")  # the remedy works
    assert load_encoder(str(tmp_path)).family == "xmod"


def test_folder_without_tokenizer_is_refused(folder):
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    refused(folder, "has no tokeniser", "save_pretrained")


def test_tokenizer_written_in_python_is_refused(tmp_path, checkpoint):
    folder = shutil.copytree(checkpoint("T5 (encoder half)"), tmp_path / "mine")
    (folder / "tokenizer.json").unlink()
    ByT5Tokenizer().save_pretrained(folder)
    assert not [path for path in folder.iterdir() if "vocab" in path.name]  # ByT5 reads bytes, without a vocabulary
    refused(folder, "ByT5Tokenizer) is slow")


TABLE = base64.b64encode((1024).to_bytes(4, "little") + bytes(range(256)) * 4 + b"a" * 99 + b"\0").decode()


@pytest.mark.parametrize(
    ("family", "parts", "words"),
    [
        ("RoBERTa", {"model": {"dropout": 0.5}}, "in random ways"),
        ("XLM-R", {"normalizer": {"type": "Precompiled", "precompiled_charsmap": TABLE}}, "PanicException"),
    ],
    ids=["merges dropped at random", "a Rust panic"],
)
def test_tokenizer_that_crashes_or_splits_randomly_is_refused(checkpoint, tmp_path, family, parts, words):
    folder = shutil.copytree(checkpoint(family), tmp_path / "mine")
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    change_config(folder, "tokenizer.json", **{**parts, "model": {**model, **parts.get("model", {})}})
    change_config(folder, "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    assert str(refused(folder, words)).count("\n") == 0


def test_deeply_nested_tokenizer_is_refused(folder):
    (folder / "tokenizer.json").write_text('{"a":' * 50_000 + "1" + "}" * 50_000)
    refused(folder, "can't be loaded")


def test_impossible_weight_shape_is_refused(folder):
    text = json.dumps({"a": {"dtype": "F32", "shape": [10**300] * 10_000, "data_offsets": [0, 16]}}).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(16))
    refused(folder, "The weights of")


@pytest.mark.parametrize("signal", [KeyboardInterrupt, type("RerunException", (BaseException,), {})])
def test_program_exit_is_not_converted_to_error(signal):
    with pytest.raises(signal), failing_as(ValueError):
        raise signal()


def make_socket(path):
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path has at most 108 bytes
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(path.name)
    os.chdir(here)


MAKERS = {
    "pipe": os.mkfifo,
    "socket": make_socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path.name),
    "unreadable": lambda path: path.symlink_to("/proc/self/mem"),
}
READ = ("config.json", "tokenizer.json", "model.safetensors")


@pytest.mark.parametrize(("file", "kind"), [*itertools.product(READ, MAKERS), ("vocab.txt", "pipe")])
def test_irregular_file_is_refused(folder, file, kind):
    (folder / file).unlink(missing_ok=True)
    MAKERS[kind](folder / file)
    error = refused(folder)
    assert str(error).count("\n") == 0
    if kind != "unreadable":
        assert f"mine/{file}" in str(error)


def test_loop_of_links_is_refused_or_ignored(folder, monkeypatch):
    (folder / "below").mkdir()
    (folder / "below" / "a").symlink_to("b")
    (folder / "below" / "b").symlink_to("a")
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(folder.parent))
    if sys.version_info >= (3, 13):  # Python 3.13 treats the loop as a dangling link
        assert load_encoder("mine").family == "bert"
    else:
        assert re.search("links to a path outside|can't be read", str(refused("mine")))


def test_dangling_symlink_is_accepted(folder):
    (folder / "pytorch_model.bin").symlink_to("/nowhere/at/all")  # as in an incomplete cache
    assert load_encoder(str(folder)).family == "bert"


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_of_known_family_is_not_run(folder, tmp_path, file):
    """The config of EuroBERT, for example, names Python code (auto_map) that transformers doesn't need."""
    canary = tmp_path / "canary"
    (folder / "theirs.py").write_text(f"open({str(canary)!r}, 'w')\n")
    auto_map = {"AutoModel": "theirs.Model", "AutoConfig": "theirs.Config", "AutoTokenizer": ["theirs.T", None]}
    change_config(folder, file, auto_map=auto_map)
    encoder = load_encoder(str(folder))
    assert (encoder.family, encoder.recomputable) == ("bert", True)
    assert type(encoder.model).__module__.startswith("transformers.")
    assert not canary.exists()


def test_code_of_unknown_family_is_refused(folder, tmp_path):
    canary = tmp_path / "canary"
    (folder / "theirs.py").write_text(f"open({str(canary)!r}, 'w')\n")
    change_config(folder, model_type="theirs", auto_map={"AutoModel": "theirs.Model", "AutoConfig": "theirs.Config"})
    refused(folder, "never runs the Python code")
    assert not canary.exists()
