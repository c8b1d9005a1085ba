"""The stops of the guided path, in order: project, score, normalise, mix, and what follows from it."""

from types import ModuleType

from pages.learn.stops import (
    annotated_heatmap,
    causal_mask,
    dot_product,
    drawn_numbers,
    geometry,
    kernel,
    learned,
    magnitude,
    not_symmetric,
    order,
    projections,
    scaling,
    soft_lookup,
    three_words,
    twelve_tokens,
    worked_example,
)

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
