"""S9: softmax on three words."""

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import three_words

TITLE = "Normalise: softmax on three words"
STEP = "normalise"


def show() -> None:
    parts.prose(
        "Scores can be any numbers. **Softmax** makes shares of them: raise e to each (scaled) score, so that all are "
        "positive, then divide by their sum. A score that is larger by 1 gets e ≈ 2.7 times the weight. "
        "Only what comes out here is called *weights*; each row of them sums to 1."
    )
    parts.formula(r"w_i = \frac{e^{s_i}}{\sum_j e^{s_j}} \qquad s_i = \frac{q\cdot k_i}{\sqrt{d}}")
    published = {'query of "good"': three_words.QUERY, **dict(zip(three_words.TOKENS, three_words.KEYS))}
    with parts.messages():
        query, *keys = parts.vectors("three-words", published).values()
        found = three_words.softmax_steps(query, keys)
    theme = current_theme()
    with parts.row():
        for column, title, reading in (
            ("score", "Score q · k", f"From {found.score.min():g} to {found.score.max():g}."),
            ("scaled", "Divided by √d", f"The largest is now {found.scaled.max():.2f}."),
            ("power", "e to that", f"They sum to {found.power.sum():.2f}."),
            ("weight", "Divided by their sum", " + ".join(f"{w:.2f}" for w in found.weight) + " = 1."),
        ):
            with parts.figure(title, 250):
                show_chart(charts.bars(found, column, theme, width=170), reading, width="content")
    parts.prose("Even the word with score 0 gets a share: e⁰ = 1. Softmax never gives exactly nothing.")
