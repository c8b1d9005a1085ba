"""Test that a damaged encoder folder either loads or is refused with a LoadError."""

import contextlib
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import strategies as st

from selfattn import LoadError, TextError, load_encoder
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.model_types import TEXT_ENCODERS
from tests.encoders.test_hostile_folders import MAKERS
from tests.fuzz.hostile import texts

pytestmark = pytest.mark.slow

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
KEYS = (
    "model_type", "auto_map", "transformers_weights", "quantization_config", "attn_implementation", "backbone",
    "num_hidden_layers", "layer_types", "vocab_size", "hidden_act", "architectures", "dtype", "return_dict", "is_decoder",
    "chunk_size_feed_forward", "tokenizer_class", "added_tokens_decoder", "normalizer", "pre_tokenizer", "model", "vocab",
    "pad_token", "model_max_length", "shape", "dtype", "data_offsets", "__metadata__", "weight_map", "per_layer_config",
    "problem_type", "id2label", "num_labels", "pruned_heads", "rope_parameters", "extra_special_tokens",
)  # fmt: skip

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 1, 3, 1e308, float("inf"), float("nan"), 0.5]),
    st.sampled_from(sorted(TEXT_ENCODERS)),
    st.sampled_from(["gpt2", "vit", "AutoModel", "float8_e4m3fn", "save", "../x", "F8_E4M3", "", "[UNK]"]),
    texts().map(lambda text: text.encode("utf-8", "ignore").decode()),
    st.sampled_from([[], {}, [[]], [0] * 3, ["a", 1], {"a": {"b": []}}]),
    st.builds(
        lambda pattern, content: {"type": "Replace", "pattern": {"String": pattern}, "content": content},
        st.sampled_from(["", "a", " "]), st.sampled_from(["", "a", "a" * 100]),
    ),
    st.builds(lambda regex: {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False},
              st.text("a()[]?|1,\\^$.<=!:", max_size=12)),
    st.integers(1, 60).map(lambda depth: json.loads("[" * depth + "]" * depth)),
)  # fmt: skip


KINDS = {**MAKERS, "folder": Path.mkdir, "nothing": lambda path: None}


def damage() -> st.SearchStrategy[tuple]:
    """Return a strategy that draws the arguments with which `apply` damages one file."""
    json_files = st.sampled_from([*FILES, "model.safetensors.index.json"])
    places = st.lists(st.integers(0, 10**6), min_size=1, max_size=5)
    values = st.tuples(st.just("value"), json_files, places, st.none() | st.sampled_from(KEYS), ODD)
    cuts = st.tuples(st.just("cut"), st.sampled_from(FILES), st.integers(0, 10**6))
    flips = st.tuples(st.just("byte"), st.sampled_from(FILES), st.integers(0, 10**6), st.integers(0, 255))
    kinds = st.tuples(st.just("file"), st.sampled_from(FILES), st.sampled_from(sorted(KINDS)))
    return st.one_of(values, values, values, cuts, flips, kinds)


def apply(folder, kind, file, *how) -> None:
    path = folder / file
    if kind == "file":
        path.unlink()
        KINDS[how[0]](path)
        return
    if path.exists() and not path.is_file():
        raise ValueError("nothing is left to damage")
    data = path.read_bytes() if path.exists() else b'{"metadata": {}, "weight_map": {"a": "model.safetensors"}}'
    match kind:
        case "cut":
            path.write_bytes(data[: how[0] % max(1, len(data))])
        case "byte":
            at = how[0] % max(1, min(len(data), 20_000))  # within the header
            path.write_bytes(data[:at] + bytes([how[1]]) + data[at + 1 :])
        case "value" if file == "model.safetensors":
            length = int.from_bytes(data[:8], "little")
            header = json.dumps(changed(json.loads(data[8 : 8 + length]), *how)).encode()
            path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + length :])
        case "value":
            path.write_text(json.dumps(changed(json.loads(data), *how)), "utf-8")
            if file.endswith("index.json"):
                (folder / "model.safetensors").rename(folder / "a.safetensors")


def changed(tree, places, key, value):
    inner = tree
    for place in places[:-1]:
        values = list(inner.values() if isinstance(inner, dict) else inner)
        nested = [each for each in values if isinstance(each, dict | list) and each]
        if not nested:
            break
        inner = nested[place % len(nested)]
    if isinstance(inner, dict):
        inner[key or list(inner)[places[-1] % len(inner)]] = value
    else:
        inner[places[-1] % len(inner)] = value
    return tree


@pytest.fixture(scope="module", params=["BERT", "XLM-R", "MPNet"])
def template(request, tmp_path_factory):
    return save_tiny(FAMILIES[request.param], tmp_path_factory.mktemp("template") / "mine")


def test_damaged_folder_loads_or_is_refused(template, tmp_path, generated):
    folder = tmp_path / "mine"

    def loaded_or_refused(damages):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder)
        # After the first damage, the second may find no file, or no JSON in the file.
        with contextlib.suppress(ArithmeticError, AttributeError, OSError, TypeError, ValueError):
            for each in damages:
                apply(folder, *each)
        try:
            with contextlib.suppress(TextError):
                load_encoder(str(folder)).encode("The bank of the river.")
        except LoadError as error:
            assert str(error).encode("utf-8")
            assert len(str(error)) < 2000

    generated(12, 1000, st.lists(damage(), min_size=1, max_size=2), loaded_or_refused)
