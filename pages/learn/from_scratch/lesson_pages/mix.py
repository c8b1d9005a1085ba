"""Mix: the weights, made where queries and keys are compared, average the values, which live in a space of their own."""

import torch
from torch import Tensor

from selfattn.dashboard import teaching
from selfattn.lessons.one_head_by_hand import BANK, LAST, compute
from selfattn.lessons.terms import TERMS
from selfattn.numbers import vector, weight
from selfattn.views.stage import SHARE, Column, Mark, Plane, Scene, square

TITLE = "Mix: two spaces"
STEP = "weighted sum"
IDEA = (
    "Queries and keys are *compared* in one space, values are *mixed* in another: only the weights pass over. "
    f"{TERMS['context']}"
)
QUESTION = (
    "*river* hands over [−3, 3] and gets 63 % of *bank*; nearly all the rest goes to a value of [0, 0]. The context?"
)
OPTIONS = ("about [−2, 2]", "about [−3, 3]", "[0, 0]")
REASON = "0.63 × [−3, 3] = [−1.9, 1.9], and what is 0 adds nothing."
TAKE = "Keys decide how much, values decide what. Context = weights × values, added up: it lies among the values."


def draw(answered: bool) -> Scene:
    named = {"river": "bank of the river", "loan": "bank, loan"}
    made = compute(teaching.example("mix", named, "Sentence") if answered else "river")
    trace, words = made.trace, made.words
    query, weights, context = trace.query[BANK], trace.weights[BANK], trace.context[BANK]
    handed = weights[:, None] * trace.value
    most = float(trace.scores[BANK].abs().max())
    compared = [
        Mark(f"key {n}", word, _point(key), (0, 0), "minus" if score < 0 else "", abs(score) / most)
        for n, (word, key, score) in enumerate(zip(words, trace.key, trace.scores[BANK].tolist()))
    ]
    compared.append(Mark("query", "bank asks", _point(query), (0, 0), "ink", 0.1))
    ends = torch.cat([handed.new_zeros(1, 2), handed.cumsum(0)])
    mixed = [
        Mark(f"value {n}", word, _point(value), (0, 0), "", share)
        for n, (word, value, share) in enumerate(zip(words, trace.value, weights.tolist()))
    ] + [
        Mark(f"handed {n}", "", _point(after), _point(start), "chain", before=((0, 0), _point(value)), asked=True)
        for n, (start, after, value) in enumerate(zip(ends, ends[1:], trace.value))
        if value.any()
    ]
    mixed.append(Mark("context", "context", _point(context), (0, 0), "ink", 0.1, asked=True))
    return Scene(
        f'The context of "bank" is {vector(context, 2)}.',
        words,
        (
            Column("weights", "weight", weights, SHARE),
            Column("value", "value", trace.value),
            Column("handed", "weight × value", handed, foot=("= the context", context), asked=True),
        ),
        (
            Plane("compared", "Query and keys are compared", tuple(compared), square(trace.key, query)),
            Plane("mixed", "Values are mixed", tuple(mixed), square(trace.value, context)),
        ),
        asks=BANK,
        lit=LAST,
        lines=[
            f"{word}: {weight(share)} × {vector(value)} = {vector(part, 2)} (rounded)"
            for word, share, value, part in zip(words, weights.tolist(), trace.value, handed)
        ],
        note="Thick: a large score, then a large weight; red: a score below 0. Dashed: weight × value, to the context.",
    )  # fmt: skip


def _point(vector: Tensor) -> tuple[float, float]:
    return float(vector[0]), float(vector[1])
