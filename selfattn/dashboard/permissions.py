"""Decide what visitors may open: anything on this machine; if others can connect, the operator's encoders and scans only."""

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
# The folders of an absolute path, without its last name. The path is in quotation marks or has no blanks.
FOLDERS = re.compile(r"""(?<=['"])/(?:[^'"\n/]+/)+(?=[^'"\n/]+['"])|(?<![\w.:/])/(?:[^\s/'":]+/)+""")


def beyond_localhost() -> bool:
    """True if others can connect: the server listens to other machines, or allows another host name.

    Host names are checked because a server behind a proxy on the same machine listens on localhost only.
    """
    names = st.get_option("server.allowedHosts")  # empty: any name is allowed
    return st.get_option("server.address") not in THIS_MACHINE or not names or not THIS_MACHINE.issuperset(names)


def start_model() -> str:
    """The encoder named on the command line (`streamlit run app.py -- --model NAME`), else the bundled one."""
    return _model_of(tuple(sys.argv[1:]))


@functools.cache  # it is called several times per rerun, and argparse looks for translations on the disk
def _model_of(arguments: tuple[str, ...]) -> str:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--model", default=BUNDLED_NAME)
    return parser.parse_known_args(arguments)[0].model


def offered_encoders() -> tuple[tuple[str, ...], bool]:
    """Return the encoders to choose from, the default first; and True if a visitor may name another encoder."""
    settings, beyond = Settings.read(), beyond_localhost()
    listed = settings.models or ((BUNDLED_NAME,) if beyond else CURATED)
    others = not settings.models and (not beyond or settings.model_dir is not None)
    return tuple(dict.fromkeys([start_model(), *listed])), others


def for_visitors(text: str, name: str = "") -> str:
    """Return the message. If others can connect, remove the folders from paths of this machine.

    name: an encoder's name, which may be a path. Folders that this server uses are recognised even if their names have blanks.
    """
    if not beyond_localhost():
        return text
    settings = Settings.read()
    named = (name, start_model(), *settings.models, *map(str, filter(None, (settings.model_dir, settings.scan_dir))))
    known = _known_folders(tuple(filter(os.path.isabs, named)))
    text = known.sub(lambda found: "/-/" if found[2] else os.path.basename(found[1]), text)
    return FOLDERS.sub("", text)


@functools.lru_cache(64)  # resolving reads the disk, and a page calls this for each label
def _known_folders(named: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern of these folders and the folders that every server uses, as written and resolved, with the slash after them."""
    used = (*named, Path.home(), Path.cwd(), HF_HUB_CACHE, sys.prefix, tempfile.gettempdir(), Path(__file__).parents[2])
    paths = {str(path) for each in map(Path, used) for path in (each, each.resolve()) if path.name}
    longest_first = map(re.escape, sorted(paths, key=len, reverse=True))
    return re.compile(rf"(?<![\w.-])({'|'.join(longest_first)})(?![\w-])(/?)")


def check_encoder(name: str, revision: str = "") -> None:
    """Raise LoadError for an encoder that isn't offered. The message doesn't reveal whether the encoder exists.

    If others can connect, the revision must be the operator's: anybody can add a revision on the Hub, as a pull request.
    """
    listed, others = offered_encoders()
    beyond = beyond_localhost()
    if name not in (*listed, BUNDLED_NAME) and not (others and (not beyond or is_operators_folder(name))):
        raise LoadError(
            f"{name[:1000]!r} is not among this server's encoders. Choose one of those, or ask whoever runs the server "
            "(SELFATTN_MODELS, SELFATTN_MODEL_DIR)."
        )
    if beyond and revision and (name, revision) != (BUNDLED_NAME, BUNDLED_REVISION):
        raise LoadError(
            f"This server opens {name[:1000]!r} in its operator's revision only, not in {revision[:200]!r}. Leave the revision "
            "empty."
        )


def loads_unasked(name: str, revision: str) -> bool:
    """True if a link may load this encoder without a question: a bundled encoder, or the operator's in its revision."""
    offered = (BUNDLED_NAME, start_model(), *Settings.read().models)
    known_revision = revision in ("", BUNDLED_REVISION if name == BUNDLED_NAME else "")
    return known_revision and (name in offered or is_operators_folder(name))


def allowed_scan_folder(name: str) -> Path:
    """The folder of a finished scan. Raises TextError if it isn't offered; the message doesn't reveal whether it exists."""
    base = Settings.read().scan_dir
    if "\0" in name or len(name) > 1000:
        raise TextError("A folder's name has at most 1,000 characters, and none of them is a null character.")
    if base is None and not beyond_localhost():
        return Path(name)
    itself = base is not None and Path(name) in (Path(), base)  # the operator's folder may itself be a scan
    folder = base if base is None or itself else inside(base, name)
    if folder is None:
        raise TextError(
            f"{name!r} is no folder inside this server's folder of scans, and no other can be opened (SELFATTN_SCAN_DIR)."
        )
    return folder
