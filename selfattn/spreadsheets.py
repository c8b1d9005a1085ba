"""Texts in a CSV that a spreadsheet would run as formulas: an apostrophe before each, which it takes as "this is text"."""

import re
from typing import Any

# How such a cell begins; behind apostrophes too, so that each text can be had back.
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def escaped(cell: Any) -> Any:
    """The cell of a CSV; what is no text, and what no spreadsheet runs, as it is."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def unescaped(cell: str) -> str:
    """The text of which `escaped` made the cell."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
