"""The stops of the guided path, in order, by the name in their address, which may be older than the file's.

A stop says: TITLE, STEP (its part of the path), IDEA, QUESTION with its OPTIONS (the right one first, unless `answer()`
computes it), the REASON and TAKE. A core stop has `draw(answered)`: the scene of the stage, whose widgets it draws once the
question is answered. A stop beside the core has `show(picture, answered)`, which draws its picture there, with the answer's
place empty until then, and its numbers where it is called. Either may have `show_details()`, for what stands beneath.
"""

from importlib import import_module
from types import ModuleType

_PATH = (  # a row: a stop of the core, the path in forty minutes, and those that stand beside it
    {"one-vector": "one_word_one_vector"},
    {"soft-lookup": "soft_lookup"},
    {"projections": "random_projections"},
    {"dot-product": "dot_product", "magnitude": "key_length"},
    {"scaling": "scaling"},
    {
        "three-words": "softmax", "not-symmetric": "not_symmetric", "causal-mask": "causal_mask",
        "padding-mask": "padding_mask",
    },
    {"mix": "mix", "geometry": "geometry", "twelve-tokens": "twelve_tokens", "order": "word_order", "kernel": "kernel_source"},
    {"residual": "residual"},
    {"hide-a-word": "hide_a_word"},
    {"real-head": "real_head", "drawn-numbers": "textbook_weights", "learned": "gradients"},
)  # fmt: skip
STOPS: dict[str, ModuleType] = {
    slug: import_module(f"{__name__}.{file}") for row in _PATH for slug, file in row.items()
}
MERGED = {
    "worked-example": "geometry",
    "annotated-heatmap": "twelve-tokens",
}  # stops of older links, now part of others
CORE = tuple(next(iter(row)) for row in _PATH)
NUMBERS = {  # "4" is the fourth core stop, "4a" and on are beside it
    slug: f"{core}{' abcdefgh'[place]}".strip() for core, row in enumerate(_PATH, 1) for place, slug in enumerate(row)
}
STEPS = tuple(dict.fromkeys(stop.STEP for stop in STOPS.values()))  # the boxes of the diagram, in order
FIRST = {  # the terms of selfattn.lessons.terms that first stand at a stop
    "one-vector": ("encoder", "layer", "cosine"), "soft-lookup": ("query", "key", "value"),
    "projections": ("embedding", "projection"), "dot-product": ("dot product", "score", "head"),
    "scaling": ("softmax", "weight"), "not-symmetric": ("token",), "causal-mask": ("mask",), "mix": ("context",),
    "residual": ("residual",), "hide-a-word": ("mask",), "real-head": ("token", "hidden state"),
}  # fmt: skip


def beside(slug: str) -> list[str]:
    """What stands beside a stop's core stop, in order."""
    return list(next(row for row in _PATH if slug in row))[1:]


def neighbours(slug: str) -> tuple[str | None, str | None]:
    """The stops before and after a core stop, of the core; those of one beside it, of all."""
    slugs = [None, *(CORE if slug in CORE else STOPS), None]
    place = slugs.index(slug)
    return slugs[place - 1], slugs[place + 1]
