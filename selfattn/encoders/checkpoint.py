"""What a folder must be before anything else reads it: a saved model whose weights are safetensors; and its digest.

Only safetensors are read, never pickles and never code that comes with a model. It is checked before transformers looks
at the folder, because that falls back to a pickle where it finds nothing else.
"""

import hashlib
import json
import math
from functools import cache
from pathlib import Path

from safetensors import SafetensorError, safe_open

from selfattn.encoders.errors import LoadError
from selfattn.settings import Settings

# Far above any published encoder; a config beyond them would exhaust the memory before the weights are even read.
CONFIG_LIMITS = {
    256: ("num_hidden_layers", "num_layers", "n_layers", "n_layer", "num_decoder_layers", "num_hidden_groups",
          "inner_group_num", "num_feedforward_networks"),
    1024: ("num_attention_heads", "num_heads", "n_heads", "n_head"),
    65_536: ("hidden_size", "d_model", "dim", "n_embd"),
    524_288: ("intermediate_size", "d_ff", "hidden_dim", "d_inner"),
    4_000_000: ("vocab_size", "max_position_embeddings"),
}  # fmt: skip


def check_folder(folder: Path) -> None:
    """Refuse a folder that can't be an encoder or could do harm, before anything else reads it. Raises LoadError."""
    config_file = folder / "config.json"
    if not config_file.is_file():
        raise LoadError("config", f"{folder.name} has no config.json, so it is not a saved model. Use save_pretrained.")
    _check_links(folder)
    if (folder / "adapter_config.json").is_file():
        raise LoadError(
            "adapter", f"{folder.name} holds an adapter, not a whole model. Merge it into its base model and save that."
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
    base = Settings.read().model_dir
    if base is None or not folder.is_relative_to(base):  # a snapshot in the Hub's cache is all links
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
    for limit, keys in CONFIG_LIMITS.items():
        for key, value in ((key, config.get(key)) for key in keys):
            if isinstance(value, int | float) and not 0 < value <= limit:
                raise LoadError("config", f"{folder.name}/config.json: {key} is {value}; expected 1 to {limit:,}.")


def _check_weights(folder: Path) -> None:
    if weight_files(folder):
        return
    pickles = [path.name for path in sorted(folder.glob("*.bin")) + sorted(folder.glob("*.pt"))]
    instead = f"It has {', '.join(pickles)}, a pickle, which could run code. " if pickles else ""
    raise LoadError(
        "safetensors",
        f"{folder.name} has no safetensors weights. {instead}Save it again with "
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
    """How many numbers the weights files hold, by their headers. Raises LoadError for a file cut short or damaged."""
    count = 0
    for path in weight_files(folder):
        try:
            with safe_open(path, framework="pt") as file:
                names = file.keys()
                count += sum(math.prod(file.get_slice(name).get_shape()) for name in names)
        except (SafetensorError, OSError, ValueError) as error:
            reason = str(error)[:200]
            raise LoadError("weights", f"{path.name} is cut short or damaged: {reason}. Download it again.") from None
    return count


def weights_digest(folder: Path) -> str:
    """sha256 over the weights files, in order."""
    files = weight_files(folder)
    if len(files) == 1:
        return file_digest(files[0])
    return hashlib.sha256("".join(file_digest(file) for file in files).encode()).hexdigest()


def file_digests(folder: Path) -> dict[str, str]:
    """sha256 of each file that a model or its tokeniser is read from: configuration, vocabulary, weights."""
    read = [
        path for path in folder.iterdir() if path.suffix in (".json", ".txt", ".model", ".jinja") and path.is_file()
    ]
    return {path.name: file_digest(path) for path in sorted([*read, *weight_files(folder)])}


def file_digest(path: Path) -> str:
    """sha256 of a file; read once for each version of the file."""
    status = path.stat()
    return _digest(str(path), status.st_mtime_ns, status.st_size)


@cache
def _digest(path: str, modified: int, size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
