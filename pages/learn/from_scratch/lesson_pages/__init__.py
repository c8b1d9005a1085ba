"""The stops of the guided path, in order, by the name in their address, which may be older than the file's.

A stop says: TITLE, STEP (its box in the diagram), IDEA, QUESTION with its OPTIONS (the right one first, unless `answer()`
computes it), the REASON, TAKE, and `show(picture, numbers)`, which draws the rest; its small system stands beneath.
"""

from importlib import import_module
from types import ModuleType

_FILES = {
    "one-vector": "one_word_one_vector", "soft-lookup": "soft_lookup", "projections": "random_projections",
    "dot-product": "dot_product", "magnitude": "key_length", "three-words": "softmax", "not-symmetric": "not_symmetric",
    "scaling": "scaling", "causal-mask": "causal_mask", "padding-mask": "padding_mask",
    "annotated-heatmap": "annotated_heatmap", "hide-a-word": "hide_a_word", "worked-example": "worked_example",
    "geometry": "geometry", "residual": "residual", "twelve-tokens": "twelve_tokens", "order": "word_order",
    "kernel": "kernel_source", "real-head": "real_head", "drawn-numbers": "textbook_weights", "learned": "gradients",
}  # fmt: skip
STOPS: dict[str, ModuleType] = {slug: import_module(f"{__name__}.{file}") for slug, file in _FILES.items()}
CORE = (  # the path in forty minutes; the others stand beside the one before them
    "one-vector", "soft-lookup", "projections", "dot-product", "three-words", "scaling", "causal-mask", "hide-a-word",
    "worked-example", "real-head",
)  # fmt: skip
STEPS = tuple(dict.fromkeys(stop.STEP for stop in STOPS.values()))  # the boxes of the diagram, in order
FIRST = {  # the terms of selfattn.captions.terms that first stand at a stop
    "one-vector": ("encoder", "layer", "cosine"), "soft-lookup": ("query", "key", "value"),
    "projections": ("embedding", "projection", "token"), "dot-product": ("dot product", "score", "head"),
    "three-words": ("softmax", "weight"), "causal-mask": ("mask",),
    "worked-example": ("context",), "residual": ("residual", "hidden state"),
}  # fmt: skip


def place(slug: str) -> tuple[int, int]:
    """Where a stop stands: its core stop's number from 1, and how manieth beside that it is (0: that stop itself)."""
    slugs = list(STOPS)[: list(STOPS).index(slug) + 1]
    core = [at for at, each in enumerate(slugs) if each in CORE]
    return len(core), len(slugs) - 1 - core[-1]


def number(slug: str) -> str:
    """ "4" for the fourth core stop, "4a" and on for those beside it."""
    core, beside = place(slug)
    return f"{core}{' abcdefgh'[beside]}".strip()


def beside(slug: str) -> list[str]:
    """What stands beside a stop's core stop, in order."""
    return [each for each in STOPS if each not in CORE and place(each)[0] == place(slug)[0]]


def before(slug: str) -> str | None:
    """The core stop before a core stop; from one beside it, the stop before."""
    slugs = list(CORE if slug in CORE else STOPS)
    return slugs[slugs.index(slug) - 1] if slug != slugs[0] else None


def after(slug: str) -> str | None:
    """The next core stop from a core stop; from one beside it, the next of all."""
    slugs = list(CORE if slug in CORE else STOPS)
    return slugs[slugs.index(slug) + 1] if slug != slugs[-1] else None
