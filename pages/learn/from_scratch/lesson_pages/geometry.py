"""The worked example in its two spaces: in one a query, to be dragged, meets keys; in the other the values are mixed.

Source: the picture of the worked example. It prints queries, keys and results, but not the values: those are ours, and land
on its context.
"""

import torch

from selfattn.dashboard import teaching
from selfattn.lessons import worked_example
from selfattn.lessons.worked_example import KEYS, QUERY, TOKENS, VALUES

TITLE = "Mix: the worked example in two spaces"
STEP = "weighted sum"
IDEA = (
    "*it* asks *animal*, *street* and *because*. Queries and keys live in one space: there they are *compared*. Values live in "
    "another: there they are *mixed*, and only the weights pass from one to the other."
)
QUESTION = "The context averages the values by their weights. Can it lie beyond all of them?"
OPTIONS = ("no, never", "yes, with large scores", "yes, with a long query")
REASON = "All weights are above 0 and sum to 1, so the average lies between the values."
TAKE = "Keys decide how much, values decide what. A head moves a word only within what its words offer."


def show(picture, answered) -> None:
    published = {"query of “it”": QUERY}
    published |= {f"key of “{token}”": key for token, key in zip(TOKENS, KEYS)}
    published |= {f"value of “{token}”": value for token, value in zip(TOKENS, VALUES)}
    query, *rest = teaching.vectors("geometry", published, 114).values()
    keys, values = rest[:3], rest[3:]
    if answered:
        trace = worked_example.compute(query, torch.stack(keys), torch.stack(values))
        with picture:
            teaching.kernel("geometry", trace, TOKENS, -1, "it", back="Back to the query as typed")
            teaching.prose(
                "Drag the query: make it longer, turn it, or bring it to 0. Scores, weights and context follow."
            )
        return
    charts = {
        "Query and keys are compared": teaching.plane({"it": query, **dict(zip(TOKENS, keys))}, "it", 300),
        "Values are mixed: where is the context?": teaching.plane(dict(zip(TOKENS, values)), size=300),
    }
    with picture:
        teaching.steps("geometry", "", charts, answered=False)
