"""Read the definitions of the field's terms, one sentence each, that all pages share (terms.toml)."""

import tomllib
from pathlib import Path

TERMS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
