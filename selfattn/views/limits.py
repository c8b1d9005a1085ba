"""Make a panel for each limit: weights, removed heads, a lucky head and the recomputation, each with a counter-example."""

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
    """The panel of other weights that give the same context; None if the text has too few tokens for any."""
    head, rows = counterexamples.freest_row(passage, 2)
    if rows.moved < 0.01:
        return None
    top = rows.before.topk(SHOWN).indices.tolist()
    columns = {
        title: [*row[top].tolist(), float(row.sum() - row[top].sum())]
        for title, row in {"its own weights": rows.before, "other weights, same result": rows.after}.items()
    }
    tokens = [*(f"{place}: {passage.tokens[place]}" for place in top), "all other tokens"]
    frame = pd.DataFrame({"token": tokens, **columns})
    most = 1.2 * max(map(max, columns.values()))  # one scale for both, with room for the numbers
    return lesson_panel(
        "other weights",
        f'{share(rows.moved)} of the weight of "{passage.tokens[2]}" could lie elsewhere: {head} would mix the same context.',
        {title: drawing(bar_list, frame, title, domain=(0, most), marked=0) for title in columns},
        note=f'The text begins "{passage.text.partition(".")[0]}." The two contexts differ by {error(rows.difference)}.',
        method="In a text with more tokens than a head has dimensions, many rows of weights mix the very same context. The "
        f"picture has the row, among all heads, whose largest weight can fall furthest: its {SHOWN} largest weights and the sum "
        f"of the other {len(rows.before) - SHOWN}. The text: {passage.text}",
    )


def removed_heads(heads: pd.DataFrame, together: float, precision: str) -> Panel:
    """The panel of each head's effect when removed alone, compared with `together`, the effect of removing all at once.

    heads: tidy_tables.heads_frame with columns effect and control.
    """
    heads, noise = noise_floor(heads, "effect", precision)
    alone, control = (heads.loc[heads[name].abs().idxmax(), name] for name in ("effect", "control"))
    summed = heads["effect"].sum()
    bars = {
        "one at a time, summed": summed,
        "all together": together,
        "largest of one head": alone,
        "largest of one head, control": control,
    }
    frame = pd.DataFrame({"token": [*bars], "change of the cosine": [*bars.values()]})
    return lesson_panel(
        "removed heads",
        f"Removed one at a time, the heads change the cosine by {change(summed)} in all; removed together, by "
        f"{change(together)}.",
        {title: drawing(bar_list, frame, title, number="+.3f", marked=1) for title in frame.columns[1:]},
        note=f"One head alone also moves two sentences of one sense, the control: by {effect(control)}. {noise}".rstrip(),
        method="The effect of removing a head at every position is the change of the cosine of the two vectors. Heads can take "
        "over from one another and work against one another, so single effects say little about all.",
    )


def lucky_head(weights: pronouns.PronounWeights) -> Panel:
    """The panel of the best head's accuracy on the sentences that chose it, on new sentences, and by luck."""
    first, second = pronouns.halves(PRONOUNS)
    chosen, n_heads = pronouns.choose_head(weights, first, second), weights.preference[0].numel()
    best, luck = (decimal(100 * value, 0) for value in (chosen.chosen_with, chosen.luck))
    low, high = chosen.interval
    labels = ("best of all heads", "best, if all guessed", "the head, new sentences")
    right = [chosen.chosen_with, chosen.luck, chosen.accuracy]
    frame = pd.DataFrame({"accuracy": right, "low": [math.nan, math.nan, low], "high": [math.nan, math.nan, high]})
    return dots_panel(
        "lucky head",
        f"The best of {n_heads} heads is right in {best} of 100 sentences; if all guessed, the best would reach {luck} once "
        "in twenty tries.",
        dot_rows(labels, frame, "accuracy"), guess=("one coin", 0.5), domain=(min(0.4, low), 1.0),
        marked=labels[-1:],
        note=f"On {chosen.n} new sentences coins do as well as {chosen.head} or better with probability "
        f"{weight(chosen.p_value)}.",
        method="The pronoun of each sentence refers to one of two nouns, and a head is right where it gives that noun more "
        f"weight. The best head is chosen on {len(first)} sentences and judged on {chosen.n} others. An example "
        "chosen from many proves less than it seems.",
    )  # fmt: skip


def recomputed_noise() -> Panel:
    """The panel of the kernel's weights on random queries and keys, and how they differ from torch's weights."""
    own, other = counterexamples.noise_weights()
    places, difference = [*map(str, range(len(own)))], own - other
    maps = {"the kernel's weights": (own, "weights"), "their difference to torch's": (difference, "signed")}
    return lesson_panel(
        "recomputed noise",
        f"The kernel recomputes pure noise, too: it differs from torch by {error(float(difference.abs().max()))}.",
        {
            title: drawing(heatmap, each.numpy(), places, kind=kind, cell=CELL, numbers=None)
            for title, (each, kind) in maps.items()
        },
        note="“Recomputed” is about the formula, never about what the numbers mean.",
        method="Queries and keys are drawn at random. The recomputation says that attention's formula, with an encoder's own "
        "scale and mask, gives the model's own numbers. The difference has a scale of its own.",
    )
