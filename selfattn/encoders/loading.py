"""Load a pretrained encoder, and measure at load whether the kernel can recompute it, instead of trusting a list."""

import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn
from transformers import MODEL_MAPPING, AutoConfig, AutoModel, AutoModelForTextEncoding, AutoTokenizer
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES,
)
from transformers.utils import logging as transformers_logging

from selfattn.encoders.capture import IMPLEMENTATION, Recorder
from selfattn.encoders.checkpoint import count_numbers
from selfattn.encoders.encoder import Encoder, is_out_of_memory, out_of_memory_as
from selfattn.encoders.errors import LoadError, TextError
from selfattn.encoders.reference import EagerTwin
from selfattn.encoders.sources import Source, resolve

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
PROBE = "The bank of the river."
PARITY = {"float32": 1e-4, "bfloat16": 5e-2, "float16": 1e-2}  # largest difference in a weight that counts as equal
NO_LIMIT = 8192  # tokens, where neither tokeniser nor position table sets one (T5)

Report = Callable[[str], None]  # called with a few words at each stage

_loading = threading.Lock()


def load_encoder(
    name: str | None = None,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "float32",
    report: Report = lambda stage: None,
) -> Encoder:
    """Load an encoder: the bundled one (None), a folder saved by save_pretrained, or a Hub id.

    device: "auto" (CUDA, then Apple's MPS, then CPU) or "cpu", "cuda", "mps". dtype: "float32", "bfloat16", "float16".
    report is called with a few words before each stage, because a download can take minutes.
    An existing folder wins over a Hub id. Only safetensors are read; no code that comes with a model is run.
    Raises LoadError, whose message says what is wrong and what to do.
    """
    if dtype not in DTYPES:
        raise LoadError("dtype", f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}.")
    device = choose_device(device)
    return load_source(resolve(name, revision, report), device, dtype, report)


def load_source(
    source: Source, device: str = "cpu", dtype: str = "float32", report: Report = lambda stage: None
) -> Encoder:
    """Load from a folder that was checked already; device and dtype as known to be there. Raises LoadError."""
    report(f"Reading the weights of {source.name}")
    tokenizer = _load_tokenizer(source)
    too_large = LoadError(
        "memory",
        f"{source.name} doesn't fit into the memory of {device}. Choose a smaller encoder, or another device or precision.",
    )
    with out_of_memory_as(too_large):
        model, note = _load_model(source, dtype)
        model = model.to(device).eval().requires_grad_(False)
        report(f"Checking the kernel against {source.name}'s own attention")
        return _measure(source, model, tokenizer, device, dtype, note)


def available_devices() -> list[str]:
    """The devices this machine has, best first."""
    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return [device for device, there in present.items() if there]


def choose_device(device: str) -> str:
    """The device for "auto" or a device's own name; raises LoadError for one that this machine hasn't."""
    available = available_devices()
    if device == "auto":
        return available[0]
    if device.split(":")[0] not in available:
        raise LoadError("device", f"This machine has no {device!r}; it has {', '.join(available)}.")
    return device


def _load_tokenizer(source: Source):
    try:
        tokenizer = AutoTokenizer.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # tokenisers raise whatever their file format makes them raise
        raise LoadError("tokenizer", f"{source.name}'s tokeniser can't be loaded: {_short(error)}.") from None
    if not tokenizer.is_fast:
        raise LoadError(
            "tokenizer",
            f"{source.name}'s tokeniser gives no character offsets. It needs a tokenizer.json (fast tokeniser).",
        )
    # Switched off once, here: asking for them later would change an object that other threads use.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    return tokenizer


def _load_model(source: Source, dtype: str) -> tuple[nn.Module, str]:
    """The bare encoder and a note for the visitor. Raises LoadError."""
    try:
        config = AutoConfig.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # a config can be broken in any way
        raise LoadError(
            "config", f"{source.name}'s config.json is not one of a known model: {_short(error)}."
        ) from None
    loader, note = _loader(source, config)
    _check_size(source, loader, config)
    try:
        model, missing = read_model(
            source, loader, config, dtype, "eager" if _ignores_interface(config) else IMPLEMENTATION
        )
    except Exception as error:  # mismatched shapes, truncated files, unknown classes: all mean the weights don't fit
        if is_out_of_memory(error):
            raise
        raise LoadError(
            "weights",
            f"{source.name}'s weights don't fit its config, or the file is damaged: {_short(error)}. Download it again.",
        ) from None
    missing = [key for key in missing if "pooler" not in key]
    if missing:
        raise LoadError(
            "weights",
            f"{source.name} lacks {len(missing)} of the encoder's weights (first: {sorted(missing)[0]}); they would be "
            "random numbers. Save the whole model again.",
        )
    return model, note


def read_model(source: Source, loader, config, dtype: str, attention: str) -> tuple[nn.Module, list[str]]:
    """The model that a class of transformers reads from a checked folder, and the names of the weights it didn't find."""
    with quiet():
        model, info = loader.from_pretrained(
            source.folder, config=config, dtype=DTYPES[dtype], attn_implementation=attention, use_safetensors=True,
            local_files_only=True, trust_remote_code=False, output_loading_info=True
        )  # fmt: skip
    return model, info["missing_keys"]


def _check_size(source: Source, loader, config) -> None:
    """Refuse a config that describes a far larger model than the weights file holds, before memory is asked for it."""
    try:
        with torch.device("meta"):
            described = sum(parameter.numel() for parameter in loader.from_config(config).parameters())
    except Exception as error:  # a config can be broken in any way
        raise LoadError("config", f"{source.name}'s config.json describes no model: {_short(error)}.") from None
    stored = count_numbers(source.folder)
    if described > 2 * stored + 10_000_000:  # what may rightly be missing is a pooler
        raise LoadError(
            "weights",
            f"{source.name}'s config.json describes a model of {described:,} numbers; its weights file holds {stored:,}. "
            "They don't belong together. Download both again.",
        )


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bar and no warnings from transformers; one load at a time, because its switches are global."""
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
    """The class that loads the bare encoder, and a note for the visitor. Raises LoadError for what is no encoder."""
    family = config.model_type
    # T5 and its kin have a class of their own for the encoder half, whether it was saved alone or with its decoder.
    if MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.get(family, "").endswith("EncoderModel"):
        return AutoModelForTextEncoding, f"the encoder half of an encoder-decoder ({family})"
    if getattr(config, "is_encoder_decoder", False):
        raise LoadError(
            "encoder",
            f"{source.name} is an encoder-decoder ({family}) whose encoder half can't be loaded by itself. "
            "Of this kind, T5, mT5 and umT5 can.",
        )
    causal_only = family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and family not in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if getattr(config, "is_decoder", False) or (causal_only and family != "xlnet"):
        raise LoadError(
            "encoder",
            f"{source.name} is a decoder ({family}): its tokens see only what stands before them. selfattn opens "
            "encoders, such as bert-base-uncased or answerdotai/ModernBERT-base.",
        )
    if getattr(config, "trigram_input", False):
        return AutoModel, "its embeddings mix each token with its two neighbours before any attention"
    return AutoModel, ""


def _ignores_interface(config) -> bool:
    """Whether the family's modules never ask the attention interface (then only `eager` reports weights)."""
    try:
        classes = MODEL_MAPPING[type(config)]
    except KeyError:
        return True
    first = classes[0] if isinstance(classes, tuple) else classes
    return not hasattr(importlib.import_module(first.__module__), "eager_attention_forward")


def _measure(source: Source, model: nn.Module, tokenizer, device: str, dtype: str, note: str) -> Encoder:
    """Run a probe sentence and read off what the encoder is: heads, sizes, and whether it can be recomputed."""
    config = model.config
    draft = Encoder(
        name=source.name,
        revision=source.revision,
        family=config.model_type,
        n_layers=config.num_hidden_layers,
        n_heads=config.num_attention_heads,
        d_model=config.hidden_size,
        d_head=config.hidden_size // config.num_attention_heads,
        max_tokens=_max_tokens(model, tokenizer),
        device=device,
        dtype=dtype,
        recomputable=False,
        reason="",
        model=model,
        tokenizer=tokenizer,
        digest=source.digest,
        note=note,
        eager=EagerTwin(model),
    )
    try:
        inputs = draft.inputs([draft.tokenize(PROBE)])
    except TextError as error:
        raise LoadError("tokenizer", f"{source.name}'s tokeniser can't read {PROBE!r}: {error}") from None
    reference, d_model = _reference(source, draft, inputs)
    recorder = Recorder()
    reason = _why_not(draft, inputs, recorder, reference)
    d_head = recorder.layers[0].query.shape[-1] if not reason else draft.d_head
    return replace(
        draft, n_layers=len(reference), d_model=d_model, d_head=d_head, recomputable=not reason, reason=reason
    )


def _reference(source: Source, encoder: Encoder, inputs: dict[str, Tensor]) -> tuple[list[Tensor], int]:
    """The eager weights of the probe, one (n_heads, n, n) a layer, and d_model. Refuses what is no such map."""
    with torch.no_grad():
        output = encoder.eager.run(inputs)
    weights = [layer[0].float().cpu() for layer in output.attentions or () if layer is not None]
    n = inputs["input_ids"].shape[1]
    if not weights:
        raise LoadError("attention", f"{source.name} ({encoder.family}) reports no attention weights at all.")
    if any(layer.shape[-2:] != (n, n) for layer in weights):
        shape = next(tuple(layer.shape) for layer in weights if layer.shape[-2:] != (n, n))
        raise LoadError(
            "attention",
            f"{source.name} ({encoder.family}) has attention maps of shape {shape} for {n} tokens, not (n, n): its tokens "
            "don't each attend to all others (windows or pooling), so there is no whole map to show.",
        )
    if any((layer.sum(-1) - 1).abs().max() > 2e-2 for layer in weights):
        raise LoadError("attention", f"{source.name} ({encoder.family}) reports weights whose rows don't sum to 1.")
    return weights, output.last_hidden_state.shape[-1]


def _why_not(encoder: Encoder, inputs: dict[str, Tensor], recorder: Recorder, reference: list[Tensor]) -> str:
    """Why the kernel can't recompute this encoder, or "" if it can."""
    try:
        with torch.no_grad():
            encoder.model(**inputs, recorder=recorder)
    except TypeError:
        return f"{encoder.family} has its own attention and takes no other (relative-position terms, for instance)."
    if len(recorder.layers) != len(reference):
        return (
            f"{encoder.family} computes its attention by itself: {len(recorder.layers)} of {len(reference)} layers went "
            "through the interface where query, key and value can be read."
        )
    error = max(float((layer.weights() - own).abs().max()) for layer, own in zip(recorder.layers, reference))
    if error > PARITY[encoder.dtype]:
        return (
            f"the kernel's weights differ from the model's own by {error:.1e}, so {encoder.family} does more than QK^T."
        )
    return ""


def _max_tokens(model: nn.Module, tokenizer) -> int:
    """The smaller of the tokeniser's limit and the position table's, special tokens included."""
    limits = [
        table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)
        for name, table in model.named_modules()
        if isinstance(table, nn.Embedding) and name.endswith("position_embeddings")
    ]
    if not limits:
        stated = getattr(model.config, "max_position_embeddings", None) or 0
        limits = [stated if stated > 0 else NO_LIMIT]  # XLNet says -1
    return int(min(tokenizer.model_max_length, *limits))


def _short(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
