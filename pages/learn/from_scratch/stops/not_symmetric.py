"""Attention is not symmetric."""

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import not_symmetric

TITLE = "Not symmetric"
STEP = "consequences"


def show() -> None:
    teaching.prose(
        "What *river* gives *bank* is not what *bank* gives *river*. First, a query is not a key: the two "
        "projections differ. Second, softmax makes each row sum to 1 by itself, so even equal scores would become unequal "
        "weights. Try it on a head of the encoder."
    )
    _, encoding, head = teaching.choose_head("not-symmetric", "The bank of the river was muddy after the rain.")
    tokens, weights, theme = encoding.tokens, encoding.weights(*head), current_theme()
    most = not_symmetric.asymmetry(weights)
    a, b = tokens[most.row], tokens[most.column]
    with teaching.row():
        chart = heatmap(weights, tokens, theme, cell=28, numbers=None)
        caption = f'"{a}" gives "{b}" {most.forth:.2f}; "{b}" gives "{a}" {most.back:.2f}.'
        teaching.figure("Weights of this head", chart, caption, 560)
        chart = heatmap(weights - weights.T, tokens, theme, kind="signed", cell=28, numbers=None)
        caption = f"Over all pairs the two directions differ by {most.mean_difference:.2f} on average."
        teaching.figure("Forth minus back", chart, caption, 560)
