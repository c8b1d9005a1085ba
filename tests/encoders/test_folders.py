"""Folders as users have them: of a Trainer, PEFT, sentence-transformers, the Hub's cache; sharded, halved, wrapped."""

import json
import logging
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from transformers import AutoModel, AutoTokenizer

from selfattn import LoadError, load_encoder
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.families import FAMILIES, Family, save_tiny
from selfattn.encoders.pooling import load_pooling
from tests.encoders.test_loading import change_config, refused

TEXT = "the bank of the river"


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return save_tiny(FAMILIES["BERT"], tmp_path_factory.mktemp("template") / "mine")


def opened(folder) -> Encoder:
    return load_encoder(folder, trusted=True)


def same(encoder, template):
    return torch.equal(encoder.encode(TEXT).hidden, opened(template).encode(TEXT).hidden)


def trained(template, output, *steps):
    """What a Trainer leaves: a folder a checkpoint, each with the state of the training beside the model."""
    for step in steps:
        folder = shutil.copytree(template, output / f"checkpoint-{step}")
        (folder / "trainer_state.json").write_text(json.dumps({"global_step": step, "log_history": []}))
        parameters = [torch.nn.Parameter(torch.zeros(2))]
        torch.save(torch.optim.AdamW(parameters).state_dict(), folder / "optimizer.pt")
        for file in ("scheduler.pt", "rng_state.pth", "training_args.bin"):
            torch.save({}, folder / file)
    (output / "runs" / "Nov24").mkdir(parents=True)
    return output


def test_the_one_checkpoint_of_a_trainer_is_opened_and_said(template, tmp_path):
    encoder = opened(trained(template, tmp_path / "out", 500))
    assert (encoder.title, encoder.note) == ("out", "opened: checkpoint-500") and same(encoder, template)


def test_of_several_checkpoints_the_last_is_proposed(template, tmp_path):
    output = trained(template, tmp_path / "out", 500, 1000, 1500)
    (output / "checkpoint-1500" / "model.safetensors").unlink()  # the training was stopped while it was written
    refused(output, "folder", "is a Trainer's output, not one saved model", "are checkpoint-500, checkpoint-1000. Name")
    error = refused(output)
    assert str(error).endswith(f"Name one of them: {output}/checkpoint-1000.")
    assert same(opened(str(error).rpartition(": ")[2].rstrip(".")), template)  # the remedy helps


def test_a_model_at_the_top_wins_over_its_checkpoints(template, tmp_path):
    output = trained(template, tmp_path / "out", 500, 1000)
    shutil.copytree(template, output, dirs_exist_ok=True)
    assert opened(output).note == ""


def test_of_many_models_ten_are_named_and_the_rest_counted(template, tmp_path):
    for number in range(13):
        shutil.copytree(template, tmp_path / "zoo" / f"run{number}")
    shutil.copytree(template, tmp_path / "zoo" / "run0" / "checkpoint-500")  # a part of run0
    refused(tmp_path / "zoo", "folder", "is a folder of models", "In it are run3, run4", "run12 and 3 more")


def cached(template, hub, *commits):
    """As the Hub's cache holds a model: blobs, and snapshots of links to them."""
    root = hub / "models--some--tiny-bert"
    (root / "blobs").mkdir(parents=True)
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text(commits[-1])
    for file in template.iterdir():
        shutil.copy(file, root / "blobs" / f"blob-{file.name}")
        for commit in commits:
            link = root / "snapshots" / commit / file.name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(f"../../blobs/blob-{file.name}")
    return root


@pytest.mark.parametrize("named", [".", "models--some--tiny-bert", "models--some--tiny-bert/snapshots"])
def test_the_one_snapshot_in_the_hubs_cache_is_opened(template, tmp_path, named):
    root = cached(template, tmp_path / "hub", "a" * 40)
    encoder = opened(root.parent / named)
    assert encoder.note.endswith("a" * 40) and same(encoder, template)
    assert encoder.title == ("hub" if named == "." else "some/tiny-bert")
    assert opened(root / "snapshots" / ("a" * 40)).title == "some/tiny-bert"


def test_of_several_snapshots_each_is_named(template, tmp_path):
    root = cached(template, tmp_path, "a" * 40, "b" * 40)
    refused(root, "folder", "is the Hub's cache of some/tiny-bert", f"snapshots/{'a' * 40}, snapshots/{'b' * 40}.")


def peft(folder, **more):
    """What PEFT's save_pretrained writes."""
    folder.mkdir(parents=True)
    settings = {"peft_type": "LORA", "base_model_name_or_path": "bert-base-uncased", "r": 8, **more}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    save_file({"base_model.model.lora_A.weight": torch.zeros(8, 32)}, folder / "adapter_model.safetensors")
    return folder


@pytest.mark.parametrize("place", [".", "checkpoint-500"])
def test_an_adapter_is_named_with_its_base_and_the_remedy(tmp_path, place):
    peft(tmp_path / "tuned" / place)
    remedy = f"AutoPeftModel.from_pretrained({str(tmp_path / 'tuned' / place)!r}).merge_and_unload()"
    refused(tmp_path / "tuned", "adapter", "holds an adapter (LORA) for bert-base-uncased, not a whole model", remedy)


def test_an_old_sentence_transformers_folder_is_opened_with_its_pooling(template, tmp_path):
    steps = modules.Transformer(str(template), max_seq_length=32), modules.Pooling(32, "cls")
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    SentenceTransformer(modules=[*steps], device="cpu").save(str(tmp_path / "new"))
    assert (opened(tmp_path / "new").note, load_pooling(opened(tmp_path / "new")).mode) == ("", "cls")
    # Before version 2 (Reimers and Gurevych's own checkpoints): the model in a folder of its own, the top's config a version.
    old = tmp_path / "old"
    shutil.copytree(template, old / "0_Transformer")
    shutil.copytree(tmp_path / "new" / "1_Pooling", old / "1_Pooling")
    (old / "0_Transformer" / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 32}))
    (old / "config.json").write_text(json.dumps({"__version__": "0.2.0"}))
    paths = {"0_Transformer": "Transformer", "1_Pooling": "Pooling"}
    listed = [
        {"idx": i, "path": path, "type": f"sentence_transformers.models.{t}"}
        for i, (path, t) in enumerate(paths.items())
    ]
    (old / "modules.json").write_text(json.dumps(listed))
    encoder = opened(old)
    assert encoder.note == "opened: 0_Transformer" and same(encoder, template)
    assert (load_pooling(encoder).mode, load_pooling(encoder).max_tokens) == ("cls", 32)


def test_what_holds_no_saved_model_is_said(tmp_path):
    (tmp_path / "empty" / "logs").mkdir(parents=True)
    refused(tmp_path / "empty", "config", "has no config.json, and no folder in it is a saved model", "save_pretrained")


def test_a_whole_disk_is_not_searched(tmp_path, monkeypatch):
    monkeypatch.setattr("selfattn.encoders.folders.MOST_FOLDERS", 3)
    for number in range(4):
        (tmp_path / str(number)).mkdir()
    refused(tmp_path, "folder", "holds more than 3 folders. Name the one to open")


def test_nothing_outside_the_operators_folder_is_opened_by_way_of_one_inside(template, tmp_path, monkeypatch):
    shelf = tmp_path / "shelf"
    (shelf / "mine").mkdir(parents=True)
    (shelf / "mine" / "door").symlink_to(template)
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(shelf))
    refused("mine", "config", "no folder in it is a saved model")
    monkeypatch.delenv("SELFATTN_MODEL_DIR")
    assert opened(shelf / "mine").note == "opened: door"


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module.", "encoder.", "module._orig_mod.bert."])
def test_a_prefix_that_a_wrapper_left_is_named_and_the_remedy_helps(template, tmp_path, prefix):
    folder = shutil.copytree(template, tmp_path / "mine")
    file = folder / "model.safetensors"
    save_file({f"{prefix}{name}": tensor for name, tensor in load_file(file).items()}, file, {"format": "pt"})
    message = str(refused(folder, "weights", f"weights have {prefix!r} before the names"))
    remedy = message[message.index("save_file(") : message.rindex(".")]
    exec(remedy, {"save_file": save_file, "load_file": load_file, "file": file})
    assert same(opened(folder), template)


def test_shards_and_half_precision_as_save_pretrained_writes_them(template, tmp_path):
    model, tokenizer = AutoModel.from_pretrained(template), AutoTokenizer.from_pretrained(template)
    model.save_pretrained(tmp_path / "shards", max_shard_size="20KB")
    model.half().save_pretrained(tmp_path / "half")
    for kind in ("shards", "half"):
        tokenizer.save_pretrained(tmp_path / kind)
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 2 and same(opened(tmp_path / "shards"), template)
    half = opened(tmp_path / "half")
    assert half.dtype == "float32" and half.recomputable and half.digest != opened(template).digest
    torch.testing.assert_close(half.encode(TEXT).hidden, opened(template).encode(TEXT).hidden, atol=2e-2, rtol=0)


def test_a_path_is_a_folder_and_never_a_hub_id_and_a_model_is_none(template, monkeypatch):
    monkeypatch.chdir(template.parent)
    encoder = opened(Path("mine"))
    assert encoder.title == "mine" and encoder.digest == opened(template).digest
    with pytest.raises(LoadError, match=r"There is no folder '\./bert-base-uncased'"):
        opened(Path("bert-base-uncased"))
    with pytest.raises(
        LoadError, match=r"Expected a folder or a Hub id, got a BertModel\. Save a model with save_pretrained"
    ):
        load_encoder(encoder.model)


def test_big_birds_remedy_helps_and_i_bert_is_refused_by_its_config(tmp_path):
    bird = save_tiny(Family("BigBird", "big_bird", "unigram"), tmp_path / "bird")
    refused(bird, "attention", '"attention_type": "original_full" into its config.json')
    change_config(bird, attention_type="original_full")
    assert opened(bird).recomputable
    ibert = save_tiny(Family("I-BERT", "ibert", "bytes", {"pad_token_id": 1}), tmp_path / "ibert")
    refused(ibert, "encoder", "(ibert) computes in whole numbers", "Take the RoBERTa it was made from")
