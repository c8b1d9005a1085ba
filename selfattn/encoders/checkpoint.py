"""What a folder must be before anything else reads it: a saved model whose weights are safetensors; and its digest.

Only safetensors are read, never pickles and never code that comes with a model. It is checked before transformers looks
at the folder, because that follows what a config says: to other files, to the Hub, to any amount of memory.
"""

import hashlib
import math
import os
import re
import stat
from functools import cache
from itertools import islice
from pathlib import Path

from selfattn.encoders.errors import LoadError
from selfattn.encoders.model_types import check_model_type
from selfattn.encoders.tokenizer_limits import MOST_BYTES, check_tokenizer
from selfattn.encoders.untrusted_files import open_plain, parse_object, read_json, unreadable, walk
from selfattn.settings import Settings

MOST_FILES = 10_000  # directly in the folder
MOST_CONFIG_BYTES = 4 * 2**20
MOST_HEADER_BYTES = 16 * 2**20  # of a safetensors file
MOST_DIMENSIONS = 8
MOST_LENGTH = 2**48  # of one dimension
BYTES = {"BOOL": 1, "U8": 1, "I8": 1, "F16": 2, "BF16": 2, "I16": 2, "U16": 2, "F32": 4, "I32": 4, "U32": 4}
BYTES |= {"F64": 8, "I64": 8, "U64": 8}  # of one number; what is stored in less is quantised

# Far above any published encoder; a config beyond them would exhaust memory or time before the weights are even read.
CONFIG_LIMITS = {
    256: ("num_hidden_layers", "num_layers", "n_layers", "n_layer", "num_decoder_layers", "num_hidden_groups",
          "inner_group_num", "num_feedforward_networks"),
    1024: ("num_attention_heads", "num_heads", "n_heads", "n_head"),
    65_536: ("hidden_size", "d_model", "dim", "n_embd", "num_labels"),
    524_288: ("intermediate_size", "d_ff", "hidden_dim", "d_inner"),
    4_000_000: ("vocab_size", "max_position_embeddings"),
}  # fmt: skip
LIMITS = {key: limit for limit, keys in CONFIG_LIMITS.items() for key in keys}
MOST_INTEGER = 4_000_000  # of any other key; bases of rotations and of logarithms aside
BASE = re.compile(r"theta|base")
# Keys that lead transformers to other weights, other files, code from the Hub, or a model that isn't this one.
LEADING_AWAY = re.compile(
    r"transformers_weights|quantization_config|compression_config|.*backbone.*|.*_implementation.*|configuration_files"
    r"|gguf_file|fusion_config|kernel_config|distributed_config|__float__"
)
WEIGHTS = ".safetensors"
PARSED = (".json", ".txt", ".model", ".jinja", ".vocab", ".bpe", ".codes")
DISTRIBUTED = re.compile(r"shard-\d{5}-model-.*\.safetensors")  # transformers would read these before model.safetensors


def check_folder(folder: Path, known_tokenizer: bool = False) -> None:
    """Refuse a folder that can't be an encoder or could do harm, before anything else reads it. Raises LoadError.

    known_tokenizer: its tokenizer.json has the digest of the published one, so that it needn't be read here.
    """
    names = _names(folder)
    if "config.json" not in names:
        raise LoadError("config", f"{folder.name} has no config.json, so it is not a saved model. Use save_pretrained.")
    if "adapter_config.json" in names:
        raise LoadError(
            "adapter", f"{folder.name} holds an adapter, not a whole model. Merge it into its base model and save that."
        )
    for name in names:
        _check_file(folder / name)
    _check_links(folder)
    config = read_json(folder / "config.json", MOST_CONFIG_BYTES, "config")
    check_model_type(folder.name, config)
    _check_config(folder, config)
    _check_weights(folder)
    check_tokenizer(folder, config, known_tokenizer)


def _names(folder: Path) -> list[str]:
    """What stands directly in the folder."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, MOST_FILES + 1))
    except OSError as error:
        raise unreadable(folder, error) from None
    if len(names) > MOST_FILES:
        raise LoadError(
            "file", f"{folder.name} holds more than {MOST_FILES:,} files. Give the encoder a folder of its own."
        )
    return names


def _check_file(path: Path) -> None:
    """A plain file or a folder; what would be parsed is of bounded size."""
    try:
        status = path.stat()
    except FileNotFoundError:  # a link to what isn't there, as in a cache that holds a model in part
        return
    except OSError as error:
        raise unreadable(path, error) from None
    shown = f"{path.parent.name}/{path.name}"
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise LoadError("file", f"{shown} is a pipe, a socket or a device. Expected plain files: remove it.")
    if DISTRIBUTED.fullmatch(path.name):
        raise LoadError("weights", f"{shown} is a part of a distributed checkpoint. Save the model whole.")
    if path.suffix in PARSED and status.st_size > MOST_BYTES:
        raise LoadError(
            "file", f"{shown} has {status.st_size:,} bytes; at most {MOST_BYTES:,} are read. Move it elsewhere."
        )


def _check_links(folder: Path) -> None:
    """Where the operator confines paths to one folder, no link may lead out of it."""
    base = Settings.read().model_dir
    if base is None or not folder.is_relative_to(base):  # a snapshot in the Hub's cache is all links
        return
    for path in folder.rglob("*"):
        try:
            inside = path.resolve().is_relative_to(folder)
        except (OSError, RuntimeError) as error:  # a loop, by the version of Python
            raise unreadable(path, error) from None
        if not inside:
            raise LoadError(
                "link",
                f"{folder.name}/{path.relative_to(folder)} is a link that leads out of the folder. Copy the file.",
            )


def _check_config(folder: Path, config: dict) -> None:
    try:
        for key, value in walk({**config, "label2id": None}):  # whose keys are anybody's words
            if LEADING_AWAY.fullmatch(key) and value not in (None, False) and key != "_attn_implementation_autoset":
                raise ValueError(
                    f"{key} leads to other weights or code than this folder's. Remove it, or save the model again"
                )
            if isinstance(value, int | float):
                limit = LIMITS.get(key, 1e12 if BASE.search(key) or isinstance(value, float) else MOST_INTEGER)
                if not abs(value) <= limit:  # nor NaN
                    raise ValueError(f"{key} is {value}; expected at most {limit:,}")
        for key in LIMITS.keys() & config.keys():
            if isinstance(config[key], int | float) and not config[key] > 0:
                raise ValueError(f"{key} is {config[key]}; expected 1 to {LIMITS[key]:,}")
    except ValueError as error:
        raise LoadError("config", f"{folder.name}/config.json isn't taken: {error}.") from None


def _check_weights(folder: Path) -> None:
    if weight_files(folder):
        count_numbers(folder)
        return
    pickles = [path.name for path in sorted(folder.glob("*.bin")) + sorted(folder.glob("*.pt"))]
    instead = f"It has {', '.join(pickles)}, a pickle, which could run code. " if pickles else ""
    raise LoadError(
        "safetensors",
        f"{folder.name} has no safetensors weights. {instead}Save it again with "
        "model.save_pretrained(folder) (safetensors is the default), or take another revision.",
    )


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that transformers would read, in order: the single file wins over an index of several."""
    single, index = folder / f"model{WEIGHTS}", folder / f"model{WEIGHTS}.index.json"
    if single.is_file():
        return [single]
    if not index.is_file():
        return []
    shards = read_json(index, MOST_HEADER_BYTES, "weights").get("weight_map")
    if not isinstance(shards, dict) or not shards or not all(isinstance(shard, str) for shard in shards.values()):
        raise LoadError("weights", f"{folder.name}/{index.name} names no weights files. Download it again.")
    names = sorted(set(shards.values()))
    for name in names:
        # transformers would load a file of another name as a pickle.
        if Path(name).name != name or not name.endswith(WEIGHTS) or not (folder / name).is_file():
            raise LoadError("weights", f"{folder.name} lacks the weights file {name[:200]!r}. Download it again.")
    return [folder / name for name in names]


def count_numbers(folder: Path) -> int:
    """How many numbers the weights files hold, by their headers. Raises LoadError for a file cut short or damaged."""
    return sum(math.prod(shape) for path in weight_files(folder) for shape in _shapes(path))


def _shapes(path: Path) -> list[list[int]]:
    """The shape of each tensor in a safetensors file, whose header has been checked whole. Raises LoadError.

    The safetensors library multiplies a shape's numbers out before it doubts them, however large they are.
    """
    try:
        with open_plain(path) as file:
            size = os.fstat(file.fileno()).st_size
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(MOST_HEADER_BYTES, size - 8):
                raise ValueError(f"its header has {length:,} bytes, the file {size:,}")
            header = parse_object(file.read(length))
        header.pop("__metadata__", None)
        tensors = sorted((_extent(name, tensor), name) for name, tensor in header.items())
        end = 0
        for (start, stop), name in tensors:
            if start != end:
                raise ValueError(f"the numbers of {name[:80]!r} begin at byte {start:,}, expected {end:,}")
            end = stop
        if end != size - 8 - length:
            raise ValueError(f"its tensors end at byte {end:,} of {size - 8 - length:,}")
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        reason = str(error)[:200]
        raise LoadError("weights", f"{path.name} is cut short or damaged: {reason}. Download it again.") from None
    return [tensor["shape"] for tensor in header.values()]


def _extent(name: str, tensor: object) -> tuple[int, int]:
    """From which to which byte a tensor reaches; raises ValueError where that isn't what its shape takes."""
    match tensor:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(start), int(stop)]} if dtype in BYTES:
            if len(shape) > MOST_DIMENSIONS or not all(type(n) is int and 0 <= n <= MOST_LENGTH for n in shape):
                raise ValueError(f"{name[:80]!r} has more than {MOST_DIMENSIONS} dimensions, or one beyond 2^48")
            if not 0 <= start <= stop or stop - start != math.prod(shape) * BYTES[dtype]:
                raise ValueError(f"{name[:80]!r} takes other bytes than its shape says")
            return start, stop
        case {"dtype": str(dtype)} if dtype not in BYTES:
            raise ValueError(f"{name[:80]!r} is stored as {dtype[:20]}. Expected float32, float16 or bfloat16")
    raise ValueError(f"{name[:80]!r} has no shape, type and place")


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
    """sha256 of a file; read once for each version of the file. Raises LoadError for what can't be read."""
    try:
        status = path.stat()
        return _digest(str(path), status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    except OSError as error:
        raise unreadable(path, error) from None


@cache
def _digest(path: str, inode: int, modified: int, changed: int, size: int) -> str:
    with open_plain(Path(path)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
