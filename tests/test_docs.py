"""Test the documentation."""

import importlib
import inspect
import os
import re
import runpy
import shlex
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

import selfattn
from selfattn import examples, load_encoder
from selfattn.__main__ import main
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.scan import read_scan
from selfattn.scan.__main__ import parser
from selfattn.settings import Settings, variable
from tests.encoders.test_folders import saved_embedder
from tests.test_layers import ROOMS

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("deploy/*.md")]
SNIPPETS = {
    page.relative_to(ROOT).as_posix(): re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    for page in PAGES
}
written = runpy.run_path(str(ROOT / "docs/readme.py"))
SENTENCES = """sentence,word,sense
The bank of the river.,bank,riverside
The bank approved the loan.,bank,finance
"""
REVIEWS = """sentence
The river was muddy after the rain.
She sat by the muddy river.
The bank approved the loan.
"""
CORPUS = "Rain fell. The bank of the river was muddy.\nThe bank approved the loan.\n"


@pytest.fixture
def folder(tmp_path, monkeypatch, encoder):
    """Write the files that the snippets need. Return a list that records calls of os.execve."""
    named = load_encoder(str(save_tiny(FAMILIES["DistilBERT"], tmp_path / "tiny", classes=("NEGATIVE", "POSITIVE"))))
    monkeypatch.chdir(tmp_path)
    Path("reviews.csv").write_text(REVIEWS)
    Path("sentences.csv").write_text(SENTENCES)
    Path("corpus.txt").write_text(CORPUS)
    Path("words.txt").write_text("bank\nriver\n")
    save_tiny(FAMILIES["BERT"], Path("path/to/folder"))
    saved_embedder(save_tiny(FAMILIES["BERT"], tmp_path / "template"), Path("my-embedder"))
    save_tiny(FAMILIES["BERT"], Path("my-reranker"), classes=("LABEL_0",))
    known = {(): encoder} | {(name,): load_encoder(name) for name in ("my-embedder", "my-reranker")}
    monkeypatch.setattr(selfattn, "load_encoder", lambda *name: known.get(name, named), raising=False)
    monkeypatch.setattr(examples, "PAIRS", examples.PAIRS[:1])
    started = []
    monkeypatch.setattr(os, "execve", lambda *arguments: started.append(arguments))
    monkeypatch.setattr("selfattn.__main__._free_port", int)  # another server may use the port on this machine
    return started


@pytest.mark.slow
@pytest.mark.parametrize("page", [name for name, found in SNIPPETS.items() if found])
def test_every_snippet_runs(page, folder, encoder):
    names: dict = {}
    for kind, text in SNIPPETS[page]:
        if kind == "python":
            if "duckdb" in text and os.environ.get("CI") != "true":
                pytest.importorskip("duckdb")
            exec(compile(text, page, "exec"), names)
        else:
            assert kind == "sh", f"{page}: this test can't run {kind}"
            for line in text.replace("\\\n", " ").splitlines():
                run(shlex.split(line, comments=True), folder)
    if page == "docs/notebook.md":
        check_class(names["classes"])
        theirs = names["model"].similarity(*names["model"].encode(names["texts"])).item()
        assert names["found"].cosine == pytest.approx(theirs, abs=1e-5)
    if page == "docs/scan.md":
        check_queries(names, encoder)


def check_class(report):
    words, heads = report.words.set_index("word"), report.heads.dropna()
    assert words.loc[["the", "river", "muddy", "loan"], "n"].tolist() == [3, 2, 2, 1]
    assert words.loc["the", "low"] < words.loc["the", "effect"] < words.loc["the", "high"] and {*heads["n"]} == {3}


def check_queries(names, encoder):
    """Check the results of the snippets in docs/scan.md. names: the variables that the snippets set."""

    def top(text):
        encoding = encoder.encode(text)
        own = encoder.reference_weights(text)[0, 10, [word.text for word in encoding.words].index("bank") + 1]
        return max((own[list(word.positions)].sum().item(), word.text) for word in encoding.words)

    river, loan = (top(text) for text in ("The bank of the river.", "The bank approved the loan."))
    answers = names["duckdb_says"].set_index("sense")
    for sense, (weight, word) in (("riverside", river), ("finance", loan)):
        assert names["pandas_says"]["bank", sense, word] == answers["n"][sense] == 1 and answers["top"][sense] == word
        assert answers["weight"][sense] == pytest.approx(weight, abs=1e-5)
    muddy = top("Rain fell. The bank of the river was muddy.")
    rows = names["found"].to_dict("records")
    assert [(row["row"], row["start"], row["top"]) for row in rows] == [(0, 15, muddy[1]), (1, 4, loan[1])]
    assert [row["weight"] for row in rows] == pytest.approx([muddy[0], loan[0]], abs=0.0051)
    many = read_scan("many").frame()
    assert many["word"].tolist() == ["bank", "river", "bank"] and many["top_weight"].map(len).tolist() == [72] * 3
    page = (ROOT / "docs/scan.md").read_text("utf-8")
    printed = re.findall(r"^\| ([a-z ]+) \| (\w+) \| (\d+) \| (0\.\d{3}) \| (.+) \|$", page, re.M)
    answer = names["answer"].reset_index()
    assert [(*row[:3], row[4]) for row in printed] == [
        *zip(answer["sense"], answer["source"], answer["n"].astype(str), answer["example"])
    ]
    assert [float(row[3]) for row in printed] == pytest.approx(answer["move"].tolist(), abs=0.00051)
    assert len(printed) == 6


def run(command: list[str], started: list) -> None:
    """Run a snippet's command. For `make`, `pip` and scans of absent files, only check the arguments."""
    while command and "=" in command[0]:
        command = command[1:]
    match command:
        case []:
            pass
        case ["selfattn", "scan", source, *_] if not Path(source).exists():
            parser("selfattn scan").parse_args(command[2:])
        case ["selfattn", "scan" | "site", *_]:
            assert main(command[1:]) == 0
        case ["selfattn", *arguments]:
            before = len(started)
            main(arguments)
            assert len(started) == before + 1
        case ["make", target]:
            subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
        case ["pip", "install", *arguments]:  # tests/deploy/test_wheel.py installs the project
            for name in arguments:
                assert name.startswith("-") or (ROOT / name).exists()
        case _:
            raise AssertionError(f"this test can't run {command}")


def public(module: str) -> set[str]:
    """Return the names in a module's __all__, or else its own public functions and classes."""
    found = importlib.import_module(module)
    own = {
        name
        for name, value in vars(found).items()
        if (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == module and name[0] != "_"
    }
    return set(getattr(found, "__all__", own))


def test_notebook_page_lists_public_names():
    text = (ROOT / "docs/notebook.md").read_text("utf-8").split("## Every public name")[1]
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", text, re.M))
    assert "selfattn" in rows and len(rows) >= 6
    for module, names in rows.items():
        assert set(re.findall(r"`(\w+)`", names)) == public(module), module
        for name in public(module):
            assert inspect.getdoc(getattr(importlib.import_module(module), name)), name


@pytest.mark.parametrize("page", [name for name in SNIPPETS if name != "CHANGELOG.md"])
def test_names_from_selfattn_in_docs_exist(page):
    for name in re.findall(r"\bselfattn(?:\.[A-Za-z_]\w*)+", (ROOT / page).read_text("utf-8")):
        found, *parts = importlib.import_module("selfattn"), *name.split(".")[1:]
        for part in parts:
            if not hasattr(found, part):
                importlib.import_module(f"{found.__name__}.{part}")
            found = getattr(found, part)


@pytest.mark.parametrize("part", ["tree", "limits"])
def test_generated_docs_are_current(part):
    assert written[part]() in (ROOT / "docs" / written["FILES"][part]).read_text("utf-8"), "run python docs/readme.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_linked_files_exist(page):
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_architecture_page_is_current():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert tuple(re.findall(r"^\| `(?:selfattn/)?(\w+)(?:\.py|/)` \|", text, re.M)) == ROOMS
    named = re.findall(r"`((?:selfattn|pages|tests|docs)/[a-z_./]*|[a-z]+\.py)`", text)
    assert named and all((ROOT / name).exists() or name == "page.py" for name in named)


def test_documented_variables_are_settings():
    known = {variable(field.name) for field in fields(Settings)}
    documents = [page for page in PAGES if page.name != "CHANGELOG.md"]  # CHANGELOG.md also names removed variables
    for file in [*documents, *ROOT.glob("deploy/*"), ROOT / ".streamlit/config.toml"]:
        assert set(re.findall(r"SELFATTN_[A-Z_]+[A-Z]", file.read_text("utf-8"))) <= known, file


def test_readme_has_pinned_versions():
    pins = dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements.txt").read_text("utf-8"), re.M))
    for package in ("torch", "streamlit", "transformers"):
        assert {*re.findall(rf"{package}(?: |==)(\d[\d.]*\d)", (ROOT / "README.md").read_text("utf-8"))} == {
            pins[package]
        }
