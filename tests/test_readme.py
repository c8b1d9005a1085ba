"""What the README says about the project is what the project is."""

import re
import runpy
from dataclasses import fields
from pathlib import Path

import pytest

from selfattn.settings import Settings, variable
from tests.test_layers import ROOMS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("deploy/*.md")]
docs = runpy.run_path(str(ROOT / "docs/readme.py"))


@pytest.mark.parametrize("part", ["tree", "limits"])
def test_generated_parts_are_current(part):
    assert docs[part]() in (ROOT / "docs" / docs["FILES"][part]).read_text("utf-8"), "run python docs/readme.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_file_that_is_linked_exists(page):
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_the_architecture_names_the_rooms_in_order_and_files_that_exist():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    road = re.findall(r"^\| `(?:selfattn/)?(\w+)(?:\.py|/)` \|", text, re.M)
    assert tuple(road) == ROOMS
    named = [
        name for name in re.findall(r"`((?:selfattn|pages|tests|docs)/[^`]*|[a-z]+\.py)`", text) if name == name.lower()
    ]
    assert len(named) > 40
    for name in named:
        assert (ROOT / name).exists() or name == "page.py", name


def test_names_that_the_architecture_points_at_are_in_the_file_beside_them():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    pairs = re.findall(r"`([A-Za-z_.]+)`[^`(]*\(`(\w[\w/]+\.py)`", text)
    pairs += re.findall(r"`(\w+)` of `(\w[\w/]+\.py)`", text)
    assert len(pairs) > 8
    for name, file in pairs:
        assert name.rsplit(".")[-1] in (ROOT / file).read_text("utf-8"), (name, file)


def test_every_variable_that_is_named_anywhere_is_a_setting():
    known = {variable(field.name) for field in fields(Settings)}
    for file in [*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("deploy/*"), ROOT / ".streamlit/config.toml"]:
        if file.is_file() and file.name != "RESULTS.md":  # results keep the words of their day
            assert set(re.findall(r"SELFATTN_[A-Z_]+[A-Z]", file.read_text("utf-8"))) <= known, file


def test_the_suite_and_the_cluster_test_are_asked_for_unconditionally():
    lines = (ROOT / ".ci/run").read_text("utf-8").splitlines()
    assert "set -euo pipefail" in lines and {"make test", "make test-held-back", "make test-ray"} <= {*lines}


def test_pinned_versions_are_named_as_they_are_pinned():
    pins = dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements.txt").read_text("utf-8"), re.M))
    for package in ("torch", "streamlit", "transformers"):
        assert set(re.findall(rf"{package}(?: |==)(\d[\d.]*\d)", README)) == {pins[package]}
