"""The two spaces of one attention step, side by side: arrows in query-key space, and the mixture in value space.

Source: the picture of the worked example. Scores belong to the first space, weights carry the result to the second.
"""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from pages.learn.from_scratch.lesson_pages.worked_example import typed
from selfattn.charts.arrows import arrows
from selfattn.dashboard import teaching
from selfattn.kernel import AttentionTrace
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.lessons.worked_example import KEYS, QUERY, TOKENS, VALUES
from selfattn.numbers import vector
from selfattn.views.lesson import drawing

TITLE = "Mix: the geometry"
STEP = "weighted sum"
IDEA = (
    "Queries and keys live in one space: there they are *compared*. Values live in another: there they are *mixed*, and only "
    "the weights pass from one to the other."
)
QUESTION = "The context averages the values by their weights. Can it lie beyond all of them?"
OPTIONS = ("no, never", "yes, with large scores", "yes, with a long query")
REASON = "All weights are above 0 and sum to 1, so the average lies between the values."
TAKE = "Keys decide how much, values decide what. A head moves a word only within what its words offer."
WORDS = ("bank", "of", "river")  # one word of each kind: "The" and "the" have the key and the value of "of"
PLACES = [one_head_by_hand.BANK, 2, one_head_by_hand.LAST]


def show(picture) -> None:
    it, bank = teaching.example("geometry", ("it", "bank")) == "it", one_head_by_hand.compute().trace
    asking, tokens = ("it", TOKENS) if it else ("bank", WORDS)
    taken = (QUERY, KEYS, VALUES) if it else (bank.query[PLACES[0]], bank.key[PLACES], bank.value[PLACES])
    trace = typed("geometry", "query", [f"“{token}”" for token in tokens], *taken)
    left = "" if it else "“The” and “the” are left out. "
    st.text(
        f"{left}Type another query and watch both planes. Arrows of one direction stand side by side; a zero vector is a dot."
    )
    steps = worked_example.steps(trace, tokens)
    query, keys = _origin_to("query", [asking], trace.query), _origin_to("key", tokens, trace.key, score=steps.score)
    values = _origin_to("value", tokens, trace.value, weight=steps.weight)
    context = _origin_to("context", ["context"], trace.context)
    compared, mixed = (pd.concat(both, ignore_index=True) for both in ((query, keys), (values, context)))
    path = weighted_path(trace, tokens)
    charts = {
        "Query and keys; thick: a high score": drawing(arrows, compared, thickness="score", strong="query", size=280),
        "Values; dashed: weight × value": drawing(
            arrows, mixed, thickness="weight", strong="context", size=280, path=path
        ),
    }
    with picture:
        teaching.steps("geometry", _nearest(trace, tokens), charts)
        teaching.kernel(f"geometry, {asking}", trace, tokens, -1 if it else 0, asking)


def weighted_path(trace: AttentionTrace, tokens: Sequence[str]) -> pd.DataFrame:
    """Head to tail from the origin to the context, a step of weight × value a token: columns x, y, x1, y1, label."""
    steps = trace.weights[0][:, None] * trace.value
    ends = steps.cumsum(0)
    frame = pd.DataFrame(torch.cat([ends - steps, ends], 1).tolist(), columns=["x", "y", "x1", "y1"])
    return frame.assign(label=[f"{weight:.2f} × {token}" for weight, token in zip(trace.weights[0].tolist(), tokens)])


def _origin_to(kind: str, labels: Sequence[str], vectors: Tensor, **columns: Sequence[float]) -> pd.DataFrame:
    """Arrows from the origin to vectors (n, 2): kind, label, x, y, and a number each."""
    x, y = vectors.T.tolist()
    return pd.DataFrame({"kind": kind, "label": list(labels), "x": x, "y": y, **columns})


def _nearest(trace: AttentionTrace, tokens) -> str:
    """Say which value lies nearest, by distance; it needn't be the heaviest."""
    nearest = tokens[int((trace.value - trace.context).norm(dim=1).argmin())]
    heaviest, context = tokens[int(trace.weights[0].argmax())], f"The context {vector(trace.context[0], 2)}"
    if nearest == heaviest:
        return f'{context} lies nearest to the value of "{heaviest}".'
    return f'{context}: "{heaviest}" weighs most, yet "{nearest}" lies nearest.'
