"""S8: the two spaces of one attention step, side by side."""

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.kernel import AttentionTrace
from selfattn.lessons import geometry, worked_example

TITLE = "Mix: the geometry"
STEP = "mix"


def show() -> None:
    parts.prose(
        "The same numbers as arrows. Queries and keys live in one space: there they are *compared*. Values live in "
        "another: there they are *mixed*. Only the weights pass from one to the other."
    )
    tokens, asking = worked_example.TOKENS, worked_example.ASKING
    published = {"query": worked_example.QUERY}
    published |= {f"key: {token}": key for token, key in zip(tokens, worked_example.KEYS)}
    published |= {f"value: {token}": value for token, value in zip(tokens, worked_example.VALUES)}
    with parts.messages():
        query, *rest = parts.vectors("geometry", published, width=130).values()
        found = worked_example.compute(query, rest[:3], rest[3:])
        keys = geometry.query_key_arrows(found, asking, tokens)
        values = geometry.value_arrows(found, tokens)
    _figures(found, keys, values)


def _figures(found: AttentionTrace, keys, values) -> None:
    theme, tokens = current_theme(), worked_example.TOKENS
    steps = worked_example.steps(found)
    by_score, by_weight = steps.loc[steps.score.idxmax()], steps.loc[steps.weight.idxmax()]
    x, y = found.context[0].tolist()
    with parts.row():
        with parts.figure("Step 1: query-key space, thick = high score", 380):
            reading = f'"{by_score.token}" scores highest with {by_score.score:g}.'
            show_chart(charts.arrows(keys, theme, "score", "query"), reading, width="content")
        with parts.figure("Steps 2 and 3: from score to weight", 300):
            reading = ", ".join(f"{row.token} {row.score:g} → {row.weight:.0%}" for row in steps.itertuples())
            show_chart(charts.bars(steps, "weight", theme, number=".0%", width=190), reading, width="content")
        with parts.figure("Step 4: value space, thick = high weight", 380):
            reading = f'The context ({x:.2f}, {y:.2f}) lies nearest to what "{by_weight.token}" hands over.'
            show_chart(
                charts.arrows(values, theme, "weight", "context"), _nearest(found, tokens, reading), width="content"
            )
    parts.prose(
        "The context is a weighted *average*: it can never leave the region that the values span. "
        "A head moves within what its words offer."
    )


def _nearest(found: AttentionTrace, tokens: tuple[str, ...], reading: str) -> str:
    """Say which value lies nearest, by distance; it needn't be the heaviest."""
    distances = (found.value - found.context).norm(dim=1)
    nearest = tokens[int(distances.argmin())]
    x, y = found.context[0].tolist()
    heaviest = tokens[int(found.weights[0].argmax())]
    if nearest == heaviest:
        return reading
    return f'The context ({x:.2f}, {y:.2f}): "{heaviest}" weighs most, yet "{nearest}" lies nearest.'
