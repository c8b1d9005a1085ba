"""Check an encoder's folder before transformers reads it, and compute digests of its files.

Pickles and code are never read.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn

from selfattn.encoders.errors import LoadError
from selfattn.encoders.model_types import check_model_type
from selfattn.encoders.untrusted_files import open_plain, read_json, reading

# Config keys that make transformers read other files, code or models.
LEADING_AWAY = re.compile(
    r"transformers_weights|quantization_config|compression_config|.*backbone.*|.*_implementation.*|configuration_files"
    r"|gguf_file|fusion_config|kernel_config|distributed_config|__float__"
)
WEIGHTS = ".safetensors"
BLOCK = 2**24  # bytes; smaller blocks would wait for the interpreter's lock more often
ADAPTER = "adapter_config.json"  # written by PEFT
READ = (".json", ".txt", ".model", ".jinja")
CLASS = re.compile(r"\w{0,80}Tokenizer(Fast)?|TokenizersBackend|PythonBackend", re.ASCII)
# A tokeniser needs one of these files.
VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "tekken.json", "*.model", "*.bpe.codes", "vocab.bpe")
# Files whose content changes the numbers that an encoder computes.
DECIDING = (
    *VOCABULARIES, "merges.txt", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "modules.json", "sentence_*_config.json", "config_sentence_transformers.json",
)  # fmt: skip
NOTES = ("_name_or_path", "transformers_version", "torch_dtype", "dtype")  # keys that change no number
PLACE = re.compile(r"\w[\w.-]*", re.ASCII)  # name of a module's folder
MOST_LINKS = 40  # links to one file, as in Linux
BYTES = "ByT5Tokenizer"  # has no vocabulary file
DISTRIBUTED = re.compile(r"shard-\d{5}-model-.*\.safetensors")  # transformers would prefer these to model.safetensors


def check_folder(folder: Path, base: Path | None = None) -> None:
    """Raise LoadError unless a folder holds an encoder whose files refer to no files elsewhere.

    base: the setting `model_dir`. A folder inside `base` must hold no links to paths outside the folder.
    """
    with reading(folder):
        names = sorted(os.listdir(folder))
    if ADAPTER in names:
        _refuse_adapter(folder / ADAPTER)
    if "config.json" not in names:
        for adapter in folder.glob(f"*/{ADAPTER}"):
            _refuse_adapter(adapter)
        raise LoadError(
            f"{folder.name} has no config.json, so it isn't a saved model. Save a model with "
            "model.save_pretrained(folder) and tokenizer.save_pretrained(folder)."
        )
    for name in names:
        _check_file(folder / name)
    if base is not None and folder.is_relative_to(base.resolve()):  # the Hub's cache has links
        _check_links(folder)
    config = read_json(folder / "config.json")
    check_model_type(folder.name, config)
    _check_config(folder, config)
    _check_weights(folder)
    _check_tokenizer(folder, config)


def _refuse_adapter(file: Path) -> NoReturn:
    adapter = read_json(file)
    base = str(adapter.get("base_model_name_or_path") or "a base model")[:200]
    raise LoadError(
        f"{file.parent.name} is an adapter ({str(adapter.get('peft_type') or 'PEFT')[:20]}) for {base}, not a complete model. "
        f"Merge the adapter: AutoPeftModel.from_pretrained({str(file.parent)!r}).merge_and_unload().save_pretrained(new_folder). "
        "Save the tokeniser in new_folder too."
    )


def _check_file(path: Path) -> None:
    with reading(path):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:  # a dangling link, as in an incomplete cache
            return
    shown = f"{path.parent.name}/{path.name}"
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise LoadError(f"{shown} is a pipe, a socket or a device, not a plain file. Remove it.")
    if DISTRIBUTED.fullmatch(path.name):
        raise LoadError(f"{shown} is a part of a distributed checkpoint. Save the complete model.")


def _check_links(folder: Path) -> None:
    for path in folder.rglob("*"):
        with reading(path):
            inside = path.resolve().is_relative_to(folder)
        if not inside:
            raise LoadError(
                f"{folder.name}/{path.relative_to(folder)} links to a path outside the folder. Replace the link with a copy."
            )


def _check_config(folder: Path, config: dict) -> None:
    """Raise LoadError for config keys that make transformers read other files or code."""
    inner: list = [{**config, "label2id": None}]  # names of classes, not settings
    while inner:
        part = inner.pop()
        for key, value in part.items() if isinstance(part, dict) else ():
            if LEADING_AWAY.fullmatch(key) and value not in (None, False) and key != "_attn_implementation_autoset":
                raise LoadError(
                    f"{folder.name}/config.json has the key {key}, which can load weights or code from elsewhere. "
                    f"Remove {key}, or save the model again."
                )
        inner += [each for each in (part.values() if isinstance(part, dict) else part) if isinstance(each, dict | list)]


def _check_weights(folder: Path) -> None:
    if weight_files(folder):
        return
    pickles = [path.name for path in sorted(folder.glob("*.bin")) + sorted(folder.glob("*.pt"))]
    instead = f"selfattn doesn't read pickles such as {pickles[0]}, because a pickle can run code. " if pickles else ""
    raise LoadError(
        f"{folder.name} has no safetensors weights. {instead}Save the model again with "
        "model.save_pretrained(folder), or choose another revision."
    )


def _check_tokenizer(folder: Path, config: dict) -> None:
    settings = read_json(folder / "tokenizer_config.json", {})
    classes = [settings.get("tokenizer_class"), config.get("tokenizer_class")]
    strange = [name for name in classes if name is not None and not (isinstance(name, str) and CLASS.fullmatch(name))]
    leading = [key for key in ("fast_tokenizer_files", "gguf_file", "tokenizer_object") if settings.get(key)]
    if strange or leading:  # transformers would accept any class, even a model
        what = f"its tokenizer_class {str(strange[0])[:80]!r} is not a tokeniser" if strange else ""
        raise LoadError(
            f"{folder.name}/tokenizer_config.json can't be used: "
            f"{what or f'{leading[0]} can make transformers load another file'}. "
            "Save the tokeniser again, or choose another encoder."
        )
    if BYTES not in classes and not any(next(folder.glob(pattern), None) for pattern in VOCABULARIES):
        raise LoadError(
            f"{folder.name} has no tokeniser file, such as tokenizer.json. Save the tokeniser in this folder: "
            "AutoTokenizer.from_pretrained(...).save_pretrained(folder)."
        )


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files that transformers reads."""
    single, index = folder / f"model{WEIGHTS}", folder / f"model{WEIGHTS}.index.json"
    if single.is_file():
        return [single]
    if not index.is_file():
        return []
    shards = read_json(index).get("weight_map")
    if not isinstance(shards, dict) or not shards or not all(isinstance(shard, str) for shard in shards.values()):
        raise LoadError(f"{folder.name}/{index.name} lists no weights files. Download the model again.")
    names = sorted(set(shards.values()))
    for name in names:
        # transformers would read a file without the suffix .safetensors as a pickle.
        if Path(name).name != name or not name.endswith(WEIGHTS) or not (folder / name).is_file():
            raise LoadError(f"{folder.name} lacks the weights file {name[:200]!r}. Download the model again.")
    return [folder / name for name in names]


def weights_digest(folder: Path) -> str:
    """Return the sha256 of the weights."""
    digests = [file_digest(file) for file in weight_files(folder)]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def configuration_digest(folder: Path, files: Mapping[str, str]) -> str:
    """Return the sha256 of an encoder's settings and tokeniser.

    The sha256 may change if a newer transformers saves the model again.
    """
    config = {key: value for key, value in read_json(folder / "config.json").items() if key not in NOTES}
    counting = {name: digest for name, digest in files.items() if "/" in name or _is_one_of(name, DECIDING)}
    return hashlib.sha256(json.dumps([config, counting], sort_keys=True).encode()).hexdigest()


def file_digests(folder: Path) -> dict[str, str]:
    """Return the sha256 of each file that an encoder reads, in a dictionary with the files' paths as keys."""
    return {Path(os.path.relpath(path, folder)).as_posix(): file_digest(path) for path in _read(folder)}


def _read(folder: Path) -> list[Path]:
    names = (path for path in folder.iterdir() if path.suffix in READ or _is_one_of(path.name, VOCABULARIES))
    return sorted({*filter(Path.is_file, names), *weight_files(folder), *_module_files(folder)})


def _is_one_of(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def modules_folder(folder: Path) -> Path:
    """Return the folder that sentence-transformers saved: `folder` or its parent."""
    is_module = re.fullmatch(r"\d+_\w+", folder.name) and not (folder / "modules.json").exists()
    return folder.parent if is_module else folder


def _module_files(folder: Path) -> list[Path]:
    """Return the files that describe sentence-transformers' modules."""
    around = modules_folder(folder)
    try:
        steps = read_json(around / "modules.json", of=list)
    except LoadError:
        return []
    places = [str(step.get("path")) for step in steps if isinstance(step, dict)]
    files = [around / place / "config.json" for place in places if PLACE.fullmatch(place) and place != folder.name]
    files += [around / "modules.json", around / "config_sentence_transformers.json"]
    return [file for file in files if os.path.isfile(file)]


@contextmanager
def unchanged(folder: Path, expected: Mapping[str, str] | None = None) -> Iterator[None]:
    """Raise LoadError if the folder's files change in the `with` block, even if they are restored.

    expected: the digests that the files must have before the block
    """
    before = _states(folder)
    if expected is not None and (digests := file_digests(folder)) != expected:
        changed = sorted(name for name in {**expected, **digests} if expected.get(name) != digests.get(name))
        raise LoadError(f"{folder.name} changed after loading ({', '.join(changed)}). Load the encoder again.")
    failure = None
    try:
        yield
    except LoadError as error:  # perhaps a file was missing for a moment
        failure = error
    if _states(folder) != before:
        raise LoadError(f"{folder.name} changed during loading. Load the encoder again.")
    if failure:
        raise failure


def _states(folder: Path) -> list[tuple]:
    states = []
    for path in (folder, *_read(folder)):
        with reading(path):
            states += [(str(each), _state(each.lstat())) for each in _way_to(path)]
    return states


def _way_to(path: Path) -> list[Path]:
    """Return the symbolic links that a path goes through, and the file at its end. Raises OSError."""
    way, reached, left = [], Path(), [*reversed(path.absolute().parts)]
    while left:
        part = left.pop()
        reached = reached.parent if part == ".." else reached / part
        if reached.is_symlink():
            way.append(reached)
            if len(way) > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            left += reversed(Path(os.readlink(reached)).parts)
            reached = reached.parent
    return [*way, reached]


def _state(status: os.stat_result) -> tuple[int, ...]:
    """Return numbers that change if the file changes. Programs can set mtime, but not ctime."""
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size


_digests: dict[tuple, str] = {}  # keyed by `_state`


def file_digest(path: Path) -> str:
    """Return a file's sha256. Raises LoadError if the file can't be read."""
    with open_plain(path) as file, reading(path):
        state = _state(os.fstat(file.fileno()))  # of the open file: a link may lead elsewhere by now
        if state not in _digests:
            digest = hashlib.sha256()
            while block := file.read(BLOCK):
                digest.update(block)
            _digests[state] = digest.hexdigest()
    return _digests[state]
