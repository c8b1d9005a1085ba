"""A long key that points elsewhere outscores a short one that points the right way."""

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import key_length
from selfattn.lessons.key_length import KEYS, NAMES, QUERY

TITLE = "Score: length counts too"
STEP = "score"
OPTIONS = ("the short key that points exactly the same way", "the long key that points elsewhere", "they tie")


def show() -> None:
    teaching.prose(
        "The query is [3, 1]. One key, [1.5, 0.5], points exactly the same way but is short. Another, [1, 4], "
        "points elsewhere but is long."
    )
    if not teaching.predict("magnitude", "Which of the two gets the higher score?", OPTIONS, OPTIONS[1]):
        return
    with teaching.messages():
        typed = teaching.vectors("magnitude", {"query": QUERY, **dict(zip(NAMES, KEYS))})
        keys = key_length.compare(typed["query"], [typed[name] for name in NAMES]).rename(columns={"name": "token"})
    short, long = keys.iloc[0], keys.iloc[1]
    same = list(keys.score.rank()) == list(keys.scaled.rank())
    with teaching.row():
        for column, title, caption in (
            ("score", "Score (dot product)", f"{long.token}: {long.score:g}; {short.token}: {short.score:g}."),
            ("scaled", "Scaled: divided by √d", "The same order as before." if same else "The order has changed."),
            ("cosine", "Cosine: the angle alone",
             f"By angle alone the short key has {short.cosine:.2f}, the long one {long.cosine:.2f}."),
        ):  # fmt: skip
            teaching.figure(title, bar_list(keys, column, current_theme()), caption, 370)
    once, twice = (key_length.score_when_longer(QUERY, KEYS[1], times) for times in (1, 2))
    teaching.prose(
        f"**Does dividing by √d cure it?** No: the scaled score of the key [1, 4] is {once:.2f}, of [2, 8] {twice:.2f}. "
        "It divides *every* key's score by the same number: the order stays, and a key twice as long still scores twice "
        "as much. What it does cure comes at the next stop. "
        "Comparing *cosines*, the scores of vectors cut to length 1, would remove length altogether; attention doesn't "
        "do that, and a model may use a key's length to draw weight."
    )
