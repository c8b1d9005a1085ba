"""Loading: each way an encoder can fail has its own message, no code and no pickle that comes with a model is run."""

import json
import pickle
import weakref

import pytest
from safetensors.torch import load_file, save_file

from selfattn import LoadError, load_encoder
from selfattn.encoders import loading, sources
from selfattn.encoders.checkpoint import file_digest
from selfattn.encoders.families import FAMILIES, save_tiny


@pytest.fixture
def folder(tmp_path):
    """A good folder, for a test to break."""
    return save_tiny(FAMILIES["BERT"], tmp_path / "mine")


def refused(name, kind=None, *words, **options) -> LoadError:
    """What is raised: an error of this kind, with all of these words in its message. In this process, unless told."""
    with pytest.raises(LoadError) as caught:
        load_encoder(str(name), **{"trusted": True, **options})
    assert kind in (None, caught.value.kind)
    assert all(each in str(caught.value) for each in words), str(caught.value)
    return caught.value


def change_config(folder, **values):
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


class Canary:
    """Leaves a file behind if a pickle of it is ever loaded."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_a_folder_loads(folder):
    encoder = load_encoder(str(folder))
    assert (encoder.family, encoder.n_layers, encoder.n_heads, encoder.d_model, encoder.d_head) == ("bert", 3, 4, 32, 8)
    assert (encoder.max_tokens, encoder.revision, encoder.dtype, encoder.recomputable) == (64, None, "float32", True)
    assert encoder.digest == file_digest(folder / "model.safetensors")


def test_loading_draws_nothing_on_the_terminal(folder, capfd):
    load_encoder(str(folder))
    shown = capfd.readouterr()
    assert shown.out + shown.err == ""


@pytest.mark.parametrize(
    ("trusted", "words"), [(True, ["Reading", "Checking"]), (False, ["Reading", "Checking", "Loading"])]
)
def test_loading_reports_its_stages(folder, trusted, words):
    stages = []
    load_encoder(str(folder), report=stages.append, trusted=trusted)
    assert [stage.split(" ")[0] for stage in stages] == words


def test_no_folder_and_no_name():
    refused("/no/such/folder", "folder")
    refused("~nobody-here/folder", "folder")
    refused(" ", "name")
    refused("a\0b", "name")
    refused("x" * 5000, "name")


@pytest.mark.parametrize("file", ["pytorch_model.bin", "model.pt"])
def test_pickles_are_never_read(folder, tmp_path, file):
    canary = tmp_path / "canary"
    (folder / file).write_bytes(pickle.dumps(Canary(canary)))
    load_encoder(str(folder))
    (folder / "model.safetensors").unlink()
    refused(folder, "safetensors", file, "save_pretrained")
    assert not canary.exists()


@pytest.mark.parametrize("text", ["{", "[]", "null", "[" * 100_000])
def test_a_config_that_is_no_json_object(folder, text):
    (folder / "config.json").write_text(text)
    refused(folder, "config")


@pytest.mark.parametrize(
    "values",
    [
        {"hidden_size": -1},
        {"num_attention_heads": 5},
        {"hidden_act": "no such thing"},
        {"layer_norm_eps": float("nan")},
        {"num_hidden_layers": [3, 300]},
        {"a": {"__float__": "NaN"}},
    ],
)
def test_a_config_with_values_that_make_no_model(folder, values):
    change_config(folder, **values)
    assert len(str(refused(folder))) < 500


def test_weights_of_another_size(folder):
    change_config(folder, hidden_size=64)
    refused(folder, "weights")


def test_weights_that_are_missing(folder):
    tensors = load_file(folder / "model.safetensors")
    del tensors["encoder.layer.1.attention.self.key.weight"]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    refused(folder, "weights", "encoder.layer.1.attention.self.key.weight")


@pytest.mark.parametrize("keep", [0, 4, 100, -1000])
def test_a_file_cut_short(folder, keep):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:keep])
    refused(folder, "weights", "or the file is damaged")


def test_a_broken_tokeniser(folder):
    (folder / "tokenizer.json").write_text("{}")
    refused(folder, "tokenizer")


def test_a_tokeniser_of_another_model(folder):
    other = save_tiny(FAMILIES["RoBERTa"], folder.parent / "other")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).write_bytes((other / file).read_bytes())
    refused(folder, "tokenizer", "don't belong together")


def test_precision_and_device_that_do_not_exist(folder):
    refused(folder, "dtype", dtype="float8")
    refused(folder, "device", "it has", device="abacus")


def test_out_of_memory(folder, monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(loading.AutoModel, "from_pretrained", fail)
    refused(folder, "memory", "smaller encoder")


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_a_bundled_file_that_was_changed_is_not_read(monkeypatch, file):
    monkeypatch.setattr(loading, "Fast", lambda *args: pytest.fail("read before its digest"))
    monkeypatch.setitem(sources.BUNDLED_DIGESTS, file, "0" * 64)
    with pytest.raises(LoadError, match=f"{file} is not the published one.*--force-reinstall") as caught:
        load_encoder()
    assert caught.value.kind == "digest"


def test_allow_list(folder, monkeypatch):
    monkeypatch.setenv("SELFATTN_MODELS", f"{folder}, some/model")
    load_encoder(str(folder))
    refused("bert-base-uncased", "allowed", "some/model")


def test_paths_stay_inside_the_operators_folder(folder, tmp_path, monkeypatch):
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
        assert refused(name).kind == "allowed", name
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(outside / "model.safetensors")
    refused("mine", "link")


def test_what_may_not_be_opened_is_refused_in_the_same_words_whether_it_exists_or_not(tmp_path, monkeypatch):
    shelf, outside = tmp_path / "shelf", tmp_path / "outside"
    for made in (shelf, outside / "there"):
        made.mkdir(parents=True)
    (shelf / "door").symlink_to(outside)
    (shelf / "loop").symlink_to(shelf / "loop")
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(shelf))
    names = [
        str(outside),
        str(outside / "no"),
        "../outside",
        "../no",
        "door/there",
        "door/no",
        "~",
        "~root",
        "./no",
        "loop",
    ]
    messages = {str(refused(name)).replace(repr(name), "") for name in names}
    assert len(messages) == 1, messages
    assert "SELFATTN_MODEL_DIR" in messages.pop()


def test_a_folder_has_no_revisions(folder):
    refused(folder, "revision", "has no revisions", revision="main")


def test_an_encoder_that_is_let_go_gives_its_memory_back(folder):
    encoder = load_encoder(str(folder))
    encoder.reference_weights("the bank")  # makes the eager twin
    encoding = encoder.encode("the bank")
    model = weakref.ref(encoder.model)
    del encoder, encoding
    assert model() is None  # at once, without a garbage collection: nothing in a circle holds it


@pytest.mark.parametrize("confined", [False, True])
def test_a_name_longer_than_a_disk_takes(monkeypatch, tmp_path, confined):
    if confined:
        monkeypatch.setenv("SELFATTN_MODEL_DIR", str(tmp_path))
    for name in ("¡" * 200, "a" * 256, f"./{'b' * 300}", f"owner/{'c' * 300}"):
        with pytest.raises(LoadError, match=r"no folder|nor a Hub id"):
            load_encoder(name)
