"""What every page shares: the visitor's encoder, and cached results of running it.

Caches are keyed by model, revision, digest, device, dtype and text, never by a tensor: Streamlit hashes large arrays by
sample. Each has a bound.
"""

import argparse
import sys
from collections.abc import Callable

import streamlit as st
import torch
from torch import Tensor

from selfattn.analysis.interventions import change_of_cosine, half_of
from selfattn.dashboard import limits
from selfattn.dashboard.address import of_all_pages
from selfattn.dashboard.cache import BoundedCache
from selfattn.dashboard.figures import show_error
from selfattn.dashboard.shelf import Shelf
from selfattn.dashboard.shown import note_text, shown
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import LoadError, TextError
from selfattn.encoders.loading import available_devices, load_encoder
from selfattn.encoders.masked_lm import MaskedHead, NoMaskedHead, load_masked_head
from selfattn.encoders.sources import BUNDLED_NAME, CURATED, allowed_names

OTHER = "another ..."
DTYPES = ("float32", "bfloat16", "float16")


def encoder_key(encoder: Encoder) -> tuple[str | None, ...]:
    """What tells one loaded encoder from another."""
    return (encoder.name, encoder.revision, encoder.digest, encoder.device, encoder.dtype)


HASHED = {Encoder: encoder_key}


def start_model() -> str:
    """The encoder named on the command line (`streamlit run app.py -- --model NAME`), else the bundled one."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--model", default=BUNDLED_NAME)
    return parser.parse_known_args(sys.argv[1:])[0].model


def current_encoder() -> Encoder:
    """The encoder chosen in the sidebar, loaded once for all visitors; stays on the start encoder where it can't load."""
    name, revision, device, dtype = _choice()
    try:
        encoder = load(name, revision or None, device, dtype)
    except LoadError as error:
        show_error(error)
        try:
            encoder = load(BUNDLED_NAME, None, device, "float32")
        except LoadError as fallback_error:
            show_error(fallback_error)
            st.stop()
        st.text(f"Meanwhile this page stays on {encoder.name}.")
    return encoder


def show_encoder(encoder: Encoder) -> None:
    """A few lines in the sidebar that say what is loaded and where it runs."""
    shown().encoder = encoder
    with st.sidebar:
        revision = f", revision {encoder.revision[:7]}" if encoder.revision else ""
        where = {"cpu": "the CPU", "cuda": "the GPU (CUDA)", "mps": "the GPU (MPS)"}.get(encoder.device, encoder.device)
        bundled = " (bundled)" if encoder.name == BUNDLED_NAME else ""
        st.text(
            f"{encoder.name}{bundled}{revision}\n{encoder.n_layers} layers × {encoder.n_heads} heads\non {where}, {encoder.dtype}"
            + (f"\n{encoder.note}" if encoder.note else "")
        )
        if not encoder.recomputable:
            st.text(f"Shown, not recomputed: {encoder.reason}", width="stretch")


def cached_encode(encoder: Encoder, text: str, pair: str | None = None) -> Encoding:
    """The text's Encoding, from the cache where it was run before. Raises TextError."""
    limits.check_characters(text)

    def run() -> Encoding:
        with limits.run_slot():
            return encoder.encode(text, pair)

    return _encodings().get((encoder_key(encoder), text, pair), run)


def encode_or_stop(encoder: Encoder, text: str, label: str) -> Encoding:
    """The text's Encoding; where the encoder can't read it, the page says why and ends there."""
    try:
        encoding = cached_encode(encoder, text)
    except TextError as error:
        show_error(f"{label}: {error}")
        st.stop()
    note_text(encoder, label, encoding)
    return encoding


def load(name: str, revision: str | None, device: str, dtype: str) -> Encoder:
    """An encoder from the shelf, loaded where it isn't there; the page says what is being done. Raises LoadError."""
    place = st.empty()

    def report(stage: str) -> None:
        place.text(f"{stage} ...")  # it may hold a name that a visitor typed: plain text

    try:
        return _shelf().get(
            (name, revision, device, dtype),
            lambda: load_encoder(name, revision=revision, device=device, dtype=dtype, report=report),
        )
    finally:
        place.empty()


@st.cache_resource(show_spinner=False)
def _shelf() -> Shelf:
    # Encodings and masked-language heads keep hold of their encoder's modules: they go with it.
    return Shelf(limits.MODELS, on_evict=lambda: (_encodings.clear(), masked_head.clear()))


@st.cache_resource(max_entries=limits.MODELS, show_spinner="Loading the masked-language head ...", hash_funcs=HASHED)
def masked_head(encoder: Encoder) -> MaskedHead | str:
    """The encoder's masked-language head, or why there is none."""
    try:
        return load_masked_head(encoder)
    except NoMaskedHead as error:
        return str(error)


def cached_effect(
    encoder: Encoder,
    first: tuple[str, tuple[int, ...]],
    second: tuple[str, tuple[int, ...]],
    how: str = "zero",
    progress: Callable[[int, int], None] | None = None,
) -> Tensor:
    """The effect of removing each head on the difference of two word vectors: (n_layers, n_heads).

    first, second: (text, positions). Each sentence's passes are kept, so a sentence in two comparisons runs once.
    """
    after = [cached_knock_out(encoder, place, how, half_of(progress, i)) for i, place in enumerate((first, second))]
    before = [cached_encode(encoder, text).vector(encoder.n_layers, positions) for text, positions in (first, second)]
    return change_of_cosine(after, before)


def cached_knock_out(
    encoder: Encoder,
    place: tuple[str, tuple[int, ...]],
    how: str = "zero",
    progress: Callable[[int, int], None] | None = None,
) -> Tensor:
    """What a word's vector becomes without each head in turn: (n_layers, n_heads, d_model). place: (text, positions).

    Kept in a cache of our own, because a function under Streamlit's cache may not show its progress.
    """
    text, positions = place

    def run() -> Tensor:
        with limits.run_slot():
            return encoder.knock_out(text, positions, how, progress)

    return _knock_outs().get((encoder_key(encoder), text, positions, how), run)


@st.cache_resource(show_spinner=False)
def _encodings() -> BoundedCache:
    return BoundedCache(limits.CACHED_TEXT_BYTES)


@st.cache_resource(show_spinner=False)
def _knock_outs() -> BoundedCache:
    return BoundedCache(limits.CACHED_BYTES)


@st.cache_data(max_size=limits.CACHED_BYTES, show_spinner=False, hash_funcs=HASHED)
def cached_error(encoder: Encoder, text: str, layer: int, head: int | None = None) -> float:
    """The largest difference between the kernel's weights and the model's own, on the same inputs; None: all heads."""
    encoding = cached_encode(encoder, text)
    return float((encoding.weights(layer, head) - encoding.own_weights(layer, head)).abs().max())


def cached_separate_error(encoder: Encoder, text: str, layer: int, head: int) -> float | None:
    """The same against a whole separate eager pass; None for a text too long to hold all its maps for it."""
    errors = _separate_errors(encoder, text)
    return None if errors is None else float(errors[layer, head])


@st.cache_data(max_size=limits.CACHED_BYTES, show_spinner=False, hash_funcs=HASHED)
def _separate_errors(encoder: Encoder, text: str) -> Tensor | None:
    """Every head's largest difference to one separate eager pass, (n_layers, n_heads): one pass serves all heads."""
    encoding = cached_encode(encoder, text)
    if not encoder.separate_pass_fits(len(encoding.tokens)):
        return None
    with limits.run_slot():
        reference = encoder.reference_weights(text)
    kernel = (encoding.weights(layer) for layer in range(encoder.n_layers))
    return torch.stack([(own - ours).abs().amax(dim=(1, 2)) for own, ours in zip(reference, kernel)])


@st.cache_data(max_size=limits.CACHED_BYTES, show_spinner=False, hash_funcs=HASHED)
def cached_without_attention(encoder: Encoder, texts: tuple[str, ...]) -> list[Tensor]:
    """Hidden states (n_layers + 1, n, d_model) of each text with every head's output zero."""
    with limits.run_slot():
        return encoder.without_attention(texts)


@of_all_pages
def _choice() -> tuple[str, str, str, str]:
    """The sidebar's pickers: name, revision, device, dtype."""
    start = start_model()
    allowed = allowed_names()
    known = list(dict.fromkeys([start, *(allowed or CURATED)]))
    options = known if allowed is not None else [*known, OTHER]
    if (asked := st.session_state.get("model")) is not None and asked not in options:
        st.session_state.model = start
    with st.sidebar:
        name = st.selectbox("Encoder", options, key="model", bind="query-params", format_func=short_name)
        revision = ""
        if name == OTHER:
            name = st.text_input(
                "Hub id or folder", key="other", bind="query-params", placeholder="owner/name or /a/folder"
            )
            revision = st.text_input("Revision", key="revision", bind="query-params", placeholder="newest")
            name = name.strip() or start
        devices = limits.devices(available_devices())
        device, dtype = "auto", "float32"
        with st.popover("Device and precision", width="stretch"):
            device = st.selectbox("Device", ["auto", *devices], key="device", bind="query-params")
            dtype = st.selectbox("Precision", DTYPES, key="dtype", bind="query-params")
    return name, revision, devices[0] if device == "auto" else device, dtype


def short_name(name: str) -> str:
    """The picker's label: the bundled encoder's without its owner, which doesn't fit the sidebar."""
    return name.split("/")[-1] if name == BUNDLED_NAME else name
