"""Check an encoder's folder, load the encoder, and check its attention."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, AutoModelForTextEncoding
from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES
from transformers.utils import logging as transformers_logging

from selfattn.encoders.capture import IMPLEMENTATION
from selfattn.encoders.checkpoint import check_folder, configuration_digest, file_digests, unchanged, weights_digest
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, TextError, brief
from selfattn.encoders.hooks import install
from selfattn.encoders.memory import is_out_of_memory, out_of_memory_as
from selfattn.encoders.model_types import ignores_interface
from selfattn.encoders.parity import differs_in_precision, measure
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.sources import Source, resolve
from selfattn.encoders.tokenizer import SAMPLE, Tokenizer
from selfattn.settings import Settings

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
PARITY = {"float32": 1e-4, "bfloat16": 5e-2, "float16": 1e-2}  # differences that rounding explains
UNSTATED_LIMIT = 8192  # tokens, if nothing sets a limit (T5)

Report = Callable[[str], None]  # called with a few words

_loading = threading.Lock()


def load_encoder(
    name: str | PathLike[str] | None = None,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "float32",
    report: Report = lambda stage: None,
    trusted: None = None,
) -> Encoder:
    """Load an encoder. name: a folder, a Hub id, or None for the bundled encoder.

    device: "auto", "cpu", "cuda" or "mps"
    dtype: "float32", "bfloat16" or "float16"
    report: called with a few words before each stage
    trusted: an option of older versions; now raises TypeError

    Reads only safetensors, and runs no code that comes with a model. Raises LoadError.
    """
    if trusted is not None:
        raise TypeError(
            "load_encoder no longer has the option trusted: it always works as trusted=True did. Leave trusted out, and load "
            "only encoders that you trust."
        )
    if dtype not in DTYPES:
        raise LoadError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}.")
    device = choose_device(device)
    source = resolve(name, revision, report)
    encoder = load_source(source, device, dtype, report)
    return replace(encoder, note=_joined(source.note, encoder.note))


def load_source(
    source: Source, device: str = "cpu", dtype: str = "float32", report: Report = lambda stage: None
) -> Encoder:
    """Load an encoder, and check its attention. Raises LoadError.

    device: from `choose_device`
    dtype: a key of DTYPES
    """
    too_large = LoadError(
        f"{source.name} doesn't fit into the memory of {device}. Choose a smaller encoder, or another device or precision."
    )
    with out_of_memory_as(too_large), unchanged(source.folder):
        exact = _measured(source, device if dtype == "float32" else "cpu", report)
        if dtype == "float32":
            return exact
        report(f"Loading {source.name} in {dtype}")
        return _in_precision(source, replace(exact, model=nn.Module()), device, dtype)  # frees the float32 model


def _measured(source: Source, device: str, report: Report) -> Encoder:
    report(f"Reading the weights of {source.name}")
    if not source.bundled:  # checked by digests
        check_folder(source.folder, Settings.read().model_dir)
    with ThreadPoolExecutor(1) as executor:  # hashing releases the interpreter's lock
        digests = executor.submit(file_digests, source.folder)
        tokenizer = Tokenizer(source.folder, source.name)
        if not source.bundled:
            tokenizer.check(source.name)
        model, note = _load_model(source, "float32")
        model = model.to(device)
        draft = Encoder(
            name=source.name, revision=source.revision, device=device, dtype="float32", model=model, tokenizer=tokenizer,
            family=model.config.model_type, max_tokens=_max_tokens(source, model, tokenizer),
            n_layers=0, n_heads=0, d_model=0, d_head=0,
        )  # fmt: skip
        report(f"Checking that selfattn reproduces {source.name}'s attention")
        measured = measure(draft, _sample(draft), pinned=source.bundled)
        files = digests.result()
    padding = "padding changes the results, so each batch has texts of one length" if measured.equal_lengths else ""
    digest, configuration = weights_digest(source.folder), configuration_digest(source.folder, files)
    note = _joined(note, tokenizer.note, padding)
    return replace(measured, files=files, digest=digest, configuration=configuration, note=note)


def _in_precision(source: Source, exact: Encoder, device: str, dtype: str) -> Encoder:
    model, _ = _load_model(source, dtype)
    loaded = replace(exact, model=model.to(device), device=device, dtype=dtype)
    if loaded.hooked:
        install(model, exact.n_heads)
    reason = differs_in_precision(loaded, _sample(loaded), PARITY[dtype])
    return replace(
        loaded,
        reason=reason,
        patch_reason=exact.patch_reason or ("" if loaded.hooked else reason),
        hide_reason=exact.hide_reason or reason,
        one_head_reason=exact.one_head_reason or reason,
    )


def available_devices() -> list[str]:
    """Return this machine's devices, the fastest first."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return [device for device in available if available[device]]


def choose_device(device: str) -> str:
    """Return `device`, or for "auto" the fastest available device. Raises LoadError."""
    available = available_devices()
    if device == "auto":
        return available[0]
    kind, colon, number = device.partition(":")
    gpus = torch.cuda.device_count()
    count = gpus if kind == "cuda" else 1
    if kind not in available or (colon and not (number.isdecimal() and int(number) < count)):
        there = [f"cuda (cuda:0 to cuda:{gpus - 1})" if each == "cuda" else each for each in available]
        raise LoadError(f"This machine has no device {device!r}. Choose from {', '.join(there)}.")
    return device


def _load_model(source: Source, dtype: str) -> tuple[nn.Module, str]:
    """Return the encoder's model, without a task head, and a note for visitors ("" if none). Raises LoadError."""
    try:
        config = AutoConfig.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise LoadError(f"transformers can't read {source.name}'s config.json: {brief(error)}.") from None
    # Some forward calls override these defaults to get attentions or hidden states.
    config.return_dict, config.output_attentions, config.output_hidden_states = True, False, False
    loader, note = _loader(source, config)
    try:
        attention = "eager" if ignores_interface(config) else IMPLEMENTATION
        model, missing, unused = read_model(source, loader, config, dtype, attention)
    except Exception as error:  # wrong shapes, truncated files, unknown classes
        if is_out_of_memory(error):
            raise
        sizes = "their shapes don't match config.json"
        reason = sizes if "mismatched" in str(error) else brief(error)
        raise LoadError(f"The weights of {source.name} can't be loaded: {reason}. Download the model again.") from None
    missing = [key for key in missing if "pooler" not in key]
    if missing:
        _check_prefix(source, sorted(missing), set(unused))
        raise LoadError(
            f"{source.name} lacks {len(missing)} of the encoder's weights (first: {sorted(missing)[0]}). Save the complete "
            "model again."
        )
    if not source.bundled:
        _check_finite(source, model, dtype)
    return model, _joined(note, _unused_in_the_body(source, model, unused))


def _check_prefix(source: Source, missing: list[str], unused: set[str]) -> None:
    """Raise LoadError if a wrapper has prefixed the weights' names."""
    prefixes = (name.removesuffix(missing[0]) for name in sorted(unused, key=len) if name.endswith(missing[0]))
    for prefix in prefixes:
        if all(f"{prefix}{name}" in unused for name in missing):
            raise LoadError(
                f"The weights of {source.name} were saved with a wrapper: their names begin with {prefix!r}. Save the model "
                "without the wrapper, or remove the prefix with safetensors.torch: "
                f"save_file({{name.removeprefix({prefix!r}): tensor for name, tensor in load_file(file).items()}}, file, "
                "{'format': 'pt'})."
            )


def _check_finite(source: Source, model: nn.Module, dtype: str) -> None:
    for name, parameter in model.named_parameters():
        # Checking the sum is fast, but the sum of finite numbers may overflow.
        if not parameter.sum().isfinite() and not parameter.isfinite().all():
            raise LoadError(
                f"{source.name}'s weights have NaN or infinity in {dtype} (first: {name}). Download the model again, or choose "
                "another revision or a higher precision."
            )


def _unused_in_the_body(source: Source, model: nn.Module, unused: Iterable[str]) -> str:
    """Return a note about unused pooler weights. Raises LoadError for other unused encoder weights."""
    parts = {name for name, _ in model.named_children()}
    bare = (name.removeprefix(f"{model.base_model_prefix}.") for name in unused)
    within = sorted(name for name in bare if name.split(".")[0] in parts or name.startswith("pooler."))
    lost = [name for name in within if "pooler" not in name]
    if lost:
        raise LoadError(
            f"{source.name} has {len(lost)} encoder weights that {model.config.model_type} doesn't use (first: {lost[0]}), so "
            "its results would be wrong. Save the model again with the installed transformers, or choose another checkpoint."
        )
    return "the pooler's weights aren't used" if within else ""


def read_model(source: Source, loader, config, dtype: str, attention: str) -> tuple[nn.Module, list[str], list[str]]:
    """Load a model. Return the model, the names of missing weights, and the names of unused weights."""
    with quiet():
        model, info = loader.from_pretrained(
            source.folder, config=config, dtype=DTYPES[dtype], attn_implementation=attention, use_safetensors=True,
            local_files_only=True, trust_remote_code=False, output_loading_info=True
        )  # fmt: skip
    return model.requires_grad_(False), info["missing_keys"], info["unexpected_keys"]


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers. Threads take turns, because transformers' settings are global."""
    with _loading:
        verbosity, bar = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        try:
            yield
        finally:
            transformers_logging.set_verbosity(verbosity)
            if bar:
                transformers_logging.enable_progress_bar()


def _loader(source: Source, config):
    """Return the class that loads the encoder, and a note about this encoder ("" if none). Raises LoadError."""
    family = config.model_type
    # T5 and similar families have a class for the encoder half.
    if MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.get(family, "").endswith("EncoderModel"):
        config.is_encoder_decoder = False  # not set by T5Gemma's class
        return AutoModelForTextEncoding, f"the encoder half of an encoder-decoder ({family})"
    if family == "xmod" and getattr(config, "default_language", None) is None:
        raise LoadError(
            f"{source.name} (xmod) has no default language. Add one of its languages to config.json, such as "
            '"default_language": "en_XX".'
        )
    if getattr(config, "trigram_input", False):
        return AutoModel, "its embedding layer mixes each token with the two tokens next to it"
    return AutoModel, ""


def _sample(encoder: Encoder) -> Tokens:
    try:
        return encoder.tokenize(SAMPLE)
    except TextError as error:
        raise LoadError(f"{encoder.name}'s tokeniser can't read {SAMPLE!r}: {error}") from None


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))


def _max_tokens(source: Source, model: nn.Module, tokenizer) -> int:
    """Return the smallest token limit of tokeniser, position tables and config.

    Raises LoadError if model_max_length isn't a number of at least 1.
    """
    longest = tokenizer.model_max_length
    if not isinstance(longest, int | float) or not longest >= 1:  # also True for NaN
        raise LoadError(
            f"model_max_length in {source.name}'s tokenizer_config.json is {str(longest)[:80]!r}. Expected a number of tokens, "
            "such as 512. Correct or remove model_max_length."
        )
    limits = [
        table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)
        for name, table in model.named_modules()
        if isinstance(table, nn.Embedding) and name.endswith("position_embeddings")
    ]
    stated = getattr(model.config, "max_position_embeddings", None)
    if isinstance(stated, int) and stated > 0:  # XLNet has -1
        limits.append(stated)
    return int(min(longest, *(limits or [UNSTATED_LIMIT])))
