"""Fetch an encoder's files from the Hugging Face Hub or its cache."""

import os
import re
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

from huggingface_hub import HfApi, hf_hub_download, snapshot_download
from huggingface_hub.constants import ENV_VARS_TRUE_VALUES
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import ModelInfo
from huggingface_hub.utils import tqdm, validate_repo_id

from selfattn.encoders.errors import LoadError
from selfattn.settings import Settings

# Files to download: no pickles and no code.
FILES = ("*.json", "*.safetensors", "*.txt", "*.model")
POOLING = re.compile(r"\w+_(Pooling|Normalize)/config\.json", re.ASCII)  # of a sentence embedder
LAST = "config.json"  # fetched last
UNREACHABLE = (HTTPError, HfHubHTTPError, OfflineModeIsEnabled, OSError)

# Examples: main, v1.0, refs/pr/1, a commit.
REVISION = re.compile(r"\w[\w.+-]*(/\w[\w.+-]*)*", re.ASCII)
LONGEST_REVISION = 200  # characters


def offline() -> bool:
    """Return True if a setting or HF_HUB_OFFLINE forbids requests to the Hub."""
    return Settings.read().offline or os.environ.get("HF_HUB_OFFLINE", "").upper() in ENV_VARS_TRUE_VALUES


def fetch(name: str, revision: str | None, report: Callable[[str], None]) -> tuple[Path, str]:
    """Fetch a Hub model, from the Hub or the cache. Return folder and commit.

    Raises LoadError.
    """
    _check_id(name, revision)
    try:
        if offline():
            return _from_cache(name, revision, "this server works offline")
        report(f"Looking up {name} on the Hub")
        try:
            info = HfApi().model_info(name, revision=revision, timeout=10, files_metadata=True)
        except (GatedRepoError, RevisionNotFoundError, RepositoryNotFoundError):  # the Hub can be reached
            raise
        except UNREACHABLE as error:
            return _from_cache(name, revision, f"the Hub can't be reached ({type(error).__name__})")
        return _download(name, revision, info, report), info.sha
    except GatedRepoError:
        raise LoadError(
            f"{name} is gated. Accept the terms on its Hub page. Then log in with `hf auth login`, or set HF_TOKEN."
        ) from None
    except RevisionNotFoundError:
        raise LoadError(
            f"{name} has no revision {revision!r}. Leave the revision empty to load the newest one."
        ) from None
    except RepositoryNotFoundError:
        raise LoadError(f"The Hub has no public model {name!r}. Check the spelling (owner/name).") from None


def _check_id(name: str, revision: str | None) -> None:
    try:
        validate_repo_id(name)
    except HFValidationError:
        raise LoadError(
            f"{name!r} is neither a folder on this machine nor a Hub id (owner/name). Check the spelling."
        ) from None
    if revision is None:
        return
    if len(revision) > LONGEST_REVISION or ".." in revision or not REVISION.fullmatch(revision):
        raise LoadError(
            "The revision must be a branch, tag, commit or reference such as refs/pr/1, got "
            f"{revision[:LONGEST_REVISION]!r}. Leave the revision empty to load the newest one."
        )


def _download(name: str, revision: str | None, info: ModelInfo, report: Callable[[str], None]) -> Path:
    """Download those files of a commit that aren't in the cache yet. Return the commit's folder."""
    sizes = {sibling.rfilename: sibling.size or 0 for sibling in info.siblings or ()}
    wanted = [f for f in sizes if "/" not in f and any(fnmatch(f, pattern) for pattern in FILES)]
    wanted = [*filter(POOLING.fullmatch, sizes), *sorted(wanted, key=lambda file: (file == LAST, file))]
    if not any(file.endswith(".safetensors") for file in wanted):
        raise LoadError(
            f"{name} has no safetensors weights at this revision. Try another revision (often refs/pr/1), or save the model "
            "as safetensors in a folder."
        )
    try:
        for number, file in enumerate(wanted, start=1):
            stage = f"Downloading {name}: {file} ({number} of {len(wanted)}, {sizes[file] / 1e6:,.1f} MB)"
            report(stage)
            path = hf_hub_download(name, file, revision=info.sha, tqdm_class=_reporting(stage, sizes[file], report))
        # This call makes the cache remember which commit the revision means.
        hf_hub_download(name, wanted[0], revision=revision)
    except GatedRepoError:
        raise
    except (*UNREACHABLE, LocalEntryNotFoundError) as error:
        raise LoadError(
            f"The download of {name} failed ({type(error).__name__}: {str(error).splitlines()[0][:200]}). Try again, and "
            "check the disk space. Complete files are kept."
        ) from None
    return Path(path).parent


def _reporting(stage: str, size: int, report: Callable[[str], None]) -> type[tqdm]:
    """Return a progress bar class that draws nothing, and calls `report` at each percent."""

    class Reporting(tqdm):
        def __init__(self, *args, **options):
            super().__init__(*args, **{**options, "disable": True})
            self._done = self._shown = 0

        def update(self, n: float | None = 1):
            self._done += n or 0
            percent = int(100 * self._done / max(size, 1))
            if percent > self._shown:
                self._shown = percent
                report(f"{stage}: {min(percent, 100)} %")

    return Reporting


def _from_cache(name: str, revision: str | None, why: str) -> tuple[Path, str]:
    try:
        folder = Path(snapshot_download(name, revision=revision, local_files_only=True))
        (folder / LAST).stat()
    except (OSError, ValueError):  # missing, incomplete, or a broken cache
        raise LoadError(
            f"{name} is not on this machine, and {why}. Run `hf download {name}` when there is a network, or choose the "
            "bundled encoder or a folder."
        ) from None
    return folder, folder.name
