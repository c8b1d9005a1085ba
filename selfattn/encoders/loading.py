"""Load a pretrained encoder, and measure at load whether the kernel can recompute it, instead of trusting a list."""

import importlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from transformers import MODEL_MAPPING, AutoConfig, AutoModel, AutoModelForTextEncoding, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES
from transformers.utils import logging as transformers_logging

from selfattn.encoders.capture import IMPLEMENTATION
from selfattn.encoders.checkpoint import count_numbers, file_digests, weights_digest
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, TextError, brief, failing_as
from selfattn.encoders.hooks import install
from selfattn.encoders.memory import is_out_of_memory, out_of_memory_as
from selfattn.encoders.parity import differs_in_precision, measure
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.reference import EagerTwin
from selfattn.encoders.sources import Source, resolve

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
PROBE = "The bank of the river."
PARITY = {"bfloat16": 5e-2, "float16": 1e-2}  # largest difference in a weight that a low precision explains
UNSTATED_LIMIT = 8192  # tokens, where neither tokeniser nor position table sets one (T5)

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
    """Load from a folder that was checked already; device and dtype as known to be there. Raises LoadError.

    What the encoder is, is measured in float32. For a lower precision that takes a load of its own, on the CPU, because
    the device may lack the room; the precision's own, looser check follows.
    """
    report(f"Reading the weights of {source.name}")
    tokenizer = _load_tokenizer(source)
    too_large = LoadError(
        "memory",
        f"{source.name} doesn't fit into the memory of {device}. Choose a smaller encoder, or another device or precision.",
    )
    with out_of_memory_as(too_large):
        if dtype == "float32":
            return _measured(source, tokenizer, device, report)
        exact = replace(_measured(source, tokenizer, "cpu", report), model=nn.Module(), eager=EagerTwin(nn.Module()))
        return _lowered(source, exact, device, dtype)


def _measured(source: Source, tokenizer, device: str, report: Report) -> Encoder:
    """The encoder in float32, and what a short text says about it."""
    draft = _draft(source, tokenizer, device)
    report(f"Checking the kernel against {source.name}'s own attention")
    measured = measure(draft, _probe(draft), pinned=source.kind == "bundled")
    padding = "padding changes its numbers: only texts of one length run together" if measured.equal_lengths else ""
    return replace(measured, note=_joined(measured.note, padding))


def _lowered(source: Source, exact: Encoder, device: str, dtype: str) -> Encoder:
    """The encoder that was measured in float32 (and let go), loaded again in a lower precision."""
    model, _ = _load_model(source, dtype)
    model = model.to(device).eval().requires_grad_(False)
    lowered = replace(exact, model=model, eager=EagerTwin(model), device=device, dtype=dtype)
    if lowered.hooked:
        install(model, exact.n_heads)
    reason = exact.reason or differs_in_precision(lowered, _probe(lowered), PARITY[dtype])
    patch_reason = exact.patch_reason or ("" if lowered.hooked else reason)
    return replace(lowered, reason=reason, recomputable=not reason, patch_reason=patch_reason)


def available_devices() -> list[str]:
    """The devices this machine has, best first."""
    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return [device for device, there in present.items() if there]


def choose_device(device: str) -> str:
    """The device for "auto" or a device's own name; raises LoadError for one that this machine hasn't."""
    available = available_devices()
    if device == "auto":
        return available[0]
    kind, colon, number = device.partition(":")
    gpus = torch.cuda.device_count()
    count = gpus if kind == "cuda" else 1
    if kind not in available or (colon and not (number.isdecimal() and int(number) < count)):
        there = [f"cuda (cuda:0 to cuda:{gpus - 1})" if each == "cuda" else each for each in available]
        raise LoadError("device", f"This machine has no {device!r}; it has {', '.join(there)}. Choose one of these.")
    return device


def _load_tokenizer(source: Source):
    with failing_as(  # tokenisers raise whatever their file format makes them raise
        lambda reason: LoadError(
            "tokenizer",
            f"{source.name}'s tokeniser can't be loaded: {reason}. Save it again with tokenizer.save_pretrained(folder).",
        )
    ):
        tokenizer = AutoTokenizer.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
    if not getattr(tokenizer, "is_fast", False):
        raise LoadError(
            "tokenizer",
            f"{source.name}'s tokeniser ({type(tokenizer).__name__}) is written in Python and says of no token where in "
            "the text it stands. selfattn needs a fast one (tokenizer.json), and transformers has none of this kind. "
            "Take another encoder.",
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
        raise LoadError("config", f"{source.name}'s config.json is not one of a known model: {brief(error)}.") from None
    # What the model returns is asked of it in each call, whatever the folder says.
    config.return_dict, config.output_attentions, config.output_hidden_states = True, False, False
    loader, note = _loader(source, config)
    pinned = source.kind == "bundled"  # known by its digest: what can be wrong with a file isn't with this one
    if not pinned:
        _check_size(source, loader, config)
    try:
        attention = "eager" if _ignores_interface(config) else IMPLEMENTATION
        model, missing, unused = read_model(source, loader, config, dtype, attention)
    except Exception as error:  # mismatched shapes, truncated files, unknown classes: all mean the weights don't fit
        if is_out_of_memory(error):
            raise
        raise LoadError(
            "weights",
            f"{source.name}'s weights don't fit its config, or the file is damaged: {brief(error)}. Download it again.",
        ) from None
    if weights_digest(source.folder) != source.digest:
        raise LoadError("weights", f"{source.name}'s weights file changed while it was read. Load it again.")
    missing = [key for key in missing if "pooler" not in key]
    if missing:
        raise LoadError(
            "weights",
            f"{source.name} lacks {len(missing)} of the encoder's weights (first: {sorted(missing)[0]}); they would be "
            "random numbers. Save the whole model again.",
        )
    if not pinned:
        _check_finite(source, model, dtype)
    return model, _joined(note, _unused_in_the_body(source, model, unused))


def _check_finite(source: Source, model: nn.Module, dtype: str) -> None:
    """Refuse weights with NaN or infinite numbers; a number too large for a low precision becomes infinite in it."""
    for name, parameter in model.named_parameters():
        # A sum is quick and not finite where a number isn't; it can be too large by itself, so then each is asked.
        if not parameter.sum().isfinite() and not parameter.isfinite().all():
            raise LoadError(
                "weights",
                f"{source.name}'s weights hold numbers that are not finite in {dtype} (first: {name}). Download it again, "
                "take another revision, or a higher precision.",
            )


def _unused_in_the_body(source: Source, model: nn.Module, unused: Iterable[str]) -> str:
    """A note on weights of the checkpoint that the encoder doesn't take; "" for those of a head on top of it.

    A pooler's are harmless: nothing here reads one. Raises LoadError for any others within the encoder, because what
    would run isn't what was trained (the distances of old relative-position BERTs, layers that the config leaves out).
    """
    parts = {name for name, _ in model.named_children()}
    bare = (name.removeprefix(f"{model.base_model_prefix}.") for name in unused)
    within = sorted(name for name in bare if name.split(".")[0] in parts or name.startswith("pooler."))
    lost = [name for name in within if "pooler" not in name]
    if lost:
        raise LoadError(
            "weights",
            f"{source.name} holds {len(lost)} weights within the encoder that {model.config.model_type} doesn't take (first: "
            f"{lost[0]}), so the encoder would not be the one that was trained. Save it again with the installed "
            "transformers, or take another checkpoint.",
        )
    return "the weights of its pooler aren't used" if within else ""


def read_model(source: Source, loader, config, dtype: str, attention: str) -> tuple[nn.Module, list[str], list[str]]:
    """The model that a class of transformers reads from a checked folder.

    And the names of the weights that it didn't find there, and of those there that it didn't take.
    """
    with quiet():
        model, info = loader.from_pretrained(
            source.folder, config=config, dtype=DTYPES[dtype], attn_implementation=attention, use_safetensors=True,
            local_files_only=True, trust_remote_code=False, output_loading_info=True
        )  # fmt: skip
    return model, info["missing_keys"], info["unexpected_keys"]


def _check_size(source: Source, loader, config) -> None:
    """Refuse a config that describes a far larger model than the weights file holds, before memory is asked for it."""
    try:
        with torch.device("meta"), _BoundedCalls():
            model = loader.from_config(config)
        described = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    except Exception as error:  # a config can be broken in any way
        raise LoadError("config", f"{source.name}'s config.json describes no model: {brief(error)}.") from None
    stored = count_numbers(source.folder)
    if described > 2 * stored + 10_000_000:  # what may rightly be missing is a pooler
        raise LoadError(
            "weights",
            f"{source.name}'s config.json describes a model of {described:,} numbers; its weights file holds {stored:,}. "
            "They don't belong together. Download both again.",
        )


class _BoundedCalls(TorchFunctionMode):
    """Ends what would build layers without end: every tensor that is made or filled inside is a call of torch's."""

    most = 100_000  # a BERT of 256 layers takes 20,000, in a second

    def __init__(self):
        super().__init__()
        self._calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self._calls += 1
        if self._calls > self.most:
            raise ValueError(f"it takes more than {self.most:,} steps to build")
        return function(*args, **(kwargs or {}))


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
        config.is_encoder_decoder = False  # T5Gemma's class doesn't do it by itself
        return AutoModelForTextEncoding, f"the encoder half of an encoder-decoder ({family})"
    if family == "xmod" and getattr(config, "default_language", None) is None:
        raise LoadError(
            "encoder",
            f"{source.name} (xmod) has an adapter for each language and doesn't say which one to use. Add "
            '"default_language": "en_XX" (or another of its languages) to its config.json.',
        )
    if getattr(config, "is_encoder_decoder", False):
        raise LoadError(
            "encoder",
            f"{source.name} is an encoder-decoder ({family}) whose encoder half can't be loaded by itself. "
            "Of this kind, T5, mT5, umT5 and T5Gemma can.",
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


def _draft(source: Source, tokenizer, device: str) -> Encoder:
    """The encoder in float32 before anything of it was measured: its sizes are 0."""
    model, note = _load_model(source, "float32")
    model = model.to(device).eval().requires_grad_(False)
    return Encoder(
        name=source.name,
        revision=source.revision,
        family=model.config.model_type,
        n_layers=0,
        n_heads=0,
        d_model=0,
        d_head=0,
        max_tokens=_max_tokens(source, model, tokenizer),
        device=device,
        dtype="float32",
        recomputable=False,
        reason="",
        model=model,
        tokenizer=tokenizer,
        digest=source.digest,
        files=file_digests(source.folder),
        note=note,
        eager=EagerTwin(model),
    )


def _probe(encoder: Encoder) -> Tokens:
    """The tokens of a short sentence. Raises LoadError for a tokeniser that can't read it."""
    try:
        return encoder.tokenize(PROBE)
    except TextError as error:
        raise LoadError("tokenizer", f"{encoder.name}'s tokeniser can't read {PROBE!r}: {error}") from None
    except (AttributeError, NotImplementedError):  # what transformers makes of images and characters
        raise LoadError(
            "encoder",
            f"{encoder.name} ({encoder.family}) has no table of token vectors, so it is no text encoder of word pieces. "
            "selfattn opens such encoders, bert-base-uncased for instance.",
        ) from None


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))


def _max_tokens(source: Source, model: nn.Module, tokenizer) -> int:
    """The smaller of the tokeniser's limit and the position table's, special tokens included. Raises LoadError."""
    said = tokenizer.model_max_length
    if not isinstance(said, int | float) or not said >= 1:  # nor NaN
        raise LoadError(
            "tokenizer",
            f"{source.name}'s tokenizer_config.json says that model_max_length is {str(said)[:80]!r}; expected a number of "
            "tokens, such as 512. Correct it, or take it out.",
        )
    limits = [
        table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)
        for name, table in model.named_modules()
        if isinstance(table, nn.Embedding) and name.endswith("position_embeddings")
    ]
    stated = getattr(model.config, "max_position_embeddings", None)
    if isinstance(stated, int) and stated > 0:  # XLNet says -1
        limits.append(stated)
    return int(min(said, *(limits or [UNSTATED_LIMIT])))
