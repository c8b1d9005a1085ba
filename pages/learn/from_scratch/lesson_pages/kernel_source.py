"""Draw two lesson pages: the worked example, and the source code of selfattn's attention (kernel.py).

The worked example's query and keys come from a picture in a public lesson. We chose the value vectors.
"""

from collections.abc import Sequence

import streamlit as st
import torch
from torch import Tensor

from pages.learn.from_scratch.lesson_pages.hand_made import SIX_WORDS, project
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.kernel import AttentionTrace, add_mask, attend, rounded
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.lessons.worked_example import KEYS, QUERY, TOKENS, VALUES
from selfattn.views.kernel_lines import kernel_lines, source

PARTS = (attend, add_mask, rounded)
LAYER = "all heads of a real layer"


def geometry(picture, answered: bool) -> None:
    published = {"query of “it”": QUERY}
    for name, rows in (("key", KEYS), ("value", VALUES)):
        published |= {f"{name} of “{token}”": row for token, row in zip(TOKENS, rows)}
    query, *rest = teaching.vectors("geometry", published, 114).values()
    keys, values = rest[:3], rest[3:]
    with picture:
        if answered:
            trace = worked_example.compute(query, torch.stack(keys), torch.stack(values))
            teaching.kernel("geometry", trace, TOKENS, -1, "it", back="Back to the query as typed")
            teaching.prose(
                "Drag the query to make it longer, to turn it, or to set it to 0. Scores, weights and context change with it."
            )
        else:
            compared = teaching.plane({"it": query, **dict(zip(TOKENS, keys))}, "it", 300)
            mixed = teaching.plane(dict(zip(TOKENS, values)), size=300)
            charts = {"Query and keys are compared": compared, "Values are mixed: where is the context?": mixed}
            teaching.steps("geometry", "", charts, answered=False)


def kernel(picture, answered: bool) -> None:
    made = one_head_by_hand.compute()
    examples = {  # trace, tokens, position of the query (-1: not a token), name of the query
        "bank": (made.trace, made.words, one_head_by_hand.BANK, ""),
        "it": (worked_example.compute(), TOKENS, -1, "it"),
        "six words of a book": (project()[1], SIX_WORDS, 1, ""),
        **_layer(),
    }
    which = teaching.example("kernel", tuple(examples))
    trace, tokens, asks, text = examples[which]
    st.text("This is the complete attention code, except for checks of the inputs.")
    with st.expander("The whole source, to copy"):
        for part in PARTS:
            st.code(source(part), language=None, wrap_lines=True)  # the colours for Python are too pale
    shapes = {name: f"   # {tuple(made.shape)}" for name, made in vars(trace).items() if isinstance(made, Tensor)}
    if answered and LAYER in examples and which != LAYER:
        layer = examples[LAYER][0]
        shapes = {name: f"{said}, all heads {tuple(getattr(layer, name).shape)}" for name, said in shapes.items()}
    with picture:
        code = "\n".join(line + shapes.get(name, "") for name, line in kernel_lines().items())
        st.code(code, language=None, wrap_lines=True)
        if not answered:
            return
        if which == LAYER:
            st.text(f"The code computes {len(trace.query)} heads at once. The figure shows the last head.")
            trace = attend(trace.query[-1], trace.key[-1], trace.value[-1], scale=trace.scale)
        teaching.kernel(f"kernel, {which}", trace, tokens, asks, text)
        teaching.prose(
            "If a row is fully masked, all its weights are 0 here. Many lessons add −1e9 instead of −∞. Then such a row gets "
            "*equal* weights, as if the word attended to every word."
        )


def _layer() -> dict[str, tuple[AttentionTrace, Sequence[str], int, str]]:
    """Return the example LAYER, or {} if `attend` alone can't reproduce the encoder's layer 0."""
    encoder = current_encoder()
    if not encoder.recomputable:
        return {}
    encoding = cached_encode(encoder, teaching.REAL)
    heads = [encoding.trace(0, head) for head in range(encoder.n_heads)]
    query, key, value = (torch.stack([getattr(head, name) for head in heads]) for name in ("query", "key", "value"))
    made = attend(query, key, value, scale=heads[0].scale)
    return {} if heads[0].terms else {LAYER: (made, encoding.tokens, encoding.words[1].start, "")}
