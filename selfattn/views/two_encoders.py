"""Two encoders on one sentence: a head of each, word by word; which heads of two checkpoints differ over many sentences."""

from collections.abc import Iterator, Sequence

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.compare import EncoderComparison
from selfattn.analysis.cosine_parts import CosineParts
from selfattn.charts.dots import dot_rows
from selfattn.charts.heatmap import heatmap
from selfattn.encoders.capture import Head
from selfattn.panel import Panel, Tables
from selfattn.senses import CheckpointsReport
from selfattn.tidy_tables import named_heads, weights_frame
from selfattn.views.dots_and_heads import dots_panel, heads_panel, named
from selfattn.words import numbered

MAP = 296  # pixels: three maps fit side by side in a window of 1440
MINUS = "second minus first"
LEADERS = 6  # pairs of words that are listed
CELL = "A cell: how much of the head's weight lies elsewhere in the second encoder."
WORDS_ONLY = "Words only: without special tokens each row is scaled up to sum to 1 again."


def one_sentence(compared: EncoderComparison, titles: Sequence[str]) -> Iterator[Panel]:
    """The row of the word that differs most; then the two heads' maps and their difference. titles: of the two heads."""
    yield row(compared, titles)
    top = float(max(compared.first.max(), compared.second.max()))
    yield _map(MINUS, compared.difference, compared.words, MINUS)
    yield _map("first", compared.first, compared.words, titles[0], top)
    yield _map("second", compared.second, compared.words, titles[1], top)


def row(compared: EncoderComparison, titles: Sequence[str]) -> Panel:
    """The words to which the word that differs most attends, in both."""
    elsewhere = compared.difference.abs().sum(dim=1) / 2
    at = int(elsewhere.argmax())
    words, most = numbered(compared.words), int(compared.difference[at].abs().argmax())
    sides = zip(titles, (compared.first, compared.second))
    parts = [dot_rows(words, pd.DataFrame({"weight": own[at]}), "weight", series=title) for title, own in sides]
    drawn = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    distance = float(elsewhere[at])
    finding, note = "Every word looks at the same words in both.", ""
    if distance:
        one, other = (numbers.weight(float(own[at, most])) for own in (compared.first, compared.second))
        finding = f'Where "{words[at]}" looks: {one} on "{words[most]}" in the first, {other} in the second.'
        note = f'"{words[at]}" differs most: {numbers.weight(distance)} of its weight lies elsewhere in the second. '
    left_out = (
        f" One of the two can't read, so it is left out: {', '.join(compared.left_out)}." if compared.left_out else ""
    )
    return dots_panel(
        "row", finding, drawn, domain=(0.0, 1.02 * float(drawn["value"].max())), format=".2f",
        title=f'weight from "{words[at]}"', note=f"{note}{WORDS_ONLY}{left_out}", one_head=True,
    )  # fmt: skip


def _map(name: str, matrix: Tensor, words: Sequence[str], title: str, top: float | None = None) -> Panel:
    """A map (k, k), or a difference of maps where there is no common top."""
    i, j = divmod(int(matrix.abs().argmax()), len(words))
    what, write = ("difference", numbers.change) if top is None else ("weight", numbers.weight)
    finding = f'Largest {what}: {write(float(matrix[i, j]))}, from "{words[i]}" to "{words[j]}".'
    look_of = {"kind": "signed", "legend": MINUS} if top is None else {"maximum": top, "legend": "weight"}
    return Panel(
        name=name,
        finding=finding,
        picture=lambda look: heatmap(matrix.numpy(), words, look.theme, title=title, size=MAP, **look_of),
        alt=f"{title}: a map from each word to each word. {finding}",
        tables=Tables({name: lambda: weights_frame(matrix, words)}),
        one_head=True,
    )


def similarity(first: CosineParts, second: CosineParts) -> Panel:
    """The pairs of words whose parts of two texts' cosine differ most. Raises ValueError where the tokens differ."""
    if (first.a.ids, first.b.ids) != (second.a.ids, second.b.ids):
        raise ValueError("The two encoders read other tokens in these texts. Choose two checkpoints of one tokeniser.")
    pairs = first.parts[["word_a", "word_b"]].assign(first=first.parts["part"], second=second.parts["part"])
    pairs["change"] = pairs["second"] - pairs["first"]
    leading = pairs[first.parts["interaction"].notna()]
    leading = leading.sort_values("change", key=lambda change: -change.abs(), kind="stable")[:LEADERS]
    labels = leading["word_a"] + " – " + leading["word_b"]
    drawn = pd.concat([dot_rows(labels, leading, side, series=side) for side in ("first", "second")])
    drawn = drawn.sort_index(kind="stable").reset_index(drop=True)
    top, values = leading.iloc[0], drawn["value"]
    named, change = f'"{top["word_a"]}" and "{top["word_b"]}"', numbers.effect(top["change"])
    return dots_panel(
        "similarity", f"{named} differ most: their part of the cosine changes by {change}.", drawn,
        domain=(min(0.0, values.min()), max(0.0, values.max())), format=".3f", tables={"pairs": pairs},
        note=f"Cosine {numbers.cosine(first.cosine)} in the first, {numbers.cosine(second.cosine)} in the second.",
        method="With mean pooling the cosine of two texts is a sum over pairs of words: here each pair's part, in both.",
    )  # fmt: skip


def over_many(report: CheckpointsReport, head: Head, n_texts: int) -> Panel:
    """Each head's mean distance from its counterpart over sentences. head: outlined, and in the note."""
    frame = named_heads(report.heads)
    frame = frame.reindex(columns=[*frame, *(name for name in ("low", "high", "others") if name not in frame)])
    own, far = frame[frame["name"] == str(head)].iloc[0], frame.loc[frame["distance"].idxmax()]
    known = own["others"] == own["others"]  # a layer of one head has no others
    same = int((frame["high"].fillna(frame["distance"]) >= frame["others"]).sum())
    most = f"{named(far)} differs most: {numbers.weight(far['distance'])}"
    span = f" (95 %: {numbers.span(own['low'], own['high'], numbers.weight)})" if own["low"] == own["low"] else ""
    others = f"; from the other heads of its layer {numbers.weight(own['others'])}" if known else ""
    left_out = ""
    if len(report.rejected):
        at, reason = report.rejected.iloc[0]
        left_out = f" Left out: {len(report.rejected)} of {n_texts} sentences; the first is number {at + 1}: {reason}"
    finding = _nearer(same, len(frame)) if known else f"{most} of its weight lies elsewhere."
    n, over = int(own["n"]), numbers.weight(own["distance"])
    return heads_panel(
        "counterparts", finding, named_heads(report.heads.drop(columns="n")), "distance", head,
        look_of={"kind": "weights", "title": "weight elsewhere"},
        note=f"{CELL} {f'{most}. ' if known else ''}{head}, over {n} sentence{'s' * (n != 1)}: {over}{span}{others}.{left_out}",
        method="The part of a head's weights that lies elsewhere in its counterpart, the head of the same place in the second "
        "encoder: 0, the same weights; 1, nothing in common; the mean over sentences. A head that is as far from its counterpart "
        "as from the other heads of its layer is no longer the same head.",
    )  # fmt: skip


def _nearer(same: int, n: int) -> str:
    """Count the heads that are no nearer to their counterpart than to the other heads of their layer."""
    if not same:
        return "Each head is nearer to its own counterpart than to other heads."
    are, their = ("is", "its") if same == 1 else ("are", "their")
    return f"{same} of {n} heads {are} no nearer to {their} own counterpart than to other heads."
