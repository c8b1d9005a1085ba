"""Test the loading of encoder folders, and the message of each error."""

import json
import pickle
import weakref

import pytest
import torch
from safetensors.torch import load_file, save_file

from selfattn import LoadError, load_encoder
from selfattn.encoders import loading, sources
from selfattn.encoders.checkpoint import file_digest
from selfattn.encoders.families import FAMILIES, save_tiny

pytestmark = pytest.mark.slow


def refused(name, *words, **options) -> LoadError:
    with pytest.raises(LoadError) as caught:
        load_encoder(str(name), **options)
    assert all(each in str(caught.value) for each in words), str(caught.value)
    return caught.value


def change_config(folder, name="config.json", **values):
    file = folder / name
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def change_weights(folder, change):
    file = folder / "model.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file, {"format": "pt"})


class Canary:
    """An object whose pickle creates a file when loaded."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_encoder_folder_loads(folder):
    encoder = load_encoder(str(folder))
    assert (encoder.family, encoder.n_layers, encoder.n_heads, encoder.d_model, encoder.d_head) == ("bert", 3, 4, 32, 8)
    assert (encoder.max_tokens, encoder.revision, encoder.dtype, encoder.recomputable) == (64, None, "float32", True)
    assert encoder.digest == file_digest(folder / "model.safetensors")


def test_loading_reports_steps(folder, capfd):
    stages = []
    load_encoder(str(folder), report=stages.append)
    shown = capfd.readouterr()
    assert shown.out + shown.err == ""
    assert [stage.split(" ")[0] for stage in stages] == ["Reading", "Checking"]


@pytest.mark.parametrize("trusted", [True, False])
def test_argument_named_trusted_is_refused(folder, trusted):
    with pytest.raises(TypeError, match=r"no longer has the option trusted.* Leave trusted out"):
        load_encoder(str(folder), trusted=trusted)


def test_missing_folder_is_refused():
    for name in ("/no/such/folder", "~nobody-here/folder"):
        refused(name, "There is no folder")
    refused(" ", "encoder's name is empty")
    for name in ("a\0b", "x" * 5000):
        refused(name, "has control characters or more than 1,000 characters")


@pytest.mark.parametrize("file", ["pytorch_model.bin", "model.pt"])
def test_pickles_are_never_read(folder, tmp_path, file):
    canary = tmp_path / "canary"
    (folder / file).write_bytes(pickle.dumps(Canary(canary)))
    load_encoder(str(folder))
    (folder / "model.safetensors").unlink()
    refused(folder, file, "save_pretrained")
    assert not canary.exists()


@pytest.mark.parametrize("text", ["{", "[]", "null", "[" * 100_000])
def test_config_must_be_json_object(folder, text):
    (folder / "config.json").write_text(text)
    refused(folder, "config.json can't be read as JSON")


DISTANCES = "encoder.layer.0.attention.self.distance_embedding.weight"


def old_bert(prefix):
    """Return a function that adds an old BERT's weights for relative positions to a checkpoint."""

    def change(tensors):
        for key in list(tensors):
            tensors[prefix + key] = tensors.pop(key)
        tensors[prefix + DISTANCES] = torch.zeros(127, 8)
        tensors["cls.predictions.bias"] = torch.zeros(80)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tensors: tensors.pop("encoder.layer.1.attention.self.key.weight"), "layer.1.attention.self.key.weight"),
        (lambda tensors: tensors["pooler.dense.bias"][3].fill_(torch.nan), "NaN or infinity in float32 (first: pooler"),
        (old_bert(""), f"1 encoder weights that bert doesn't use (first: {DISTANCES}"),
        (old_bert("bert."), f"1 encoder weights that bert doesn't use (first: {DISTANCES}"),
    ],
    ids=["missing", "not finite", "left out", "left out of a model with a head"],
)
def test_bad_weights_are_refused(folder, change, words):
    change_weights(folder, change)
    refused(folder, words)


def test_weight_too_large_for_float16_is_refused(folder):
    change_weights(folder, lambda tensors: tensors["pooler.dense.bias"].fill_(6e4))
    # Each weight fits into float16, although the sum of the weights doesn't.
    assert load_encoder(str(folder), dtype="float16").dtype == "float16"
    change_weights(folder, lambda tensors: tensors["pooler.dense.bias"][0].fill_(1e6))
    refused(folder, "NaN or infinity in float16", dtype="float16")


def test_unused_pooler_weights_are_noted(folder):
    others = {"lm_head.bias": torch.zeros(80), "pooler.extra.weight": torch.zeros(4)}
    change_weights(folder, lambda tensors: tensors.update(others))
    encoder = load_encoder(str(folder))
    assert (encoder.recomputable, encoder.note) == (True, "the pooler's weights aren't used")


@pytest.mark.parametrize("keep", [0, 4, 100, -1000])
def test_truncated_weights_are_refused(folder, keep):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:keep])
    refused(folder, "The weights of")


def test_broken_tokeniser_is_refused(folder):
    (folder / "tokenizer.json").write_text("{}")
    refused(folder, "tokeniser can't be loaded")


def test_tokeniser_of_other_model_is_refused(folder):
    other = save_tiny(FAMILIES["RoBERTa"], folder.parent / "other")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).write_bytes((other / file).read_bytes())
    refused(folder, "again from the same model")


def test_invalid_options_are_refused(folder):
    refused(folder, "dtype must be one of", dtype="float8")
    refused(folder, "Choose from", device="abacus")
    refused(folder, "has no revisions", revision="main")


def test_out_of_memory_error_suggests_smaller_encoder(folder, monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(loading.AutoModel, "from_pretrained", fail)
    refused(folder, "smaller encoder")


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_changed_bundled_file_is_not_read(monkeypatch, file):
    monkeypatch.setattr(loading, "Tokenizer", lambda *args: pytest.fail("The tokeniser was read."))
    monkeypatch.setitem(sources.BUNDLED_DIGESTS, file, "0" * 64)
    with pytest.raises(LoadError, match=f"{file} has the sha256 .*--force-reinstall"):
        load_encoder()


def test_encoder_not_listed_in_selfattn_models_is_refused(folder, monkeypatch):
    monkeypatch.setenv("SELFATTN_MODELS", f"{folder}, some/model")
    load_encoder(str(folder))
    refused("bert-base-uncased", "some/model")


def test_paths_outside_folder_of_encoders_are_refused(folder, tmp_path, monkeypatch):
    outside = save_tiny(FAMILIES["BERT"], tmp_path / "outside")
    shelf = folder.parent / "shelf"
    shelf.mkdir()
    folder = folder.rename(shelf / "mine")
    (shelf / "door").symlink_to(outside, target_is_directory=True)
    other_name = tmp_path / "also-shelf"
    other_name.symlink_to(shelf)
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(other_name))
    assert load_encoder("mine").name == "mine"
    for name in (folder, other_name / "mine"):
        assert load_encoder(str(name)).family == "bert"
    for name in (str(outside), "../outside", "mine/../../outside", "door", "door/.", "."):
        refused(name, "Expected a folder inside this server's folder of encoders")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(outside / "model.safetensors")
    refused("mine", "links to a path outside the folder")


def test_deleted_encoder_is_freed(folder):
    encoder = load_encoder(str(folder))
    encoder.reference_weights("the bank")  # makes the eager copy of the model
    encoding = encoder.encode("the bank")
    model = weakref.ref(encoder.model)
    del encoder, encoding
    assert model() is None  # no reference cycle holds the model


@pytest.mark.parametrize("confined", [False, True])
def test_too_long_name_is_refused(monkeypatch, tmp_path, confined):
    if confined:
        monkeypatch.setenv("SELFATTN_MODEL_DIR", str(tmp_path))
    for name in ("¡" * 200, "a" * 256, f"./{'b' * 300}", f"owner/{'c' * 300}"):
        with pytest.raises(LoadError, match=r"no folder|Expected a folder|nor a Hub id"):
            load_encoder(name)
