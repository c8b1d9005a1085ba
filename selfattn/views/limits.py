"""Make four panels, each about one thing that attention doesn't prove."""

import math

import pandas as pd

from selfattn.charts.bars import bar_list
from selfattn.charts.dots import dot_rows
from selfattn.charts.heatmap import heatmap
from selfattn.encoders.encoding import Encoding
from selfattn.examples import PRONOUNS
from selfattn.lessons import counterexamples, pronouns
from selfattn.numbers import change, decimal, effect, error, weight
from selfattn.panel import Panel
from selfattn.views.dots_and_heads import dots_panel, share
from selfattn.views.lesson import drawing, lesson_panel
from selfattn.views.rounding import noise_floor

CELL = 17  # pixels
SHOWN = 8  # tokens with the largest weights


def other_weights(passage: Encoding) -> Panel | None:
    """Make the panel of weights that differ from a head's own but give the same context, if there are any."""
    head, rows = counterexamples.freest_row(passage, 2)
    if rows.moved < 0.01:
        return None
    top = rows.before.topk(SHOWN).indices.tolist()
    columns = {
        title: [*row[top].tolist(), float(row.sum() - row[top].sum())]
        for title, row in {"weights of the head": rows.before, "other weights, same context": rows.after}.items()
    }
    tokens = [*(f"{place}: {passage.tokens[place]}" for place in top), "all other tokens"]
    frame = pd.DataFrame({"token": tokens, **columns})
    most = 1.2 * max(map(max, columns.values()))  # one scale for both charts, with room for the numbers
    return lesson_panel(
        "other weights",
        f'In {head}, "{passage.tokens[2]}" could move {share(rows.moved)} of its attention to other tokens '
        "and keep the same context.",
        {title: drawing(bar_list, frame, title, domain=(0, most), marked=0) for title in columns},
        note=f'The text begins "{passage.text.partition(".")[0]}." With these other weights, the context changes by at most '
        f"{error(rows.difference)}.",
        method="If a text has more tokens than a head has dimensions, many rows of weights give exactly the same context. "
        f"{head} is the head whose largest weight can fall furthest without a change of the context. The bars show the {SHOWN} "
        f"largest weights of {head}, and the sum of the other {len(rows.before) - SHOWN} weights. The text: {passage.text}",
    )


def removed_heads(heads: pd.DataFrame, together: float, precision: str) -> Panel:
    """Make the panel of the effects of removing heads one at a time, and all together.

    heads: a table with the columns effect and control.
    """
    heads, noise = noise_floor(heads, "effect", precision)
    alone, control = (heads.loc[heads[name].abs().idxmax(), name] for name in ("effect", "control"))
    summed = heads["effect"].sum()
    bars = {
        "single heads, summed": summed,
        "all together": together,
        "largest single head": alone,
        "largest single head, control": control,
    }
    frame = pd.DataFrame({"token": [*bars], "change of the cosine": [*bars.values()]})
    return lesson_panel(
        "removed heads",
        f"Removing one head at a time changes the cosine by amounts that sum to {change(summed)}. Removing all heads together "
        f"changes the cosine by {change(together)}.",
        {title: drawing(bar_list, frame, title, number="+.3f", marked=1) for title in frame.columns[1:]},
        note=f"Control: in two sentences of one sense, the largest effect of one head is {effect(control)}. {noise}".rstrip(),
        method="A head is removed at every position. The effect is the change of the cosine of the word's two vectors. Heads can "
        "replace or counteract each other, so effects of single heads say little about all heads together.",
    )


def lucky_head(weights: pronouns.PronounWeights) -> Panel:
    """Make the panel of the best head's accuracy, compared with guessing."""
    first, second = pronouns.halves(PRONOUNS)
    chosen, n_heads = pronouns.choose_head(weights, first, second), weights.preference[0].numel()
    best, luck = (decimal(100 * value, 0) for value in (chosen.chosen_with, chosen.luck))
    low, high = chosen.interval
    labels = ("the best head", "the best head, if heads guess", "the best head, new sentences")
    right = [chosen.chosen_with, chosen.luck, chosen.accuracy]
    frame = pd.DataFrame({"accuracy": right, "low": [math.nan, math.nan, low], "high": [math.nan, math.nan, high]})
    return dots_panel(
        "lucky head",
        f"The best of {n_heads} heads is right in {best} of 100 sentences; if all heads guessed, the best would reach {luck} "
        "once in twenty tries.",
        dot_rows(labels, frame, "accuracy"), guess=("one coin", 0.5), domain=(min(0.4, low), 1.0),
        marked=labels[-1:],
        note=f"On {chosen.n} new sentences, a coin does at least as well as {chosen.head} with probability "
        f"{weight(chosen.p_value)}.",
        method="The pronoun of each sentence refers to one of two nouns. A head is right if the pronoun gives more weight "
        f"to that noun than to the other. The best head is chosen on {len(first)} sentences and tested on {chosen.n} others. Of "
        "many heads, one can be the best by luck.",
    )  # fmt: skip


def recomputed_noise() -> Panel:
    """Make the panel of the weights that selfattn and torch compute from random numbers."""
    own, other = counterexamples.noise_weights()
    places, difference = [*map(str, range(len(own)))], own - other
    maps = {"the kernel's weights": (own, "weights"), "the kernel's minus torch's": (difference, "signed")}
    return lesson_panel(
        "recomputed noise",
        "The kernel (selfattn's own attention code) agrees with torch on random numbers too: the weights differ by at most "
        f"{error(float(difference.abs().max()))}.",
        {
            title: drawing(heatmap, each.numpy(), places, kind=kind, cell=CELL, numbers=None)
            for title, (each, kind) in maps.items()
        },
        note="Recomputed weights show that the formula is right, not that the numbers have a meaning.",
        method="Queries and keys are random numbers. On a page, “recomputed” means that the attention formula, with the "
        "encoder's scale and mask, gives the model's own weights. The two pictures have different colour scales.",
    )
