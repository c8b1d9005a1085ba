"""Imports go one way, only the dashboard imports streamlit, and `import selfattn` needs torch and transformers only."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = sorted(p for p in (ROOT / "selfattn").rglob("*.py") if "dashboard" not in p.parts)


def imported(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", LIBRARY, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_library_knows_nothing_of_streamlit_or_the_dashboard(path):
    roots = imported(path)
    assert not any(name.split(".")[0] == "streamlit" for name in roots)
    assert not any(name.startswith("selfattn.dashboard") for name in roots)


ORDER = {
    "kernel": set(),
    "words": set(),
    "theme": set(),
    "encoding": {"kernel", "capture", "words"},
    "capture": {"kernel"},
    "encoder": {"kernel", "capture", "encoding", "words"},
    "measures": {"kernel", "capture", "encoding", "encoder", "words"},
    "charts": {"theme", "vega_words"},
}


@pytest.mark.parametrize("module", ORDER)
def test_imports_go_one_way(module):
    found = {n.split(".")[1] for n in imported(ROOT / f"selfattn/{module}.py") if n.startswith("selfattn.")}
    assert found <= ORDER[module]


def test_import_selfattn_needs_torch_and_transformers_only():
    code = "import sys\nfor name in ('streamlit', 'altair', 'vl_convert', 'sklearn'): sys.modules[name] = None\nimport selfattn"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_page_stands_directly_in_pages():
    """Files there switch on Streamlit's legacy mode, which runs a page without app.py."""
    assert list((ROOT / "pages").glob("*.py")) == []
