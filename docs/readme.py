"""Write the generated parts of the docs.

python docs/readme.py            write the file tree and the table of the operator's settings
python docs/readme.py --support  also write the support table, in half a minute
"""

import ast
import subprocess
import sys
import tempfile
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = {"tree": "architecture.md", "limits": "operating.md", "support": "support.md"}  # in docs/
SHOWN = ("app.py", "pages/", "selfattn/", "benchmarks/", "deploy/", "docs/")


def tree() -> str:
    """Return the list of Python files, with their docstrings' first sentences."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    lines, folder = [], None
    for file in sorted(listed.stdout.split(), key=lambda name: (name.count("/") > 0, Path(name).parent.parts, name)):
        sentence = summary(ROOT / file)
        if not file.startswith(SHOWN) or not sentence:
            continue
        path = Path(file)
        if path.parent != folder:
            folder = path.parent
            lines.append(f"{folder.as_posix()}/" if folder != Path() else "./")
        lines.append(f"    {path.name:<24} {sentence}")
    return "```\n" + "\n".join(lines) + "\n```"


def summary(path: Path) -> str:
    """Return the first sentence of a module's docstring."""
    text = " ".join((ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n\n")[0].split())
    return text.split(". ")[0].rstrip(".")


def limits() -> str:
    """Return the operator's settings as a Markdown table."""
    from selfattn.settings import Settings, variable

    rows = [
        f"| `{variable(each.name)}` | {each.metadata['default']} | {each.metadata['meaning']} |"
        for each in fields(Settings)
    ]
    return "\n".join(["| Variable | Default | Meaning |", "|---|---|---|", *rows])


def support() -> str:
    """Return a Markdown table of the model families.

    Largest error: the largest `same_inputs` or `separate_pass` (see `prove`) over three sentences and all heads.
    """
    from selfattn.encoders.families import FAMILIES, save_tiny

    rows = ["| Family | Support | Recomputed from | Largest error | Reason or note |", "|---|---|---|---|---|"]
    for name, family in FAMILIES.items():
        with tempfile.TemporaryDirectory() as folder:
            rows.append(f"| {name} | {' | '.join(supported(name, save_tiny(family, Path(folder))))} |")
    measured = f"Measured with transformers {version('transformers')} and torch {version('torch')}."
    return "\n".join([*rows, "", measured])


def supported(name: str, folder: Path) -> tuple[str, str, str, str]:
    """Load a checkpoint. Return its row of the table in docs/support.md, without the column Family."""
    import pandas as pd

    from selfattn.analysis.proof import prove
    from selfattn.encoders.errors import LoadError
    from selfattn.encoders.families import SENTENCES
    from selfattn.encoders.loading import load_source
    from selfattn.encoders.sources import Source

    try:
        encoder = load_source(Source(name=name, folder=folder))
    except LoadError as error:
        return "refused", "", "", str(error)
    if not encoder.recomputable:
        return "shown", "", "", encoder.reason
    proof = pd.concat([prove(encoder, text) for text in SENTENCES])
    source = "query, key, value" if proof["projections"].isna().any() else "layer input"
    return "recomputed", source, f"{proof[['same_inputs', 'separate_pass']].max().max():.0e}", encoder.note


def filled(text: str, name: str, part: str) -> str:
    """Put `part` between <!-- name --> and <!-- /name -->, in place of the old text."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, rest = text.split(begin)
    return f"{before}{begin}\n{part}\n{end}{rest.split(end)[1]}"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    parts = {"tree": tree, "limits": limits} | ({"support": support} if "--support" in sys.argv else {})
    for name, make in parts.items():
        file = ROOT / "docs" / FILES[name]
        file.write_text(filled(file.read_text("utf-8"), name, make()), "utf-8")
