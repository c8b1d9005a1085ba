"""The stops of the guided path, in order: project, score, normalise, mix, and what follows from it."""

from types import ModuleType

from pages.learn.from_scratch.stops import (
    annotated_heatmap,
    causal_mask,
    dot_product,
    geometry,
    magnitude,
    not_symmetric,
    scaling,
    soft_lookup,
    three_words,
    twelve_tokens,
    worked_example,
)
from pages.learn.from_scratch.stops import gradients as learned
from pages.learn.from_scratch.stops import kernel_source as kernel
from pages.learn.from_scratch.stops import order_from_scratch as order
from pages.learn.from_scratch.stops import random_projections as projections
from pages.learn.from_scratch.stops import textbook_weights as drawn_numbers

STEPS = ("idea", "project", "score", "normalise", "mix", "sentence", "consequences")
STOPS: dict[str, ModuleType] = {
    "soft-lookup": soft_lookup,
    "projections": projections,
    "dot-product": dot_product,
    "magnitude": magnitude,
    "scaling": scaling,
    "three-words": three_words,
    "causal-mask": causal_mask,
    "worked-example": worked_example,
    "geometry": geometry,
    "twelve-tokens": twelve_tokens,
    "annotated-heatmap": annotated_heatmap,
    "kernel": kernel,
    "learned": learned,
    "order": order,
    "not-symmetric": not_symmetric,
    "drawn-numbers": drawn_numbers,
}
