"""The stops of the guided path, in order, by the name in their address, which may be older than the file's.

A stop bears its lesson's name (selfattn/lessons/) and says: TITLE, STEP (its box in the diagram), IDEA, QUESTION with its
OPTIONS (the right one first), the REASON, TAKE, and `show(picture, numbers)`, which draws the rest.
"""

from importlib import import_module
from types import ModuleType

_FILES = {
    "soft-lookup": "soft_lookup", "projections": "random_projections", "dot-product": "dot_product", "magnitude": "key_length",
    "scaling": "scaling", "three-words": "softmax", "causal-mask": "causal_mask", "padding-mask": "padding_mask",
    "worked-example": "worked_example", "geometry": "geometry", "residual": "residual", "twelve-tokens": "twelve_tokens",
    "annotated-heatmap": "annotated_heatmap", "kernel": "kernel_source", "learned": "gradients", "order": "word_order",
    "not-symmetric": "not_symmetric", "drawn-numbers": "textbook_weights", "real-head": "real_head",
}  # fmt: skip
STOPS: dict[str, ModuleType] = {slug: import_module(f"{__name__}.{file}") for slug, file in _FILES.items()}
STEPS = tuple(dict.fromkeys(stop.STEP for stop in STOPS.values()))  # the boxes of the diagram, in order
FIRST = {  # the terms of selfattn.captions.terms that first stand at a stop
    "soft-lookup": ("query", "key", "value", "weight", "head"), "projections": ("embedding", "projection"),
    "dot-product": ("dot product", "score", "cosine", "token", "encoder", "layer"), "scaling": ("softmax",),
    "causal-mask": ("mask",), "worked-example": ("context",), "residual": ("residual", "hidden state"),
}  # fmt: skip
