"""A folder that nobody vouches for is opened in a process with bounds: what explodes is refused, and this process goes on."""

import base64
import contextlib
import itertools
import json
import os
import resource
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import pytest

from selfattn import LoadError, TextError, load_encoder
from selfattn.encoders import bounded_process, checkpoint, loading, tokenizer
from selfattn.encoders.bounded_process import BoundedProcess, Exceeded
from selfattn.encoders.heads_on_top import NoHead
from selfattn.encoders.masked_lm import load_masked_head
from tests.encoders.test_loading import change_config, refused

pytestmark = pytest.mark.slow

TEXTS = ("The bank of the river.", "naïve \U0001f3e6 x\u0301  bank's", "a")


@pytest.fixture
def folder(checkpoint, tmp_path):
    """folder("BERT") is a copy of that checkpoint, for a test to break."""
    return lambda name="BERT": shutil.copytree(checkpoint(name), tmp_path / "mine")


@pytest.fixture
def tight(monkeypatch):
    """Bounds that a bomb soon meets."""
    for name, value in {"PROBE_SECONDS": 6, "PROBE_MEGABYTES": 1000, "TEXT_SECONDS": 2}.items():
        monkeypatch.setenv(f"SELFATTN_{name}", str(value))


def change_tokenizer(folder, model=None, **parts):
    """Its file as it stands: the classes of some families would write these parts anew."""
    own = json.loads((folder / "tokenizer.json").read_text())["model"]
    change_config(folder, "tokenizer.json", **parts, model={**own, **(model or {})})
    change_config(folder, "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")


def holes(folder):
    """A file of a terabyte that takes no room."""
    with open(folder / "a.txt", "wb") as opened:
        opened.truncate(2**40)


def header(folder):
    """A shape whose product froze a server."""
    text = json.dumps({"a": {"dtype": "F32", "shape": [10**300] * 10_000, "data_offsets": [0, 16]}}).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(16))


def deep(folder):
    (folder / "tokenizer.json").write_text('{"a":' * 50_000 + "1" + "}" * 50_000)


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
DOUBLED = {"type": "Sequence", "normalizers": [BYTE_LEVEL] * 40}
SEQUENCE = [{"Sequence": {"id": "A", "type_id": 0}}] * 1_000_000
TEMPLATE = {"type": "TemplateProcessing", "single": SEQUENCE, "pair": SEQUENCE, "special_tokens": {}}
TABLE = base64.b64encode((1024).to_bytes(4, "little") + bytes(range(256)) * 4 + b"a" * 99 + b"\0").decode()
CHARSMAP = {"type": "Precompiled", "precompiled_charsmap": TABLE}
ONES = {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": "1"}, "content": "11"}] * 40}

GROWN = "took more (memory than it may|than 6 s)"


BOMBS = {
    "a normaliser that doubles 40 times": ("BERT", partial(change_tokenizer, normalizer=DOUBLED), GROWN),
    "a window of 20,000 tokens": ("Longformer", partial(change_config, attention_window=[20_000] * 3), GROWN),
    "a template of a million texts": ("BERT", partial(change_tokenizer, post_processor=TEMPLATE), GROWN),
    "merges dropped at random": ("RoBERTa", partial(change_tokenizer, model={"dropout": 0.5}), "in two ways"),
    "a normaliser that doubles ones": ("BERT", partial(change_tokenizer, normalizer=ONES), GROWN),
    "a table of characters that panics": ("XLM-R", partial(change_tokenizer, normalizer=CHARSMAP), "PanicException"),
    "a billion layers": ("BERT", partial(change_config, num_hidden_layers=10**9), GROWN),
    "a file of holes": ("BERT", holes, "more than 6 s"),
    "a shape beyond all numbers": ("BERT", header, "damaged"),
    "a file nested 50,000 deep": ("BERT", deep, "can't be loaded"),
}
LATE = {"a template of a million texts", "a billion layers"}  # as the normaliser, each takes all of its seconds


@pytest.mark.parametrize("bomb", [pytest.param(bomb, marks=pytest.mark.long if bomb in LATE else ()) for bomb in BOMBS])
def test_what_explodes_is_refused_in_words(folder, tight, bomb):
    family, lay, words = BOMBS[bomb]
    mine = folder(family)
    lay(mine)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(LoadError, match=words) as caught:
        load_encoder(str(mine))
    assert str(caught.value).count("\n") == 0
    if caught.value.kind == "probe":
        assert "SELFATTN_PROBE_SECONDS (now 6) and SELFATTN_PROBE_MEGABYTES (now 1,000)" in str(caught.value)
    assert time.monotonic() - started < 60  # the helper's own start among it, on a busy machine
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.parametrize("regex", ["(?#[)(a+)+$|(?#])x", "(?:(?:a*)*)*b"], ids=["in a comment", "in the open"])
def test_what_runs_away_over_some_text_only(folder, tight, regex):
    """It opens or is refused; a text is read, or is a TextError soon."""
    mine = folder()
    split = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
    change_tokenizer(mine, pre_tokenizer=split)
    with contextlib.suppress(LoadError):
        encoder = load_encoder(str(mine))
        for text in ("aa" * 3000 + "!", "ab" * 3000, "The bank."):
            started = time.monotonic()
            with contextlib.suppress(TextError):
                encoder.tokenize(text)
            assert time.monotonic() - started < 20


def test_a_tokeniser_that_is_slow_over_one_text_of_many_is_refused_and_one_that_cant_read_it_isnt(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(tokenizer.time, "monotonic", lambda: next(clock))
    monkeypatch.setenv("SELFATTN_TEXT_SECONDS", "1")

    def read(text, pair, most):
        if text.startswith("1,234.5"):
            next(clock)
        if text.startswith("Aa1"):
            raise ValueError("Aa1")

    with pytest.raises(LoadError, match=r"takes more than 1 s over a text of 1,400 characters \('1,234.51,234' ...\)"):
        tokenizer.try_out(SimpleNamespace(read=read), "mine")
    monkeypatch.setenv("SELFATTN_TEXT_SECONDS", "2")
    tokenizer.try_out(SimpleNamespace(read=read), "mine")


# --- what is found out, and where its tokeniser stays


@pytest.mark.parametrize("name", ["T5 (encoder half)", "Funnel"])
def test_what_the_process_finds_out_is_what_is_found_here(checkpoint, name):
    assert outcome(str(checkpoint(name))) == outcome(str(checkpoint(name)), trusted=True)


def outcome(path, **options):
    try:
        encoder = load_encoder(path, **options)
    except LoadError as error:
        return str(error)
    tokens = [vars(encoder.tokenize(*texts)) for texts in (*zip(TEXTS), (TEXTS[0], TEXTS[2]))]
    facts = [getattr(encoder, name) for name in (*loading.FACTS, "digest")]
    asked = encoder.tokenizer
    answers = asked.get_vocab(), asked.convert_ids_to_tokens([5, 6]), asked.decode([5])
    return facts, tokens, answers, encoder.encode(TEXTS[0]).hidden.tolist()


def test_a_folder_is_tried_once(checkpoint, monkeypatch):
    path, asked, call = str(checkpoint("BERT")), [], BoundedProcess.call
    load_encoder(path)
    monkeypatch.setattr(
        BoundedProcess, "call", lambda own, name, *rest, **how: asked.append(name) or call(own, name, *rest, **how)
    )
    half = load_encoder(path, dtype="float16")
    assert (half.dtype, half.recomputable, f"{loading.__name__}:probe" in asked) == ("float16", True, False)
    (checkpoint("BERT") / "tokenizer.json").touch()
    load_encoder(path)
    assert f"{loading.__name__}:probe" in asked


@pytest.mark.long
def test_where_nothing_forks_the_program_is_begun_for_each_folder(checkpoint, monkeypatch):
    expected = outcome(str(checkpoint("BERT")), trusted=True)
    loading._found.clear()
    monkeypatch.setattr(bounded_process, "FORKS", False)
    monkeypatch.setattr(bounded_process, "_helper", lambda *imports: pytest.fail("a helper that forks"))
    assert outcome(str(checkpoint("BERT"))) == expected


def test_a_text_beyond_its_bounds_is_one_visitors_matter(folder, monkeypatch):
    """The others' texts are read, in a process that was begun anew, and this one's threads go on meanwhile."""
    mine = folder()
    change_tokenizer(mine, {"max_input_chars_per_word": 10**9})
    monkeypatch.setenv("SELFATTN_TEXT_SECONDS", "60")
    encoder = load_encoder(str(mine))
    expected = vars(encoder.tokenize(TEXTS[0]))
    monkeypatch.setenv("SELFATTN_TEXT_SECONDS", "1")
    turns = 0
    with ThreadPoolExecutor(4) as pool:
        greedy, *others = [pool.submit(encoder.tokenize, text) for text in ("bank" * 50_000, *TEXTS[:1] * 3)]
        while not greedy.done():
            time.sleep(0.01)
            turns += 1
        with pytest.raises(TextError, match="it took more than 1 s"):
            greedy.result()
        assert [vars(each.result()) for each in others] == [expected] * 3
    assert turns > 20


@pytest.mark.parametrize("imports", [(), ("math",)], ids=["begun for it", "forked"])
def test_a_process_answers_calls_and_is_begun_anew_where_it_has_ended(imports):
    process = BoundedProcess(*imports)
    assert process.call("math:gcd", 12, 18, seconds=60) == 6
    assert process.call("os:urandom", 3, seconds=60) != process.call("os:urandom", 3, seconds=60)
    before = process.call("os:getpid", seconds=60)
    with pytest.raises(ValueError, match="math domain"):
        process.call("math:sqrt", -1, seconds=60)
    with pytest.raises(RuntimeError, match="nothing"):
        process.call("nothing:here", seconds=60)
    assert process.call("os:getpid", seconds=60) == before
    with pytest.raises(Exceeded, match=r"more than 0\.2 s"):
        process.call("time:sleep", 9, seconds=0.2)
    with pytest.raises(Exceeded, match="broke down"):
        process.call("os:abort", seconds=60)
    os.kill(process.call("os:getpid", seconds=60), signal.SIGKILL)
    if imports:
        helper = bounded_process._helper(imports)._process
        helper.kill()
        helper.wait()
    time.sleep(0.2)
    assert process.call("os:getpid", seconds=60) != before
    process.end()


def test_an_interrupted_call_leaves_no_answer_to_the_next(checkpoint):
    def stop(stage):
        raise KeyboardInterrupt

    loading._found.clear()
    with pytest.raises(KeyboardInterrupt):
        load_encoder(str(checkpoint("BERT")), report=stop)
    assert load_encoder(str(checkpoint("BERT"))).family == "bert"


# --- what was tried is what is loaded


def test_a_file_that_is_exchanged_and_put_back_while_it_is_read(folder, monkeypatch):
    """Its digest is the same before and after."""
    mine, read = folder(), tokenizer.AutoTokenizer.from_pretrained
    file, aside = mine / "tokenizer.json", mine.parent / "aside"

    def exchanged(*arguments, **options):
        file.rename(aside)
        file.write_text(aside.read_text().replace('"bank"', '"bunk"'))
        try:
            return read(*arguments, **options)
        finally:
            file.unlink()
            aside.rename(file)

    monkeypatch.setattr(tokenizer.AutoTokenizer, "from_pretrained", exchanged)
    refused(mine, "changed", "changed while it was read")


def test_files_that_change_after_the_load(folder, monkeypatch):
    mine = folder()
    change_tokenizer(mine, {"max_input_chars_per_word": 10**9})
    monkeypatch.setenv("SELFATTN_TEXT_SECONDS", "60")
    encoder = load_encoder(str(mine))
    for file in ("tokenizer.json", "config.json"):
        assert encoder.files[file] == checkpoint.file_digest(mine / file)
    change_tokenizer(mine, {"max_input_chars_per_word": 9})
    assert encoder.tokenize(TEXTS[0]).tokens  # its process has the one that was tried
    monkeypatch.setenv("SELFATTN_TEXT_SECONDS", "1")
    with pytest.raises(TextError, match="more than 1 s"):
        encoder.tokenize("bank" * 50_000)
    words = r"mine changed since it was loaded \(tokenizer.json\)"
    with pytest.raises(TextError, match=words):  # a new process would have another one
        encoder.tokenize(TEXTS[0])
    with pytest.raises(NoHead, match=words):
        load_masked_head(encoder)
