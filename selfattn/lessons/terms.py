"""Read the one-sentence definitions in terms.toml."""

import tomllib
from pathlib import Path

TERMS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
