"""Decide which encoders and scans visitors may open."""

import argparse
import functools
import os
import re
import sys
import tempfile
from pathlib import Path

import streamlit as st
from huggingface_hub.constants import HF_HUB_CACHE

from selfattn.encoders.errors import LoadError, TextError
from selfattn.encoders.sources import BUNDLED_NAME, BUNDLED_REVISION, CURATED, inside, is_operators_folder
from selfattn.settings import Settings

THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
# Matches the folders in an absolute path, if the path is in quotes or has no blanks.
FOLDERS = re.compile(r"""(?<=['"])/(?:[^'"\n/]+/)+(?=[^'"\n/]+['"])|(?<![\w.:/])/(?:[^\s/'":]+/)+""")


def beyond_localhost() -> bool:
    """Return True if other machines can connect, directly or through a proxy."""
    names = st.get_option("server.allowedHosts")  # empty: any name is allowed
    return st.get_option("server.address") not in THIS_MACHINE or not names or not THIS_MACHINE.issuperset(names)


def start_model() -> str:
    """Return the encoder's name from the option --model, or else the bundled encoder's name."""
    return _model_of(tuple(sys.argv[1:]))


@functools.cache  # argparse reads the disk
def _model_of(arguments: tuple[str, ...]) -> str:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--model", default=BUNDLED_NAME)
    return parser.parse_known_args(arguments)[0].model


def offered_encoders() -> tuple[tuple[str, ...], bool]:
    """Return the names of the offered encoders, and True if visitors may also type other names."""
    settings, beyond = Settings.read(), beyond_localhost()
    listed = settings.models or ((BUNDLED_NAME,) if beyond else CURATED)
    others = not settings.models and (not beyond or settings.model_dir is not None)
    return tuple(dict.fromkeys([start_model(), *listed])), others


def for_visitors(text: str, name: str = "") -> str:
    """Shorten the server's file paths in a message if other machines can open the dashboard."""
    if not beyond_localhost():
        return text
    settings = Settings.read()
    named = (name, start_model(), *settings.models, *map(str, filter(None, (settings.model_dir, settings.scan_dir))))
    known = _known_folders(tuple(filter(os.path.isabs, named)))
    text = known.sub(lambda found: "/-/" if found[2] else os.path.basename(found[1]), text)
    return FOLDERS.sub("", text)


@functools.lru_cache(64)  # resolving reads the disk
def _known_folders(named: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that matches the folders `named` and the server's own folders."""
    used = (*named, Path.home(), Path.cwd(), HF_HUB_CACHE, sys.prefix, tempfile.gettempdir(), Path(__file__).parents[2])
    paths = {str(path) for each in map(Path, used) for path in (each, each.resolve()) if path.name}
    longest_first = map(re.escape, sorted(paths, key=len, reverse=True))
    return re.compile(rf"(?<![\w.-])({'|'.join(longest_first)})(?![\w-])(/?)")


def check_encoder(name: str, revision: str = "") -> None:
    """Raise LoadError for an encoder or revision that isn't offered.

    The message doesn't reveal whether the encoder exists. Anybody can add a revision on the Hub, so visitors can't choose one.
    """
    listed, others = offered_encoders()
    beyond = beyond_localhost()
    if name not in (*listed, BUNDLED_NAME) and not (others and (not beyond or is_operators_folder(name))):
        raise LoadError(
            f"This server doesn't offer the encoder {name[:1000]!r}. Choose an encoder from the list. The server's operator "
            "can add encoders with SELFATTN_MODELS or SELFATTN_MODEL_DIR."
        )
    if beyond and revision and (name, revision) != (BUNDLED_NAME, BUNDLED_REVISION):
        raise LoadError(
            f"This server doesn't let visitors choose a revision of {name[:1000]!r} (given: {revision[:200]!r}). Leave "
            "the revision empty."
        )


def loads_unasked(name: str, revision: str) -> bool:
    """Return True if a link may load this encoder without asking the visitor."""
    offered = (BUNDLED_NAME, start_model(), *Settings.read().models)
    known_revision = revision in ("", BUNDLED_REVISION if name == BUNDLED_NAME else "")
    return known_revision and (name in offered or is_operators_folder(name))


def allowed_scan_folder(name: str) -> Path:
    """Return the folder of the scan `name`. Raises TextError if visitors may not open the folder."""
    base = Settings.read().scan_dir
    if "\0" in name or len(name) > 1000:
        raise TextError("Expected a folder name of at most 1,000 characters, without null characters.")
    if base is None and not beyond_localhost():
        return Path(name)
    itself = base is not None and Path(name) in (Path(), base)  # the operator's folder may itself be a scan
    folder = base if base is None or itself else inside(base, name)
    if folder is None:
        raise TextError(f"{name!r} isn't in this server's folder of scans. Choose a folder inside SELFATTN_SCAN_DIR.")
    return folder
