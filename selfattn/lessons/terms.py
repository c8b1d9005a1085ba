"""Read the one-sentence definitions of the field's terms (terms.toml), which all pages share."""

import tomllib
from pathlib import Path

TERMS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
