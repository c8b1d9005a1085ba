"""A long key that points elsewhere outscores a short one that points the right way."""

from selfattn.charts.bars import bar_list
from selfattn.charts.lesson_steps import kernel_code
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import key_length
from selfattn.lessons.key_length import EXAMPLES
from selfattn.numbers import decimal, plain, vector

TITLE = "Score: length counts too"
STEP = "scores"
IDEA = (
    "A key has a direction, what it is about, and a length, how loud it says so. A score is length × length × cosine: both "
    "count."
)
QUESTION = (
    "*bank* asks [1, 1]. Its own key, [1, 1], points exactly that way; that of *river*, [0, 3], half a right angle off. "
    "Which scores higher?"
)
OPTIONS = ("river", "bank", "they tie")
REASON = "*river* 1 × 0 + 1 × 3 = 3, *bank* 1 × 1 + 1 × 1 = 2: length made up for direction."
TAKE = "Long keys draw attention. Dividing by √d_k doesn't change that: it divides every score by the same number."


def show(picture, numbers) -> None:
    with numbers, teaching.messages():
        query, names, published = EXAMPLES[teaching.example("magnitude", tuple(EXAMPLES))]
        typed = teaching.vectors("magnitude", {"query": query, **dict(zip(names, published))})
        wanted, *keys = typed.values()
        found = key_length.compare(wanted, keys, names).rename(columns={"name": "token"})
        twice = key_length.compare(wanted, [[2 * number for number in keys[1]]], ["twice as long"]).scaled[0]
    short, long = found.iloc[0], found.iloc[1]
    titles = {"score": "Score: the dot product", "scaled": "Scaled: ÷ √d_k", "cosine": "Cosine: the angle alone"}
    charts = {
        {"score": "scores"}.get(column, column): (title, bar_list(found, column, current_theme(), width=110))
        for column, title in titles.items()
    }
    with picture:
        caption = (
            f"{long.token}: {plain(long.score)}; {short.token}: {plain(short.score)}. Scaled: the same order. By angle alone "
            f"{short.token} has {decimal(short.cosine)}, {long.token} {decimal(long.cosine)}."
        )
        cosine = {"cosine": "cosine = scores / (query.norm() * key.norm())   # not in attention"}
        teaching.steps(charts, caption, kernel_code("scores", "scaled") | cosine)
        teaching.prose(
            f"**Does dividing by √d_k cure it?** No: the scaled score of the key {vector(keys[1])} is {long.scaled:.2f}, of one "
            f"twice as long {twice:.2f}. Comparing *cosines* would remove length altogether; attention doesn't do that, and a "
            "model may use a key's length to draw weight."
        )
