"""The stops of the guided path, in order: project, score, normalise, mix, and what follows from it.

A stop bears its lesson's name (selfattn/lessons/); the name in its address may be older, and stays.
"""

from types import ModuleType

from pages.learn.from_scratch.stops import (
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
    scaling,
    soft_lookup,
    softmax,
    textbook_weights,
    twelve_tokens,
    word_order,
    worked_example,
)

STEPS = ("idea", "project", "score", "normalise", "mix", "sentence", "consequences")
STOPS: dict[str, ModuleType] = {
    "soft-lookup": soft_lookup,
    "projections": random_projections,
    "dot-product": dot_product,
    "magnitude": key_length,
    "scaling": scaling,
    "three-words": softmax,
    "causal-mask": causal_mask,
    "padding-mask": padding_mask,
    "worked-example": worked_example,
    "geometry": geometry,
    "twelve-tokens": twelve_tokens,
    "annotated-heatmap": annotated_heatmap,
    "kernel": kernel_source,
    "learned": gradients,
    "order": word_order,
    "not-symmetric": not_symmetric,
    "drawn-numbers": textbook_weights,
}
