"""The one writer of CSV: no cell begins a new row, and none is run by a spreadsheet as a formula.

An apostrophe before such a text says "this is text" to a spreadsheet. Cells with a line break of any kind stand in quotation
marks. (OWASP, "CSV Injection")
"""

import re
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

# How such a cell begins: full-width and small signs too, after spaces and controls too; behind apostrophes as well, so that
# each text can be had back.
SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
FORMULA = re.compile(rf"'*(?:[\t\r\n]|[\s\0-\x1f\ufeff]*[{SIGNS}])")


def csv_text(frame: pd.DataFrame, header: bool = True) -> str:
    """A table as CSV, lines ending in CR LF (RFC 4180). Numbers stay numbers; no value is an empty cell."""
    # As plain objects: pandas' own kind of text takes no half of a surrogate pair.
    others = [name for name, column in frame.items() if not is_numeric_dtype(column)]
    texts = {name: pd.Series(map(escaped, frame[name]), frame.index, dtype=object) for name in others}
    # Python's writer puts marks around a cell only for the characters of its own line ends: with LF alone, not for a CR.
    table = frame.assign(**texts).rename(columns=escaped)
    return table.to_csv(index=False, header=header, lineterminator="\r\n")


def escaped(cell: Any) -> Any:
    """The cell of a CSV; what is no text, and what no spreadsheet runs, as it is."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def unescaped(cell: str) -> str:
    """The text of which `escaped` made the cell."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
