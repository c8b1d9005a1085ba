"""The two spaces of one attention step, side by side."""

from selfattn.charts.arrows import arrows
from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.kernel import AttentionTrace
from selfattn.lessons import geometry, worked_example
from selfattn.lessons.worked_example import ASKING, KEYS, QUERY, TOKENS, VALUES
from selfattn.numbers import SHARE, plain, share

TITLE = "Mix: the geometry"
STEP = "mix"


def show() -> None:
    teaching.prose(
        "The same numbers as arrows. Queries and keys live in one space: there they are *compared*. Values live in "
        "another: there they are *mixed*. Only the weights pass from one to the other."
    )
    published = {"query": QUERY}
    published |= {f"key: {token}": key for token, key in zip(TOKENS, KEYS)}
    published |= {f"value: {token}": value for token, value in zip(TOKENS, VALUES)}
    with teaching.messages():
        query, *rest = teaching.vectors("geometry", published, width=130).values()
        trace = worked_example.compute(query, rest[:3], rest[3:])
        keys, values = geometry.query_key_arrows(trace, ASKING, TOKENS), geometry.value_arrows(trace, TOKENS)
    steps, theme = worked_example.steps(trace), current_theme()
    highest = steps.loc[steps.score.idxmax()]
    with teaching.row():
        chart = arrows(keys, theme, "score", "query")
        caption = (
            f'"{highest.token}" scores highest with {plain(highest.score)}. Arrows of one direction stand side by side.'
        )
        teaching.figure("Step 1: query-key space, thick = high score", chart, caption, 380)
        chart = bar_list(steps, "weight", theme, number=SHARE, width=190)
        caption = ", ".join(f"{row.token} {plain(row.score)} → {share(row.weight)}" for row in steps.itertuples())
        teaching.figure("Steps 2 and 3: from score to weight", chart, caption, 300)
        chart = arrows(values, theme, "weight", "context")
        teaching.figure("Step 4: value space, thick = high weight", chart, _nearest(trace), 380)
    teaching.prose(
        "The context is a weighted *average*: it can never leave the region that the values span. "
        "A head moves within what its words offer."
    )


def _nearest(trace: AttentionTrace) -> str:
    """Say which value lies nearest, by distance; it needn't be the heaviest."""
    nearest = TOKENS[int((trace.value - trace.context).norm(dim=1).argmin())]
    heaviest = TOKENS[int(trace.weights[0].argmax())]
    x, y = trace.context[0].tolist()
    if nearest == heaviest:
        return f'The context ({x:.2f}, {y:.2f}) lies nearest to the value of "{heaviest}".'
    return f'The context ({x:.2f}, {y:.2f}): "{heaviest}" weighs most, yet "{nearest}" lies nearest.'
