"""Fill the docs' generated parts: the tree (from the files' own first lines), the limits, the support table.

    python docs/readme.py            all parts but the support table
    python docs/readme.py --support  that too: it builds and proves a tiny encoder of every family, half a minute

`tests/test_docs.py` fails where the tree or the limits no longer stand in the docs as they are.
"""

import ast
import math
import subprocess
import sys
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

ROOT = Path(__file__).parents[1]
FILES = {"tree": "architecture.md", "limits": "operating.md", "support": "support.md"}  # in docs/
SHOWN = ("app.py", "pages/", "selfattn/", "benchmarks/", "deploy/", "docs/")


def tree() -> str:
    """A line a Python file, grouped by folder, each with the first sentence of its docstring."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    lines, folder = [], None
    for file in sorted(listed.stdout.split(), key=lambda name: (name.count("/") > 0, Path(name).parent.parts, name)):
        said = summary(ROOT / file)
        if not file.startswith(SHOWN) or not said:
            continue
        path = Path(file)
        if path.parent != folder:
            folder = path.parent
            lines.append(f"{folder.as_posix()}/" if folder != Path() else "./")
        lines.append(f"    {path.name:<24} {said}")
    return "```\n" + "\n".join(lines) + "\n```"


def summary(path: Path) -> str:
    """The first sentence of a module's docstring, without its full stop."""
    text = " ".join((ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n\n")[0].split())
    return text.split(". ")[0].rstrip(".")


def limits() -> str:
    """The operator's limits as a Markdown table."""
    from selfattn.settings import Settings, variable

    rows = [
        f"| `{variable(each.name)}` | {each.metadata['default']} | {each.metadata['meaning']} |"
        for each in fields(Settings)
    ]
    return "\n".join(["| Variable | Default | What it bounds |", "|---|---|---|", *rows])


def support() -> str:
    """The families, measured with the installed versions, as a Markdown table."""
    from selfattn.analysis.proof import support_table

    measured = f"Measured with transformers {version('transformers')} and torch {version('torch')}."
    return f"{support_rows(support_table())}\n\n{measured}"


def support_rows(table: "pandas.DataFrame") -> str:
    """The support table in Markdown."""
    lines = ["| Family | Support | From | Largest error | |", "|---|---|---|---|---|"]
    for row in table.to_dict("records"):
        error = "" if math.isnan(row["largest_error"]) else f"{row['largest_error']:.0e}"
        lines.append(f"| {row['family']} | {row['support']} | {row['from']} | {error} | {row['why']} |")
    return "\n".join(lines)


def filled(text: str, name: str, part: str) -> str:
    """The text with what stands between the markers of `name` replaced."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, rest = text.split(begin)
    return f"{before}{begin}\n{part}\n{end}{rest.split(end)[1]}"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    parts = {"tree": tree, "limits": limits} | ({"support": support} if "--support" in sys.argv else {})
    for name, make in parts.items():
        file = ROOT / "docs" / FILES[name]
        file.write_text(filled(file.read_text("utf-8"), name, make()), "utf-8")
