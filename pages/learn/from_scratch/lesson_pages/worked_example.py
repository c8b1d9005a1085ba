"""All four steps for one word: of the thread, and of the worked example."""

import torch

from selfattn.dashboard import teaching
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.lessons.terms import TERMS
from selfattn.lessons.worked_example import KEYS, QUERY, TOKENS, VALUES
from selfattn.numbers import decimal, vector

TITLE = "Mix: all four steps for one word"
STEP = "weighted sum"
IDEA = f"*Project*, *score*, *normalise*, and now *mix*. {TERMS['context']}"
QUESTION = (
    "*river* hands over [−3, 3] and gets 63 % of *bank*; nearly all the rest goes to a value of [0, 0]. The context?"
)
OPTIONS = ("about [−2, 2]", "about [−3, 3]", "[0, 0]")
REASON = "0.63 × [−3, 3] = [−1.9, 1.9], and what is 0 adds nothing."
TAKE = "Context = weights × values, added up; it is then added to the word's own vector. Other words, another context."


def show(picture) -> None:
    named = {"river": "bank of the river", "loan": "bank, loan", "it": "it"}
    which = teaching.example("worked-example", named)
    if which == "it":
        asking, at, tokens, query, keys, values = "it", -1, TOKENS, QUERY, KEYS, VALUES
    else:
        made, at = one_head_by_hand.compute(which), one_head_by_hand.BANK
        asking, tokens, query, keys, values = "bank", made.words, made.trace.query[at], made.trace.key, made.trace.value
    numbered = [f"“{token}”" if tokens.count(token) == 1 else f"“{token}” {n}" for n, token in enumerate(tokens, 1)]
    published = {f"query of “{asking}”": query}
    published |= {f"key of {name}": key for name, key in zip(numbered, keys)}
    published |= {f"value of {name}": value for name, value in zip(numbered, values)}
    wanted, *rest = teaching.vectors("worked-example", published, 114).values()
    trace = worked_example.compute(wanted, torch.stack(rest[: len(tokens)]), torch.stack(rest[len(tokens) :]))
    terms = "  +  ".join(f"{decimal(w)} × {vector(value)}" for w, value in zip(trace.weights[0], trace.value))
    with picture:
        note = f"Context: {terms}  =  {vector(trace.context[0], 2)}"
        teaching.kernel("worked-example", trace, tokens, at, asking, note=note)
        if which == "it":
            teaching.prose(
                "The source prints queries, keys and results, but not the values; those are ours and land on its context."
            )
        teaching.real_head("weights")
