"""The one writer of CSV: a cell is one cell for every reader, none is run as a formula, and each text can be had back."""

import ast
import csv
import io
from pathlib import Path

import pandas as pd

from selfattn.tidy_tables import csv_text, unescaped

ROOT = Path(__file__).parents[1]
FORMULAS = [
    "=HYPERLINK(1)", "+1", "-1", "-", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\nbank", " =1", "\u00a0 +1", "\0=1", "\ufeff=1",
    "\uff1d1", "\uff0b1", "\uff0d1", "\uff20SUM(A1)", "\n\uff1d1", "\ufe66\u200b1", "'=1", "''=1", "'\n=1",
]  # fmt: skip
PLAIN = ["bank", "a-b", "1 = 1", "'tis", "", "bank\r=1+1", "bank\n=1+1", 'a "b", c', "\r\n".join("ab"), "\u2212 1"]


def read_back(text: str) -> list[list[str]]:
    """By a reader to which a lone CR, a lone LF and both together end a line, as to spreadsheets."""
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_each_cell_is_one_cell_and_only_what_would_run_is_escaped():
    texts = [*FORMULAS, *PLAIN]
    frame = pd.DataFrame({"=name": texts, "n": [-0.5] * len(texts), "mixed": [-1, "-1", None, 2.5, *texts[4:]]})
    header, *rows = read_back(csv_text(frame))
    assert header == ["'=name", "n", "mixed"]
    assert [row[0] for row in rows] == [f"'{text}" for text in FORMULAS] + PLAIN
    assert [unescaped(row[0]) for row in rows] == texts
    assert {row[1] for row in rows} == {"-0.5"}  # a number stays one
    assert [row[2] for row in rows[:4]] == ["-1", "'-1", "", "2.5"]
    assert read_back(csv_text(frame, header=False)) == rows


def test_nothing_else_writes_csv():
    """The stored reports are the project's own numbers, in files that a checkout holds and only it reads."""
    writes = {
        str(path.relative_to(ROOT))
        for path in [*(ROOT / "selfattn").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if getattr(node, "attr", getattr(node, "name", None))
        in ("to_csv", "writer", "DictWriter", "savetxt", "write_csv")
    }
    assert writes == {"selfattn/tidy_tables.py", "selfattn/stored_reports.py"}
