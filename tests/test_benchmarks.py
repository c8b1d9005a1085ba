"""Benchmarks and the scripts of docs/ aren't run by the tests: what they import from the project is there."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("docs/*.py")])
OURS = ("selfattn", "benchmarks", "pages", "tests")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_what_is_imported_from_the_project_is_there(script):
    """Imports inside functions too."""
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in OURS:
            module = import_module(node.module)
            for name in node.names:
                assert hasattr(module, name.name) or import_module(f"{node.module}.{name.name}"), name.name
