"""Folders that lie or explode: each is refused with one message, in bounded time and memory, before anything is built."""

import base64
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

from selfattn import LoadError, TextError, load_encoder
from selfattn.encoders import checkpoint as limits
from selfattn.encoders import loading
from selfattn.encoders.checkpoint import count_numbers, file_digest, weight_files
from selfattn.encoders.errors import failing_as
from selfattn.encoders.families import FAMILIES, fill, save_tiny, unigram_tokenizer, wordpiece_tokenizer
from selfattn.encoders.tokenizer_limits import check_tokenizer
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
    assert load_encoder(str(folder)).recomputable


def test_the_single_file_is_digested_where_an_index_stands_beside_it(folder):
    decoy = {name: torch.zeros_like(tensor) for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(decoy, folder / "decoy.safetensors", {"format": "pt"})
    index = {"metadata": {}, "weight_map": dict.fromkeys(decoy, "decoy.safetensors")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    encoder = load_encoder(str(folder))
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


@pytest.mark.parametrize("weight_map", [None, {}, [], {"a": 1}, {"a": ["b"]}])
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
    refused(folder, "weights", "changed while it was read")


def test_a_file_of_the_same_size_and_time_has_its_own_digest(tmp_path):
    file, times = tmp_path / "file", (10**9, 10**9)
    file.write_bytes(b"one")
    os.utime(file, times)
    first = file_digest(file)
    file.write_bytes(b"two")
    os.utime(file, times)
    assert file_digest(file) != first


# --- headers


def header(shape, offsets=(0, 16), dtype="F32", name="a"):
    return {name: {"dtype": dtype, "shape": shape, "data_offsets": list(offsets)}}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (header([10**300] * 10_000), "dimensions"),  # froze the whole server: multiplied out
        (header([10**300] * 8), "dimensions"),
        (header([2**48 + 1, 0], (0, 0)), "dimensions"),
        (header([1] * 8 + [4]), "dimensions"),
        (header([True, 4]), "dimensions"),
        (header([2, 3]), "other bytes"),
        (header([4], (-16, 0)), "other bytes"),
        (header([4], (8, 24)), "begin at byte 8"),
        (header([4]) | header([4], (16, 32), name="b"), "end at byte 32"),
        (header([2], (0, 8)), "end at byte 8"),
        (header([4]) | header([2], (8, 16), name="b"), "begin at byte 8"),
        (header([16], dtype="F8_E4M3"), "stored as F8_E4M3"),
        (header("4"), "no shape"),
        ({"a": 1}, "no shape"),
        (header([-1, 4]), "dimensions"),
        (header([4], (16, 0)), "other bytes"),
        (b"null", "expected one JSON object"),
        (b"\xff\xfe", "can't decode"),
        (b'{"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}, "a": 1}', "twice"),
        (b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", "recursion"),
        (b"{" + b"," * 4_000_001 + b"}", "4,000,000 values"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_headers(folder, content, why):
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(16))
    refused(folder, "weights", "model.safetensors is cut short or damaged", why)


@pytest.mark.parametrize("length", [0, 1, 2**63, 10**9])
def test_the_length_of_a_header(folder, length):
    (folder / "model.safetensors").write_bytes(length.to_bytes(8, "little") + b"{}" + bytes(16))
    refused(folder, None, "its header has")


def test_a_good_file_passes_for_every_dtype(tmp_path):
    names = ("float32", "float16", "bfloat16", "float64", "int64", "int8", "uint8", "bool")
    dtypes = [getattr(torch, name) for name in names]
    tensors = {str(dtype): torch.zeros(2, 3, dtype=dtype) for dtype in dtypes}
    save_file({**tensors, "empty": torch.zeros(0, 5), "number": torch.tensor(1.0)}, tmp_path / "model.safetensors")
    assert count_numbers(tmp_path) == 6 * len(dtypes) + 1
    assert weight_files(tmp_path) == [tmp_path / "model.safetensors"]


# --- what is no text encoder


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("vit", "reads images"),
        ("wav2vec2", "reads sound"),
        ("whisper", "reads sound"),
        ("videomae", "reads video"),
        ("clip", "images or sound beside text"),
        ("timesfm", "series of numbers"),
        ("gpt2", "is a decoder"),
        ("bart", "is an encoder-decoder"),
        ("longt5", "is an encoder-decoder"),
        ("dpr", "bert_model.save_pretrained"),
        ("bros", "the place of each word"),
        ("tapas", "reads tables"),
        ("markuplm", "reads web pages"),
        ("canine", "reads characters"),
        ("perceiver", "latent vectors"),
        ("reformer", "no map of each token to each"),
        ("fnet", "has no attention"),
        ("mra", "approximates its attention"),
        ("timm_wrapper", "reads images"),
    ],
)
def test_what_is_no_text_encoder_is_refused_by_its_config_alone(folder, family, words):
    change_config(folder, model_type=family)
    refused(folder, "encoder", words, "BERT")


def test_a_model_put_together_from_others(folder):
    change_config(folder, model_type="vision-text-dual-encoder", text_config={"model_type": "bert"})
    refused(folder, None, "If a text encoder is among them, save it by itself")


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
    assert load_encoder(str(tmp_path)).family == "xmod"


# --- configs that explode


@pytest.mark.parametrize(
    "values",
    [
        {"a": {"b": [{"c": 10**13}]}},
        {"num_labels": 10**7},
        {"layer_norm_eps": float("inf")},
        {"a": [float("nan")]},
        {"a": [0] * 50_001},
        {"a": {"__float__": "NaN"}},
        {"num_hidden_layers": [3, 300]},
    ],
    ids=str,
)
def test_values_out_of_bounds_at_any_depth(folder, values):
    change_config(folder, **values)
    error = refused(folder)
    assert (error.kind, len(str(error)) < 500) == ("config", True)


def test_a_config_nested_too_deep(folder):
    nested = 1
    for _ in range(40):
        nested = {"a": nested}
    change_config(folder, a=nested)
    refused(folder, None, "nested deeper than 32")


def test_a_config_with_a_key_twice(folder):
    text = (folder / "config.json").read_text().rstrip().removesuffix("}")
    (folder / "config.json").write_text(text + ', "model_type": "bert"}')
    refused(folder, None, "twice")


def test_a_config_that_builds_layers_without_end(tmp_path, checkpoint, monkeypatch):
    monkeypatch.setattr(loading._BoundedCalls, "most", 2000)
    folder = shutil.copytree(checkpoint("Funnel"), tmp_path / "mine")
    change_config(folder, block_sizes=[4_000_000], block_repeats=[1])
    refused(folder, "config", "steps to build")


def test_buffers_count_too(folder):
    change_config(folder, max_position_embeddings=4_000_000, hidden_size=1, num_attention_heads=1, intermediate_size=1)
    refused(folder, None, "describes a model of")


@pytest.mark.parametrize(
    ("file", "size"),
    [
        ("config.json", 5 * 2**20),
        ("tokenizer.json", 65 * 2**20),
        ("tokenizer_config.json", 65 * 2**20),
        ("a.txt", 2**40),
    ],
)
def test_giant_files(folder, file, size):
    with open(folder / file, "ab") as opened:
        opened.truncate(size)  # a file with a hole: it takes no room
    refused(folder, "file", f"{size:,} bytes")


# --- tokenisers that explode


def replaces(*pairs):
    steps = [{"type": "Replace", "pattern": pattern, "content": content} for pattern, content in pairs]
    return {"normalizer": {"type": "Sequence", "normalizers": steps}}


def splits(pattern):
    return {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}}


def charsmap(replacement: bytes, index: bytes = bytes(1024)):
    table = len(index).to_bytes(4, "little") + index + replacement + b"\0"
    return {"normalizer": {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()}}


def template_of(items):
    special = {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}}
    processor = {"type": "TemplateProcessing", "single": items, "pair": items, "special_tokens": special}
    return {"post_processor": processor}


SEQUENCE = {"Sequence": {"id": "A", "type_id": 0}}


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (replaces(({"String": "a"}, "a" * 65)), "65 times"),
        (replaces(*[({"String": "a"}, "aaa")] * 4), "81 times"),
        (replaces(*[({"Regex": "x*"}, "a")] * 7), "128 times"),
        (replaces(({"String": ""}, "a" * 64)), "65 times"),
        (replaces(({"String": "a"}, "a" * 1001)), "1,001 characters"),
        (replaces(*[({"String": "a"}, "b")] * 70), "steps; at most 64"),
        (charsmap(b"a" * 999), "333 times"),
        (template_of([SEQUENCE] * 65), "65 times"),
        ({"normalizer": {"type": "Prepend", "prepend": "a" * 1001}}, "1,001 characters"),
        (splits("(a+)+b"), "repeats repetitions"),
        (splits("(?:a|aa)+b"), "repeats repetitions"),
        (splits("(?:(?:a*)?)*"), "repeats repetitions"),
        (splits("a*a*a*a*a*b"), "repeats repetitions"),
        (splits("a{99}{99}{99}{99}"), "repeats repetitions"),
        (splits(r"(.)\1*"), "repeats repetitions"),
        (splits("a" * 1001), "1,001 characters"),
        ({"added_tokens": [{"id": 1, "content": "a" * 1001}]}, "an added token"),
        ({"added_tokens": [{"id": i, "content": "a"} for i in range(50_001)]}, "50,001 tokens"),
        ({"post_processor": {"type": "Sequence", "processors": [{"id": 10**9}]}}, "1000000000"),
        ({"model": []}, "no model"),
        ({"model": {"type": "WordPiece", "vocab": {"a": 2**33}}}, "id or score"),
        ({"model": {"type": "Unigram", "vocab": [["a", float("nan")]]}}, "id or score"),
        ({"model": {"type": "WordPiece", "vocab": {"a" * 1001: 1}}}, "more than 1,000 characters"),
        ({"model": {"type": "WordPiece", "vocab": "a"}}, "its vocabulary"),
        ({"model": {"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.5}}, "at random"),
        ({"model": {"type": "WordPiece", "vocab": {}, "max_input_chars_per_word": 10**6}}, "max_input_chars_per_word"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tokenizers_out_of_bounds(folder, parts, why):
    change_tokenizer(folder, **parts)
    refused(folder, "tokenizer", why)


PUBLISHED = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",  # GPT-2
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",  # BLOOM
    r"\d{1,3}(?=(?:\d{3})*\b)",  # OLMo
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",  # CLIP
    r" {2,}",
    r"\s+",
)


@pytest.mark.parametrize("pattern", PUBLISHED)
def test_the_patterns_of_published_tokenizers_pass(folder, pattern):
    change_tokenizer(folder, **splits(pattern))
    check_tokenizer(folder, {})


def test_the_normalisers_of_published_tokenizers_pass(folder):
    change_tokenizer(folder, **replaces(({"String": "``"}, '"'), ({"String": "''"}, '"'), ({"Regex": " {2,}"}, "▁")))
    check_tokenizer(folder, {})
    change_tokenizer(folder, **charsmap("صلى الله عليه وسلم".encode()))  # the longest that Unicode has
    check_tokenizer(folder, {})


@pytest.mark.parametrize(
    "settings",
    [
        {"tokenizer_class": "AutoModel"},
        {"tokenizer_class": ["BertTokenizer"]},
        {"fast_tokenizer_files": ["tokenizer.4.0.0.json"]},
        {"gguf_file": "a.gguf"},
        {"added_tokens_decoder": {"99999999999": {"content": "a"}}},
        {"extra_special_tokens": ["a" * 1001]},
    ],
    ids=str,
)
def test_settings_of_a_tokenizer_that_lead_elsewhere(folder, settings):
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))
    refused(folder, "tokenizer")


@pytest.mark.parametrize("length", ["albert", [512], {"a": 1}, 0, -1, float("nan"), float("-inf")], ids=str)
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


def test_a_tokenizer_that_panics_when_it_is_built(tmp_path, checkpoint):
    """A Rust panic is a BaseException: `except Exception` let it through to the page."""
    folder = shutil.copytree(checkpoint("XLM-R"), tmp_path / "mine")
    change_tokenizer(folder, normalizer={"type": "Precompiled", "precompiled_charsmap": "////f2FiYw=="})
    refused(folder, "tokenizer", "PanicException")


def test_a_tokenizer_that_panics_over_a_text(encoder_of, monkeypatch):
    encoder = encoder_of("XLM-R")
    broken = json.loads(encoder.tokenizer.backend_tokenizer.to_str()) | charsmap(b"abc", bytes(range(256)) * 4)
    backend = type(encoder.tokenizer.backend_tokenizer).from_str(json.dumps(broken))
    monkeypatch.setattr(encoder.tokenizer, "_tokenizer", backend)
    with pytest.raises(TextError, match=r"tokeniser can't read this text \(PanicException"):
        encoder.tokenize("ab")


def test_a_tokenizer_without_the_token_for_what_it_does_not_know(folder):
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    change_tokenizer(folder, model={**model, "vocab": {"[CLS]": 2, "[SEP]": 3, "a": 4}}, added_tokens=[])
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    refused(folder, "tokenizer")


@pytest.mark.parametrize(
    "signal", [KeyboardInterrupt, SystemExit, GeneratorExit, type("RerunException", (BaseException,), {})]
)
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


READ = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")


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


def test_a_digest_of_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "nothing"):
        with pytest.raises(LoadError) as caught:
            file_digest(tmp_path / name)
        assert caught.value.kind == "file"


def test_a_folder_of_too_many_files(folder, monkeypatch):
    monkeypatch.setattr(limits, "MOST_FILES", 3)
    refused(folder, None, "more than 3 files")


def test_a_link_to_nothing_is_no_reason_to_refuse(folder):
    (folder / "pytorch_model.bin").symlink_to("/nowhere/at/all")  # as in a cache that holds a model in part
    assert load_encoder(str(folder)).family == "bert"


# --- code that comes with a model


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_that_comes_with_a_known_family_is_not_run(folder, tmp_path, file):
    """Nomic, GTE, Jina v3 and EuroBERT carry auto_map on the Hub, and transformers has them: loaded without it."""
    canary = tmp_path / "canary"
    (folder / "theirs.py").write_text(f"open({str(canary)!r}, 'w')\n")
    settings = json.loads((folder / file).read_text())
    auto_map = {"AutoModel": "theirs.Model", "AutoConfig": "theirs.Config", "AutoTokenizer": ["theirs.T", None]}
    (folder / file).write_text(json.dumps({**settings, "auto_map": auto_map}))
    encoder = load_encoder(str(folder))
    assert (encoder.family, encoder.recomputable) == ("bert", True)
    assert type(encoder.model).__module__.startswith("transformers.")
    assert not canary.exists()


def test_code_that_comes_with_an_unknown_family_is_refused(folder, tmp_path):
    canary = tmp_path / "canary"
    (folder / "theirs.py").write_text(f"open({str(canary)!r}, 'w')\n")
    change_config(folder, model_type="theirs", auto_map={"AutoModel": "theirs.Model", "AutoConfig": "theirs.Config"})
    refused(folder, "code", "never runs code")
    assert not canary.exists()


def test_a_unigram_tokenizer_passes(tmp_path):
    unigram_tokenizer().save_pretrained(tmp_path)
    check_tokenizer(tmp_path, {})
