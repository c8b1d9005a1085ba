"""Folders saved by Trainer, PEFT or sentence-transformers can be opened, or an error names a remedy."""

import json
import logging
import shutil
from pathlib import Path

import pytest
import torch
from peft import AutoPeftModel, LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder, MultiVectorEncoder, SentenceTransformer, SparseEncoder
from sentence_transformers.sentence_transformer import modules
from sentence_transformers.util import import_from_string
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

from selfattn import LoadError, TextError, load_encoder
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.families import FAMILIES, Family, save_tiny
from selfattn.encoders.pooling import TYPES, NoPooling, load_pooling
from tests.encoders.test_loading import change_config, refused

pytestmark = pytest.mark.slow

TEXT = "the bank of the river"
# Settings files of sentence-transformers.
WHOLE, STEP = "config_sentence_transformers.json", "sentence_bert_config.json"


@pytest.fixture(scope="session")
def template(checkpoint):
    return checkpoint("BERT")


def same(encoder, template):
    return torch.equal(encoder.encode(TEXT).hidden, load_encoder(template).encode(TEXT).hidden)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    root = tmp_path_factory.mktemp("trained")
    start = save_tiny(FAMILIES["BERT"], root / "start", classes=("BAD", "GOOD"))
    tokenizer, model = AutoTokenizer.from_pretrained(start), AutoModelForSequenceClassification.from_pretrained(start)
    rows = [{**tokenizer(TEXT), "label": label} for label in (0, 1)]
    settings = TrainingArguments(
        root / "out", max_steps=1, save_steps=1, use_cpu=True, report_to="none", disable_tqdm=True, logging_steps=1
    )
    Trainer(model, settings, train_dataset=rows, processing_class=tokenizer).train()
    return root / "out"


def test_single_trainer_checkpoint_is_opened(trained):
    assert {"optimizer.pt", "trainer_state.json", "training_args.bin"} <= {f.name for f in trained.glob("*/*")}
    encoder = load_encoder(trained)
    assert (encoder.title, encoder.note) == ("out", "opened: checkpoint-1")
    assert same(encoder, trained / "checkpoint-1") and load_class_head(encoder).labels == ("BAD", "GOOD")


def test_error_proposes_last_checkpoint(template, tmp_path):
    output = tmp_path / "out"
    for step in range(1, 12):
        shutil.copytree(template, output / f"checkpoint-{step}")
    (output / "checkpoint-11" / "model.safetensors").unlink()  # as if training had stopped here
    error = refused(output, "a Trainer's output with several saved models", "checkpoint-1, checkpoint-2, check")
    assert str(error).endswith(f"Open one of them: {output}/checkpoint-10.")
    assert same(load_encoder(str(error).rpartition(": ")[2].rstrip(".")), template)  # the remedy works
    shutil.copytree(template, output, dirs_exist_ok=True)
    assert load_encoder(output).note == ""


def test_error_lists_ten_models(template, tmp_path):
    for number in range(13):
        shutil.copytree(template, tmp_path / "zoo" / f"run{number}")
    shutil.copytree(template, tmp_path / "zoo" / "run0" / "checkpoint-500")  # belongs to run0
    refused(tmp_path / "zoo", "is a folder of models with several saved models: run3, run4", "run12 and 3 more")


def cached(template, hub, *commits):
    """Copy a model into a folder laid out like the Hub's cache, with a snapshot for each commit."""
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
def test_single_snapshot_in_cache_is_opened(template, tmp_path, named):
    root = cached(template, tmp_path / "hub", "a" * 40)
    encoder = load_encoder(root.parent / named)
    assert encoder.note.endswith("a" * 40) and same(encoder, template)
    assert encoder.title == ("hub" if named == "." else "some/tiny-bert")
    assert load_encoder(root / "snapshots" / ("a" * 40)).title == "some/tiny-bert"


def test_error_lists_snapshots_in_cache(template, tmp_path):
    root = cached(template, tmp_path, "a" * 40, "b" * 40)
    refused(root, "is the Hub's cache of some/tiny-bert", f"snapshots/{'a' * 40}, snapshots/{'b' * 40}.")


@pytest.mark.parametrize("place", [".", "checkpoint-500"])
def test_adapter_error_has_working_remedy(template, tmp_path, place):
    adapted = get_peft_model(AutoModel.from_pretrained(template), LoraConfig(r=2, target_modules=["query", "value"]))
    for name, weights in adapted.named_parameters():
        torch.nn.init.normal_(weights) if "lora_B" in name else None  # a new adapter is zero
    adapted.save_pretrained(tmp_path / "tuned" / place)
    remedy = f"AutoPeftModel.from_pretrained({str(tmp_path / 'tuned' / place)!r}).merge_and_unload()"
    refused(tmp_path / "tuned", f"is an adapter (LORA) for {template}, not a complete model", remedy)
    merged = eval(remedy, {"AutoPeftModel": AutoPeftModel})
    merged.save_pretrained(tmp_path / "merged")
    AutoTokenizer.from_pretrained(template).save_pretrained(tmp_path / "merged")
    encoder = load_encoder(tmp_path / "merged")
    assert not same(encoder, template)
    with torch.no_grad():
        states = adapted.eval()(**encoder.inputs([encoder.encode(TEXT)])).last_hidden_state[0]
    torch.testing.assert_close(encoder.encode(TEXT).states[-1], states, atol=1e-5, rtol=0)


def saved_embedder(template, folder, mode="mean", more=()):
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    steps = [modules.Transformer(str(template)), modules.Pooling(32, mode), *more]
    SentenceTransformer(modules=steps, device="cpu").save(str(folder))
    return folder


def old_layout(folder):
    """Convert a folder to an old layout of sentence-transformers."""
    (folder / "0_Transformer").mkdir()
    for file in [file for file in folder.iterdir() if file.is_file() and file.name != "modules.json"]:
        file.rename(folder / "0_Transformer" / file.name)
    paths = ("0_Transformer", "1_Pooling", "2_Normalize")
    steps = [{"name": p[0], "path": p, "type": f"sentence_transformers.models.{p[2:]}"} for p in paths]
    (folder / "modules.json").write_text(json.dumps(steps))
    (folder / "config.json").write_text('{"__version__": "0.2.0"}')
    change_config(folder / "0_Transformer", STEP, max_seq_length=8)


def cut_in_an_old_file(folder):
    (folder / STEP).unlink()
    (folder / "sentence_roberta_config.json").write_text('{"max_seq_length": 8}')


def cut_by_tokenizer_args(folder):
    change_config(folder, STEP, max_seq_length=16, tokenizer_args={"model_max_length": 8})


def cut_in_the_tokenisers_file(folder):
    change_config(folder, "tokenizer_config.json", model_max_length=8)


@pytest.mark.parametrize(
    ("family", "mode", "change"),
    [
        ("BERT", "mean", None),
        ("RoBERTa", "cls", None),
        ("XLM-R", "lasttoken", None),
        ("MPNet", "mean_sqrt_len_tokens", None),
        ("BERT", "mean", cut_in_the_tokenisers_file),
        ("ELECTRA", "mean", cut_in_an_old_file),
        ("DistilBERT", "mean", cut_by_tokenizer_args),
        ("BERT", "cls", old_layout),
    ],
)
def test_vectors_equal_those_of_sentence_transformers(family, mode, change, checkpoint, tmp_path):
    folder = saved_embedder(checkpoint(family), tmp_path / "mine", mode, [modules.Normalize()])
    if change:
        change(folder)
    theirs, encoder = SentenceTransformer(str(folder), device="cpu"), load_encoder(folder)
    pooling = load_pooling(encoder)
    assert encoder.note == ("opened: 0_Transformer" if change is old_layout else "")
    for text in (TEXT, "She sat"):
        encoding = encoder.encode(text)
        vector = encoding.vector(encoder.n_layers, pooling.positions(encoding))
        expected = theirs.encode(text, convert_to_tensor=True)
        torch.testing.assert_close(torch.nn.functional.normalize(vector, dim=0), expected, atol=1e-5, rtol=0)
    most = min(pooling.max_tokens or encoder.max_tokens, encoder.max_tokens)
    assert most == min(theirs.max_seq_length, encoder.max_tokens)
    if change:
        with pytest.raises(TextError, match=r"has 9 tokens.*reads (at most )?8"):
            pooling.positions(encoder.tokenize(f"{TEXT} by water"))


CHANGES = [
    ("max", "max", (), WHOLE, {}),
    ("weightedmean", "weightedmean", (), WHOLE, {}),
    ("cls and mean", ("cls", "mean"), (), WHOLE, {}),
    ("dense.Dense", "mean", (modules.Dense(32, 8),), WHOLE, {}),
    ("layer_norm.LayerNorm", "mean", (modules.LayerNorm(32),), WHOLE, {}),
    ("default_prompt_name", "mean", (), WHOLE, {"prompts": {"x": "the rain "}, "default_prompt_name": "x"}),
    ("truncate_dim", "mean", (), WHOLE, {"truncate_dim": 8}),
    ("config_args", "mean", (), STEP, {"config_args": {"hidden_act": "relu"}}),
    ("do_lower_case", "mean", (), STEP, {"do_lower_case": True}),
]


@pytest.mark.parametrize(("name", "mode", "more", "file", "values"), CHANGES, ids=[each[0] for each in CHANGES])
def test_unsupported_sentence_vector_settings_are_refused(name, mode, more, file, values, checkpoint, tmp_path):
    plain = saved_embedder(checkpoint("RoBERTa"), tmp_path / "plain")
    folder = saved_embedder(checkpoint("RoBERTa"), tmp_path / "mine", mode, more)
    change_config(folder, file, **values)
    one, other = (SentenceTransformer(str(each), device="cpu").encode("The Bank") for each in (plain, folder))
    assert one.shape != other.shape or abs(one - other).max() > 1e-3
    assert load_pooling(load_encoder(plain)).mode == "mean"
    with pytest.raises(NoPooling, match=name):
        load_pooling(load_encoder(folder))


@pytest.mark.parametrize("name", TYPES)
def test_module_types_exist_in_sentence_transformers(name):
    assert import_from_string(name) is getattr(modules, TYPES[name])


def test_broken_config_of_outer_folder_is_refused(template, tmp_path):
    shutil.copytree(template, tmp_path / "mine" / "checkpoint-1")
    (tmp_path / "mine" / "config.json").write_text("{")
    error = refused(tmp_path / "mine", "config.json can't be read as JSON")
    assert same(load_encoder(str(error).rpartition(": ")[2].rstrip(".")), template)  # the remedy works


def test_number_of_inner_folders_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr("selfattn.encoders.folders.MOST_FOLDERS", 3)
    for number in range(3):
        (tmp_path / str(number)).mkdir()
    refused(tmp_path, "so it isn't a saved model")
    (tmp_path / "3").mkdir()
    refused(tmp_path, "contains more than 3 folders. Give the path of a saved model")


def test_symlink_out_of_model_dir_is_not_opened(template, tmp_path, monkeypatch):
    shelf = tmp_path / "shelf"
    (shelf / "mine").mkdir(parents=True)
    (shelf / "mine" / "door").symlink_to(template)
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(shelf))
    refused("mine", "so it isn't a saved model")
    monkeypatch.delenv("SELFATTN_MODEL_DIR")
    assert load_encoder(shelf / "mine").note == "opened: door"


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module.", "encoder.", "module._orig_mod.bert."])
def test_suggested_code_removes_prefix_from_weight_names(template, folder, prefix):
    file = folder / "model.safetensors"
    save_file({f"{prefix}{name}": tensor for name, tensor in load_file(file).items()}, file, {"format": "pt"})
    message = str(refused(folder, f"their names begin with {prefix!r}"))
    remedy = message[message.index("save_file(") : message.rindex(".")]
    exec(remedy, {"save_file": save_file, "load_file": load_file, "file": file})
    assert same(load_encoder(folder), template)


def test_sharded_and_half_precision_models_are_opened(template, tmp_path):
    model, tokenizer = AutoModel.from_pretrained(template), AutoTokenizer.from_pretrained(template)
    model.save_pretrained(tmp_path / "shards", max_shard_size="20KB")
    model.half().save_pretrained(tmp_path / "half")
    for kind in ("shards", "half"):
        tokenizer.save_pretrained(tmp_path / kind)
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 2
    assert same(load_encoder(tmp_path / "shards"), template)
    half = load_encoder(tmp_path / "half")
    assert half.dtype == "float32" and half.recomputable and half.digest != load_encoder(template).digest
    torch.testing.assert_close(half.encode(TEXT).hidden, load_encoder(template).encode(TEXT).hidden, atol=2e-2, rtol=0)


def test_path_object_is_never_read_as_hub_id(template, monkeypatch):
    monkeypatch.chdir(template.parent)
    encoder = load_encoder(Path("bert"))
    assert encoder.title == "bert" and encoder.digest == load_encoder(template).digest == load_encoder("bert").digest
    with pytest.raises(LoadError, match=r"There is no folder '\./bert-base-uncased'"):
        load_encoder(Path("bert-base-uncased"))
    with pytest.raises(LoadError, match=r"got a BertModel\. Save model and tokeniser with save_pretrained"):
        load_encoder(encoder.model)


def test_big_bird_opens_with_full_attention(tmp_path):
    bird = save_tiny(Family("BigBird", "big_bird", "unigram"), tmp_path / "bird")
    refused(bird, '"attention_type": "original_full" in its config.json')
    change_config(bird, attention_type="original_full")
    assert load_encoder(bird).recomputable
    ibert = save_tiny(Family("I-BERT", "ibert", "bytes", {"pad_token_id": 1}), tmp_path / "ibert")
    refused(ibert, "(ibert) computes attention with integers", "Choose the original RoBERTa")


def test_note_warns_of_cased_vocabulary(folder):
    encoder = load_encoder(folder)
    pieces = sorted(encoder.tokenizer.get_vocab(), key=encoder.tokenizer.get_vocab().get)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    (folder / "vocab.txt").write_text("\n".join(pieces))
    assert load_encoder(folder).note == ""
    (folder / "vocab.txt").write_text("\n".join(["The" if piece == "?" else piece for piece in pieces]))
    lower = load_encoder(folder)
    assert "although vocab.txt has capital letters ('The')" in lower.note
    assert lower.encode("The bank").tokens == ("[CLS]", "the", "bank", "[SEP]")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')  # the remedy in the note
    cased = load_encoder(folder)
    assert (cased.note, cased.encode("The bank").tokens) == ("", ("[CLS]", "The", "bank", "[SEP]"))


LATE = "Without a Pooling step there is no sentence vector"


@pytest.mark.parametrize(
    ("kind", "head", "message"),
    [
        (MultiVectorEncoder, {}, f"dense.Dense, .*MultiVectorMask, Normalize in .* {LATE}"),
        (SparseEncoder, {"masked_head": True}, "the steps Transformer, .*SpladePooling in modules.json. Expected"),
        (
            CrossEncoder,
            {"classes": ("LABEL_0",)},
            "A cross-encoder computes a score for two texts, not a sentence vector",
        ),
    ],
)
def test_model_without_sentence_vector_is_refused(kind, head, message, tmp_path):
    tiny = save_tiny(FAMILIES["BERT"], tmp_path / "tiny", **head)
    kind(str(tiny), device="cpu").save_pretrained(str(tmp_path / "mine"))
    with pytest.raises(NoPooling, match=message):
        load_pooling(load_encoder(tmp_path / "mine"))


def routed(template):
    routes = [[modules.Transformer(str(template)), modules.Pooling(32, "mean")] for _ in range(2)]
    return modules.Router.for_query_document(*routes)


def static(template):
    return modules.StaticEmbedding(AutoTokenizer.from_pretrained(template), embedding_dim=32)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            routed,
            r"is a sentence-transformers folder with several saved models: document_0_Transformer, query_0_Transformer\. Open",
        ),
        (static, "has no config.json, so it isn't a saved model"),
    ],
)
def test_folder_without_exactly_one_encoder_is_refused(made, message, template, tmp_path):
    SentenceTransformer(modules=[made(template)], device="cpu").save(str(tmp_path / "mine"))
    with pytest.raises(LoadError, match=message):
        load_encoder(tmp_path / "mine")
