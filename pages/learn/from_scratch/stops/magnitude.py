"""S5: a long key that points elsewhere outscores a short one that points the right way."""

import pandas as pd

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import magnitude

TITLE = "Score: length counts too"
STEP = "score"
OPTIONS = ("the short key that points exactly the same way", "the long key that points elsewhere", "they tie")


def show() -> None:
    parts.prose(
        "The query is [3, 1]. One key, [1.5, 0.5], points exactly the same way but is short. Another, [1, 4], "
        "points elsewhere but is long."
    )
    if not parts.predict("magnitude", "Which of the two gets the higher score?", OPTIONS, OPTIONS[1]):
        return
    with parts.messages():
        typed = parts.vectors("magnitude", {"query": magnitude.QUERY, **dict(zip(magnitude.NAMES, magnitude.KEYS))})
        found = magnitude.compare(typed["query"], [typed[name] for name in magnitude.NAMES])
    _figures(found)
    once, twice = (magnitude.score_when_longer(magnitude.QUERY, magnitude.KEYS[1], times) for times in (1, 2))
    parts.prose(
        f"**Does dividing by √d cure it?** No: the scaled score of the key [1, 4] is {once:.2f}, of [2, 8] {twice:.2f}. "
        "It divides *every* key's score by the same number: the order stays, and a key twice as long still scores twice "
        "as much. What it does cure comes at the next stop. "
        "Comparing *cosines*, the scores of vectors cut to length 1, would remove length altogether; attention doesn't "
        'do that, and a model may use a key\'s length to say "look at me".'
    )


def _figures(found: pd.DataFrame) -> None:
    theme = current_theme()
    frame = found.rename(columns={"name": "token"})
    short, long = found.iloc[0], found.iloc[1]
    with parts.row():
        with parts.figure("Score (dot product)", 370):
            show_chart(
                charts.bars(frame, "score", theme),
                f"{long['name']}: {long.score:g}; {short['name']}: {short.score:g}.",
                width="content",
            )
        with parts.figure("Scaled: divided by √d", 370):
            same = list(found.score.rank()) == list(found.scaled.rank())
            show_chart(
                charts.bars(frame, "scaled", theme),
                "The same order as before." if same else "The order has changed.",
                width="content",
            )
        with parts.figure("Cosine: the angle alone", 370):
            show_chart(
                charts.bars(frame, "cosine", theme),
                f"By angle alone the short key has {short.cosine:.2f}, the long one {long.cosine:.2f}.",
                width="content",
            )
