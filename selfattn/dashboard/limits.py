"""The operator's limits (selfattn/settings.py) held against what a visitor gives: beyond one, a message names the number."""

from collections.abc import Sequence
from pathlib import Path

from selfattn.encoders.errors import TextError
from selfattn.settings import Settings

_settings = Settings.read()
CHARACTERS = _settings.max_characters
ROWS = _settings.max_rows
MODELS = _settings.max_models
CACHED_BYTES = _settings.cached_megabytes * 2**20
RUNS = _settings.max_runs
PAGES = _settings.max_pages


def check_characters(text: str) -> None:
    """Raise TextError for a text beyond the operator's limit."""
    if len(text) > CHARACTERS:
        raise TextError(
            f"This text has {len(text):,} characters; this server takes at most {CHARACTERS:,}. Shorten it."
        )


def check_rows(rows: int) -> None:
    """Raise TextError for a table beyond the operator's limit."""
    if rows > ROWS:
        raise TextError(
            f"This table has {rows:,} rows; this server takes at most {ROWS:,}. Take a part of it, or run the corpus "
            "job on your own machine (python -m selfattn.scan)."
        )


def devices(available: Sequence[str]) -> list[str]:
    """Those of the machine's devices that the operator offers, best first. Raises SystemExit where that leaves none."""
    wanted = Settings.read().devices
    offered = [device for device in available if not wanted or device in wanted]
    if not offered:
        raise SystemExit(f"SELFATTN_DEVICES is {','.join(wanted)!r}, and this machine has {', '.join(available)} only.")
    return offered


def scan_folder(name: str) -> Path:
    """The folder of a finished scan, inside the one that the operator allows. Raises TextError for one outside it."""
    base = Settings.read().scan_dir
    if "\0" in name or len(name) > 1000:
        raise TextError("A folder's name has at most 1,000 characters, and none of them is a null character.")
    if base is None:
        return Path(name)
    folder = (base / name).resolve()  # an absolute name replaces the base, which the next line refuses
    if not folder.is_relative_to(base):
        raise TextError(
            f"{name!r} is outside this server's folder of scans. Only folders inside it can be opened (SELFATTN_SCAN_DIR)."
        )
    return folder
