"""S21: attention is not symmetric."""

import torch

from pages.learn.from_scratch.real_heads import choose_head
from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import not_symmetric as symmetry

TITLE = "Not symmetric"
STEP = "consequences"


def show() -> None:
    parts.prose(
        "How much *river* looks at *bank* is not how much *bank* looks at *river*. First, a query is not a key: the two "
        "projections differ. Second, softmax makes each row sum to 1 by itself, so even equal scores would become unequal "
        "weights. Try it on a head of the encoder."
    )
    trace, tokens = choose_head("not-symmetric", "The bank of the river was muddy after the rain.")
    weights, theme = trace.weights, current_theme()
    found = symmetry.asymmetry(weights)
    a, b = tokens[found.row], tokens[found.column]
    with parts.row():
        with parts.figure("Weights of this head", 560):
            reading = f'"{a}" gives "{b}" {found.forth:.2f}; "{b}" gives "{a}" {found.back:.2f}.'
            show_chart(charts.heatmap(weights, tokens, tokens, theme, numbers=False, cell=28), reading, width="content")
        with parts.figure("Forth minus back", 560):
            difference = weights - torch.transpose(weights, 0, 1)
            chart = charts.heatmap(difference, tokens, tokens, theme, signed=True, numbers=False, cell=28)
            reading = f"Over all pairs the two directions differ by {found.mean_difference:.2f} on average."
            show_chart(chart, reading, width="content")
