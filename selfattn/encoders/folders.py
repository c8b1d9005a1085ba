"""Find the saved model inside a folder, such as a Trainer's checkpoint-500."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from selfattn.encoders.checkpoint import weight_files
from selfattn.encoders.errors import LoadError
from selfattn.encoders.untrusted_files import read_json

DEPTH = 3  # levels, enough for the Hub's cache
MOST_FOLDERS = 1_000  # searched
MOST_NAMED = 10  # in an error message
CACHED = re.compile(r"models--([\w.-]+)")


def saved_model(folder: Path, name: str, allowed: Callable[[Path], bool] = lambda inner: True) -> Path:
    """Return the one inner folder that holds a saved model, or `folder` itself.

    name: the folder's name as the user wrote it
    allowed: returns True for an inner folder that may be opened
    Raises LoadError.
    """
    if "model_type" in _config(folder):
        return folder
    found, level = [], [folder]
    for _ in range(DEPTH):
        level = [inner for outer in level for inner in _folders(outer) if allowed(inner)]
        if len(level) > MOST_FOLDERS:
            raise LoadError(
                f"{name} is not a saved model and contains more than {MOST_FOLDERS:,} folders. Give the path of a saved model."
            )
        found += filter(_is_model, level)
        level = [inner for inner in level if inner not in found]
    if len(found) == 1 and os.path.exists(config := folder / "config.json"):
        try:
            read_json(config)
        except LoadError as error:  # don't silently open the inner model
            inner = Path(name, found[0].relative_to(folder))
            raise LoadError(f"{error} Or open this saved model: {inner}.") from None
    if len(found) <= 1:
        return found[0] if found else folder
    names = sorted((str(inner.relative_to(folder)) for inner in found), key=_by_number)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    raise LoadError(
        f"{name} is {_kind(folder, names)} with several saved models: {', '.join(names[-MOST_NAMED:])}{more}. Open "
        f"one of them: {Path(name, names[-1])}."
    )


def repository(path: Path) -> str:
    """Return the Hub repository ("owner/name") of a path in the cache; "" for other paths."""
    cached = filter(None, map(CACHED.fullmatch, reversed(path.parts)))
    return next((match[1].replace("--", "/") for match in cached), "")


def _kind(folder: Path, names: list[str]) -> str:
    if repository(folder):
        return f"the Hub's cache of {repository(folder)}"
    if all(name.startswith("checkpoint-") for name in names):
        return "a Trainer's output"
    return "a sentence-transformers folder" if (folder / "modules.json").exists() else "a folder of models"


def _is_model(folder: Path) -> bool:
    try:
        return "model_type" in _config(folder) and bool(weight_files(folder))
    except LoadError:
        return False


def _config(folder: Path) -> dict:
    try:
        return read_json(folder / "config.json")
    except LoadError:
        return {}


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:  # no permission
        return []


def _by_number(name: str) -> list[tuple[int, str]]:
    """Return a sort key that puts checkpoint-500 before checkpoint-1000."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
