"""What the README says about the project is what the project is."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
docs = runpy.run_path(str(ROOT / "docs/readme.py"))


@pytest.mark.parametrize("part", ["tree", "limits"])
def test_generated_parts_are_current(part):
    assert docs[part]() in README, "run python docs/readme.py"


def test_every_file_that_is_linked_exists():
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", README):
        assert (ROOT / target).exists(), target


def test_the_two_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for command in ("run", "test"):
        assert f"make {command}" in README
        assert re.search(rf"^{command}:", makefile, re.M)


def test_pinned_versions_are_named_as_they_are_pinned():
    pins = dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements.txt").read_text("utf-8"), re.M))
    for package in ("torch", "streamlit", "transformers"):
        assert f"{package} {pins[package]}" in README or f"{package}=={pins[package]}" in README
