"""Test which packages import which, and what `import selfattn` needs."""

import ast
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@cache
def imported(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_only_dashboard_imports_streamlit():
    for path in (ROOT / "selfattn").rglob("*.py"):
        assert "dashboard" in path.parts or "streamlit" not in {name.split(".")[0] for name in imported(path)}, path


# Packages and modules in import order: each imports only from earlier ones.
ROOMS = (
    "notebook_repr", "kernel_inputs", "kernel", "words", "settings", "examples", "encoders",
    "analysis", "senses", "check", "lessons", "stored_reports", "numbers", "tidy_tables", "scan", "charts",
    "panel", "views", "export", "notebook", "__main__", "dashboard", "pages", "app",
)  # fmt: skip


def room(module):
    parts = module.split(".")
    return parts[1] if parts[0] == "selfattn" and len(parts) > 1 else parts[0]


@cache
def modules():
    """Return, for each module, the modules of the project that it imports."""
    paths = [*(ROOT / "selfattn").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    found = {}
    for name, path in names.items():
        wanted = {next((n for n in (i, i.rpartition(".")[0]) if n in names), "") for i in imported(path)}
        # Leave out imports of parent packages, and of "selfattn", which imports lazily.
        found[name] = {n for n in wanted if n and n != name and not name.startswith(f"{n}.") and n != "selfattn"}
    return found


def test_no_package_imports_later_package():
    """Each package in ROOMS imports only from earlier ones. Imports inside functions count too."""
    back = [
        f"{name} imports {other}"
        for name, others in modules().items()
        if name != "selfattn"
        for other in others
        if ROOMS.index(room(other)) > ROOMS.index(room(name))
    ]
    assert not back, back


def test_imports_are_not_circular():
    graph = {name: others for name, others in modules().items() if name != "selfattn"}
    while leaves := [name for name, others in graph.items() if not others & graph.keys()]:
        graph = {name: others for name, others in graph.items() if name not in leaves}
    assert not graph, f"in an import cycle, or importing a module in a cycle: {sorted(graph)}"


def test_import_selfattn_needs_only_torch_and_transformers():
    code = "import sys\nfor name in ('streamlit', 'altair', 'vl_convert', 'sklearn'): sys.modules[name] = None\nimport selfattn"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_pages_folder_has_no_python_files():
    """Python files there would switch on Streamlit's legacy mode."""
    assert list((ROOT / "pages").glob("*.py")) == []


@pytest.mark.slow
def test_scripts_import_only_existing_names():
    """No other test runs these scripts."""
    for script in [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("docs/*.py")]:
        for name in imported(script):
            if name.split(".")[0] in ("selfattn", "benchmarks", "pages", "tests"):
                module, _, attribute = name.rpartition(".")
                assert not module or hasattr(import_module(module), attribute) or import_module(name), (script, name)
