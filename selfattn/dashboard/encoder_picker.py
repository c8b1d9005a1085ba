"""Draw the encoder pickers, and load encoders."""

import gc
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.cache import Cache, encoder_key, forget
from selfattn.dashboard.figures import PageEnds, literal, say, show_error, this_page
from selfattn.dashboard.link import (
    DIGITS,
    keep_identity,
    linked,
    note_identity,
    remember_link,
    say_what_is_missing,
    spell,
)
from selfattn.dashboard.navigation import show_link
from selfattn.dashboard.permissions import (
    beyond_localhost,
    check_encoder,
    for_visitors,
    loads_unasked,
    offered_encoders,
)
from selfattn.dashboard.queue import page_lent, threads_for
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError
from selfattn.encoders.heads_on_top import CLASSES, TAGS, carries
from selfattn.encoders.loading import available_devices, load_encoder
from selfattn.encoders.memory import give_memory_back
from selfattn.encoders.sources import BUNDLED_NAME, CURATED
from selfattn.senses import random_twin
from selfattn.settings import Settings

UNTRAINED = "the same, untrained"
OTHER = "another ..."
DTYPES = ("float32", "bfloat16", "float16")


def current_encoder() -> Encoder:
    """Return the chosen encoder, or the bundled encoder if the chosen encoder can't be loaded."""
    name, revision, device, dtype = this_page().asked or pick_encoder()  # None if app.py hasn't drawn the pickers
    try:
        if session.LINKED_TO.of(session.MODEL).get():
            _ask_before_loading(session.MODEL, "content", name, revision, device, dtype)
        encoder = load(name, revision or None, device, dtype)
    except LoadError as error:
        show_error(error)
        try:
            encoder = load(BUNDLED_NAME, None, device, "float32")
        except LoadError as fallback_error:
            show_error(fallback_error)
            st.stop()
        st.text(f"This page shows {encoder.title} instead.")
    named = (name, revision) != (offered_encoders()[0][0], "")
    note_identity("content", encoder, lambda: _not_had(session.MODEL, "other") or short_name(name) * named, named)
    return encoder


def show_encoder(encoder: Encoder) -> None:
    """Show the encoder's size, its device and notes about it."""
    page = this_page()
    page.encoder, where = encoder, "the CPU" if encoder.device == "cpu" else f"the GPU ({encoder.device.upper()})"
    page.details.text(f"{encoder.n_layers} layers × {encoder.n_heads} heads, {encoder.dtype}, on {where}")
    with st.sidebar:
        asked = next((head for head in (CLASSES, TAGS) if carries(encoder.model.config, head)), "")
        if asked and page.name != "predictions":
            st.text(f"This encoder has a {asked}.")
            show_link("predictions", "Predictions of this encoder", "arrow_forward")
        if encoder.note:
            say(encoder.note)
        if not encoder.recomputable:
            say(
                f"selfattn shows the model's own attention weights, because selfattn can't recompute them: {encoder.reason}"
            )


def load(name: str, revision: str | None, device: str, dtype: str) -> Encoder:
    """Return the encoder, from the cache or newly loaded. Raises LoadError."""
    check_encoder(name, revision or "")

    def make() -> Encoder:
        place = this_page().news.empty()  # plain text, because a visitor may have typed the name

        def report(stage: str) -> None:
            place.text(f"{for_visitors(stage, name)} ...")

        try:
            with page_lent(), _loading:
                encoder = load_encoder(name, revision=revision, device=device, dtype=dtype, report=report)
        finally:
            place.empty()
        return replace(encoder, around=threads_for)

    try:
        return _kept((name, revision, device, dtype), make)
    except LoadError as error:
        raise LoadError(for_visitors(str(error), name)) from None


# st.cache_resource isn't used here, because it can't show progress (CacheReplayClosureError).
_encoders: Cache[Encoder] = Cache(Settings.read().max_models, lambda _: 1, forget)
_loading = threading.Lock()  # two loads at once could fill the memory


def _kept(key: tuple, make: Callable[[], Encoder]) -> Encoder:
    later = this_page().later

    def made() -> Encoder:
        encoder = make()
        later.append(_settle)
        return encoder

    return _encoders.get(key, made)


def _note_link(key: session.Key, name: str, revision: str) -> None:
    """Remember the encoder that the opened link names, until the visitor chooses another.

    Call this before `say_what_is_missing`.
    """
    linked_to = session.LINKED_TO.of(key)
    named = (name, revision)
    if st.session_state.setdefault(linked_to, named if linked(key) else None) != named:
        linked_to.set(None)


def _ask_before_loading(key: session.Key, identity: str, name: str, revision: str, device: str, dtype: str) -> None:
    """Ask the visitor before loading an encoder that a link names and the visitor didn't choose.

    Raises PageEnds, or LoadError if the encoder isn't offered.
    Don't read the encoder's folder before the visitor agrees: the folder may be on another machine.
    """
    check_encoder(name, revision)
    linked_to = session.LINKED_TO.of(key)
    loaded = (name, revision or None, device, dtype) in _encoders
    if linked_to.get() != (name, revision) or loaded or loads_unasked(name, revision):
        return
    where = "selfattn would load a folder with this name, or else a model from the Hugging Face Hub."
    if Path(name).is_absolute() or name.startswith((".", "~")):
        where = "selfattn would load this folder."
    with this_page().news.container():
        st.info(literal(f"Load {for_visitors(name, name)}? The link names this encoder. {where}"))
        st.button("Load it", key=f"load_{key}", on_click=linked_to.set, args=(None,), type="primary")
    keep_identity(identity)
    raise PageEnds


def _settle() -> None:
    """Free the memory of an encoder that the cache has dropped.

    Without gc.freeze(), each later garbage collection takes 178 ms.
    """
    gc.unfreeze()
    gc.collect()
    give_memory_back()
    gc.freeze()


def pick_encoder() -> tuple[str, str, str, str]:
    """Draw the sidebar's pickers. Return the encoder's name, revision, device and dtype."""
    known, others = offered_encoders()
    options = [*known, OTHER] if others else known
    remember_link()
    with st.sidebar:
        name = _pick(session.MODEL, "Encoder", options)
        revision = ""
        if name == OTHER:
            name, revision = _named()
            name = name or known[0]
        devices = offered_devices(available_devices())
        device = "auto"
        this_page().details = st.popover("Details", type="tertiary")
        with this_page().details:
            if devices[1:]:
                device = st.selectbox("Device", ["auto", *devices], key="device", bind="query-params")
            dtype = st.selectbox("Precision", DTYPES, key="dtype", bind="query-params")
    if session.LINK.get() or session.LINKED_TO.of(session.MODEL).get():
        _note_link(session.MODEL, name, revision)
        names = {*map(short_name, options), *options}
        _say_not_offered(session.MODEL, names, short_name(name), "encoder", _not_had(session.MODEL, "other"))
        _say_not_offered("device", ["auto", *devices], device, "device")
        _say_not_offered("dtype", DTYPES, dtype, "precision")
    return name, revision, devices[0] if device == "auto" else device, dtype


def _pick(key: session.Key, label: str, options: Sequence[str], **look: Any) -> str:
    if linked(key) in options and key not in st.session_state:
        spell(key, short_name(linked(key)))
    key.keep_within(options, options[0])
    return st.selectbox(label, options, key=key, bind="query-params", format_func=short_name, **look)


def _named(key: str = "") -> tuple[str, str]:
    """Draw fields for the name and revision of an encoder that isn't in the list."""
    fields = {"other": ("Hub id or folder", "owner/name or /a/folder", 260), "revision": ("Revision", "newest", 110)}
    typed = [
        st.text_input(label, key=key + name, placeholder=hint, width=width, bind="query-params").strip()
        for name, (label, hint, width) in fields.items()
    ]
    return typed[0], typed[1]


def _say_not_offered(key: str, offered: Collection[str], shown: str, what: str, named: str = "") -> None:
    sentence = f"The link asks for the {what} {{!r}}, which isn't on this server's list."
    say_what_is_missing(key, offered, shown, lambda asked: sentence.format(named or asked))


def _not_had(key: str, other: str) -> str:
    """Return the name of the encoder that session.LINK asks for; "" if it asks for none."""
    return linked(other) if linked(key) == OTHER else linked(key)


def link_to(encoder: Encoder) -> dict[str, str]:
    """Return the URL parameters that open this encoder on any server."""
    identity = {"content": encoder.content[:DIGITS]}
    listed, others = offered_encoders()
    if encoder.name in CURATED or (encoder.name in listed and (beyond_localhost() or not others)):
        return {"model": short_name(encoder.name), **identity}
    revision = {"revision": encoder.revision} if encoder.revision else {}
    return {"model": OTHER, "other": encoder.name, **revision, **identity}


def offered_devices(available: Sequence[str]) -> list[str]:
    """Return the available devices that the operator allows, best first. Raises SystemExit if there is none."""
    wanted = Settings.read().devices
    offered = [device for device in available if not wanted or device in wanted]
    if not offered:
        raise SystemExit(f"SELFATTN_DEVICES is {','.join(wanted)!r}, but this machine only has {', '.join(available)}.")
    return offered


def short_name(name: str) -> str:
    """Return an encoder's label, without the server's paths."""
    if name == BUNDLED_NAME:
        return name.split("/")[-1]
    label = for_visitors(name, name)
    if label == name:
        return name
    same = [other for other in offered_encoders()[0] if for_visitors(other, other) == label]
    return f"{label} ({same.index(name) + 1})" if name in same[1:] else label


def pick_second_encoder(first: Encoder) -> Encoder | None:
    """Draw the picker of the second encoder; return the encoder, or None if loading fails."""
    known, others = offered_encoders()
    rest = [name for name in dict.fromkeys((BUNDLED_NAME, *known)) if name != first.name]
    options = [UNTRAINED, *rest, *([OTHER] if others else [])]
    name = _pick(session.SECOND, "Second encoder", options, width=260)
    picked, revision = short_name(name), ""
    if name == OTHER:
        name, revision = _named("second_")
    _note_link(session.SECOND, name, revision)
    _say_not_offered(session.SECOND, {*map(short_name, options), *options}, picked, "second encoder")
    if name in (UNTRAINED, ""):
        this_page().address |= {"second_content": None, "second_digest": None}
        return _kept((encoder_key(first), UNTRAINED), lambda: random_twin(first)) if name else None
    try:
        _ask_before_loading(session.SECOND, "second_content", name, revision, first.device, first.dtype)
        second = load(name, revision or None, first.device, first.dtype)
    except LoadError as error:
        show_error(error)
        second = None
    note_identity("second_content", second, lambda: _not_had(session.SECOND, "second_other") or short_name(name))
    return second
