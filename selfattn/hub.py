"""Fetching an encoder's files from the Hugging Face Hub, or from its cache when there is no network."""

from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from selfattn.sources import LoadError, offline

# Enough to load an encoder and its tokeniser; no pickles, no code.
FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
SKIPPED = ["onnx/*", "openvino/*", "*/*"]


def fetch(name: str, revision: str | None) -> tuple[Path, str]:
    """Download (or find in the cache) a Hub model's files: their folder and the commit. Raises LoadError."""
    try:
        if offline():
            return _from_cache(name, revision, "this server is set to work offline")
        return _download(name, revision)
    except HFValidationError:
        raise LoadError("name", f"{name!r} is neither a folder here nor a Hub id (owner/name). Check it.") from None
    except GatedRepoError:
        raise LoadError(
            "gated",
            f"{name} is gated: its owner gives access on request. Accept its terms on its Hub page and log in with "
            "`hf auth login`, or set HF_TOKEN.",
        ) from None
    except RevisionNotFoundError:
        raise LoadError("revision", f"{name} has no revision {revision!r}. Leave it empty for the newest.") from None
    except RepositoryNotFoundError:
        raise LoadError(
            "missing", f"There is no model {name!r} on the Hub, or it is private. Check the spelling (owner/name)."
        ) from None


def _download(name: str, revision: str | None) -> tuple[Path, str]:
    try:
        info = HfApi().model_info(name, revision=revision, timeout=10)
    except (GatedRepoError, RevisionNotFoundError, RepositoryNotFoundError, HFValidationError):
        raise
    except (HfHubHTTPError, OfflineModeIsEnabled, OSError) as error:
        return _from_cache(name, revision, f"the Hub can't be reached ({type(error).__name__})")
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("httpx", "httpcore", "requests"):
            raise
        return _from_cache(name, revision, f"the Hub can't be reached ({type(error).__name__})")
    files = {sibling.rfilename for sibling in info.siblings or ()}
    if not any(file.endswith(".safetensors") and "/" not in file for file in files):
        raise LoadError(
            "safetensors",
            f"{name} has no safetensors weights at this revision, and selfattn reads no pickles. Try another revision "
            "(many models have them on refs/pr/...), or save it as safetensors in a folder of your own.",
        )
    folder = snapshot_download(name, revision=info.sha, allow_patterns=FILES, ignore_patterns=SKIPPED)
    return Path(folder), info.sha


def _from_cache(name: str, revision: str | None, why: str) -> tuple[Path, str]:
    try:
        folder = Path(
            snapshot_download(
                name, revision=revision, allow_patterns=FILES, ignore_patterns=SKIPPED, local_files_only=True
            )
        )
    except (LocalEntryNotFoundError, FileNotFoundError, OfflineModeIsEnabled):
        raise LoadError(
            "network",
            f"{name} is not on this machine and {why}. Stay with the bundled encoder, download it once where there is "
            f"a network (`hf download {name}`), or give the path of a folder.",
        ) from None
    return folder, folder.name
