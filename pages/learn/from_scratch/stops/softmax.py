"""Softmax on three words."""

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import softmax

TITLE = "Normalise: softmax on three words"
STEP = "normalise"


def show() -> None:
    teaching.prose(
        "Scores can be any numbers. **Softmax** makes shares of them: raise e to each (scaled) score, so that all are "
        "positive, then divide by their sum. A score that is larger by 1 gets e ≈ 2.7 times the weight. "
        "Only what comes out here is called *weights*; each row of them sums to 1."
    )
    teaching.formula(r"w_i = \frac{e^{s_i}}{\sum_j e^{s_j}} \qquad s_i = \frac{q\cdot k_i}{\sqrt{d}}")
    published = {'query of "good"': softmax.QUERY, **dict(zip(softmax.TOKENS, softmax.KEYS))}
    with teaching.messages():
        query, *keys = teaching.vectors("three-words", published).values()
        steps = softmax.steps(query, keys)
    with teaching.row():
        for column, title, caption in (
            ("score", "Score q · k", f"From {steps.score.min():g} to {steps.score.max():g}."),
            ("scaled", "Divided by √d", f"The largest is now {steps.scaled.max():.2f}."),
            ("power", "e to that", f"They sum to {steps.power.sum():.2f}."),
            ("weight", "Divided by their sum", " + ".join(f"{w:.2f}" for w in steps.weight) + " = 1."),
        ):
            teaching.figure(title, bar_list(steps, column, current_theme(), width=170), caption, 250)
    teaching.prose("Even the word with score 0 gets a share: e⁰ = 1. Softmax never gives exactly nothing.")
