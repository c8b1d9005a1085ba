"""Environment variables SELFATTN_... that configure the dashboard."""

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

PREFIX = "SELFATTN_"
YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def _setting(default: Any, meaning: str, shown: str = "") -> Any:
    return field(default=default, metadata={"meaning": meaning, "default": shown or f"{default:,}"})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The dashboard's settings. Each has an environment variable, such as SELFATTN_MAX_ROWS for `max_rows`."""

    max_characters: int = _setting(40_000, "characters of one text")
    max_rows: int = _setting(5_000, "rows of an uploaded table")
    max_table_characters: int = _setting(2_000_000, "characters of an uploaded table, all cells together")
    uploaded_megabytes: int = _setting(200, "megabytes of all visitors' uploaded files; the oldest are deleted first")
    max_models: int = _setting(2, "encoders in memory; the least recently used encoder is removed first")
    cached_megabytes: int = _setting(320, "megabytes of cached results; the least recently used are removed first")
    separate_pass_megabytes: int = _setting(
        80, "megabytes of attention maps to check against a separate eager pass; texts with larger maps are not checked"
    )
    devices: tuple[str, ...] = _setting((), "devices to choose from, separated by commas: cpu, cuda, mps", "all")
    models: tuple[str, ...] = _setting((), "encoders that visitors may open, separated by commas", "any")
    model_dir: Path | None = _setting(None, "the only folder from which local encoders can be opened", "any")  # noqa: RUF009
    scan_dir: Path | None = _setting(None, "the only folder from which finished scans can be opened", "any")  # noqa: RUF009
    cache: Path | None = _setting(  # noqa: RUF009
        None, "the folder for measured results, at most 1 MB for each encoder", "the user's cache folder"
    )
    offline: bool = _setting(False, "1, true, yes or on: never connect to the Hub", "0")

    @classmethod
    def read(cls) -> "Settings":
        """Read the settings from the environment. An empty variable counts as not set.

        Raises SystemExit for an invalid value or an unknown SELFATTN_... variable.
        """
        for name, text in os.environ.items():
            if name.startswith(PREFIX) and text.strip() and name not in VARIABLES:
                raise SystemExit(
                    f"{name} is not a setting of selfattn. Unset {name}, or choose a setting from docs/operating.md."
                )
        given = {each: os.environ.get(name, "").strip() for name, each in VARIABLES.items()}
        return cls(**{each.name: _parsed(each, text) for each, text in given.items() if text})


def forbid_the_hub() -> None:
    """Set HF_HUB_OFFLINE if SELFATTN_OFFLINE is set. Call before importing huggingface_hub."""
    if os.environ.get(variable("offline"), "").strip().lower() in YES:
        os.environ["HF_HUB_OFFLINE"] = "1"


def variable(name: str) -> str:
    """Return the environment variable of a setting, such as SELFATTN_MAX_ROWS for max_rows."""
    return f"{PREFIX}{name.upper()}"


VARIABLES = {variable(each.name): each for each in fields(Settings)}


def _parsed(setting, text: str) -> Any:
    match setting.default:
        case bool():
            if text.lower() not in YES + NO:
                raise SystemExit(f"{variable(setting.name)} must be one of {', '.join(YES + NO)}, got {text!r}.")
            return text.lower() in YES
        case int():
            if not text.isdecimal() or int(text) < 1:
                raise SystemExit(f"{variable(setting.name)} must be a whole number of at least 1, got {text!r}.")
            return int(text)
        case tuple():
            return tuple(part.strip() for part in text.split(",") if part.strip())
        case _:
            return Path(os.path.abspath(text))  # don't resolve symbolic links: visitors enter this path as it is set
