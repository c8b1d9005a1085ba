"""The stops of the guided path, in order, by the name in their address, which may be older than the file's.

A stop bears its lesson's name (selfattn/lessons/) and says: TITLE, STEP (its box in the diagram), IDEA, QUESTION with its
OPTIONS (the right one first), the REASON, TAKE, and `show(picture, numbers)`, which draws the rest.
"""

from types import ModuleType

from pages.learn.from_scratch.lesson_pages import (
    annotated_heatmap,
    causal_mask,
    dot_product,
    geometry,
    gradients,
    kernel_source,
    key_length,
    not_symmetric,
    padding_mask,
    random_projections,
    real_head,
    residual,
    scaling,
    soft_lookup,
    softmax,
    textbook_weights,
    twelve_tokens,
    word_order,
    worked_example,
)

STOPS: dict[str, ModuleType] = {
    "soft-lookup": soft_lookup, "projections": random_projections, "dot-product": dot_product, "magnitude": key_length,
    "scaling": scaling, "three-words": softmax, "causal-mask": causal_mask, "padding-mask": padding_mask,
    "worked-example": worked_example, "geometry": geometry, "residual": residual, "twelve-tokens": twelve_tokens,
    "annotated-heatmap": annotated_heatmap, "kernel": kernel_source, "learned": gradients, "order": word_order,
    "not-symmetric": not_symmetric, "drawn-numbers": textbook_weights, "real-head": real_head,
}  # fmt: skip
STEPS = tuple(dict.fromkeys(stop.STEP for stop in STOPS.values()))  # the boxes of the diagram, in order
FIRST = {  # the terms of selfattn.captions.terms that first stand at a stop
    "soft-lookup": ("query", "key", "value", "weight", "head"), "projections": ("embedding", "projection"),
    "dot-product": ("dot product", "score", "cosine", "token", "encoder", "layer"), "scaling": ("softmax",),
    "causal-mask": ("mask",), "worked-example": ("context",), "residual": ("residual", "hidden state"),
}  # fmt: skip
