"""All heads: their maps with a measure of each, the map that is opened, and several heads' rows for one word."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.measures import Compared, Measure, head_average, rollout
from selfattn.analysis.patterns import Fit
from selfattn.analysis.word_map import WordMap, word_map
from selfattn.charts.bars import Row, bars
from selfattn.charts.head_map import head_grid
from selfattn.charts.heatmap import heatmap
from selfattn.charts.vega import Spec
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.panel import Look, Panel, Tables
from selfattn.tidy_tables import strip_frame, weights_frame
from selfattn.views.one_head import left_out, surest_word

LINE = 400  # pixels of a head's row
NAMED = {"head": "{head}", "average": "the average of L{layer}'s heads", "rollout": "rollout up to L{layer}"}
FORMULAS = {
    "average": r"$\bar A^{(l)} = \frac{1}{H} \sum_h A^{(l,h)}$: the mean of the layer's heads.",
    "rollout": r"$R^{(l)} = \left(\tfrac12 \bar A^{(l)} + \tfrac12 I\right) R^{(l-1)}$: half attention, half the token "
    "itself, multiplied up through the layers (Abnar and Zuidema 2020).",
}
PLACES = {"previous token": "the token before", "next token": "the token after", "itself": "the token itself"}

Rollout = Callable[[Encoding], Tensor]  # to (n_layers, n, n)
Sides = Mapping[str, PlacedWord[Encoding]]


def every_head(
    maps: Sequence[np.ndarray],
    frame: pd.DataFrame,
    measure: Measure,
    chosen: Head,
    *,
    across: int,
    ordered: bool = False,
    compared: Compared | None = None,
    noise: str = "",
) -> Panel:
    """The panel of all heads: each map small, above a strip in the colour of a measure.

    maps, frame: a head each, in the order drawn; frame: tidy_tables.heads_frame. across: heads in a row. ordered: they are sorted
    by the measure. compared: the word's sentences, for a measure that is an effect on its cosine. noise: said under the picture.
    """
    if compared and measure.beside:
        finding, note = _removals(frame, measure, compared)
    else:
        finding, note = _most_and_least(frame, measure, str(chosen))
    return Panel(
        name="all heads",
        finding=finding,
        picture=lambda look: head_grid(
            maps, frame, measure.name, look.theme, str(chosen), kind="effect" if measure.signed else "weights",
            columns=across, named=ordered,
        ),
        alt=f"{len(frame)} maps of heads, the layers from above. {finding}",
        tables=Tables({"all heads": lambda: frame}),
        note=f"{note} {noise}".strip(),
        method=f"{measure.caption}\n\nEach map is shaded up to its own largest weight.",
    )  # fmt: skip


def _most_and_least(frame: pd.DataFrame, measure: Measure, chosen: str) -> tuple[str, str]:
    """Name the heads with the most and the least of a measure, and state the chosen head's value."""

    def value(row: pd.Series) -> str:
        number = row[measure.name]
        return numbers.effect(number) if measure.signed else f"{numbers.decimal(number)} {measure.unit}".strip()

    name = f"{measure.name[0].upper()}{measure.name[1:]}"
    most, least = (frame.loc[getattr(frame[measure.name], end)()] for end in ("idxmax", "idxmin"))
    own = frame[frame["name"] == chosen].iloc[0]
    finding = f"{name}: most in {most['name']} ({value(most)}), least in {least['name']} ({value(least)})."
    return finding, f"{chosen} has {value(own)}."


def _removals(frame: pd.DataFrame, measure: Measure, compared: Compared) -> tuple[str, str]:
    """Name the head whose removal changes the word's cosine most, and compare it with the control's largest change."""
    effect, *control = [name for name in measure.beside if name in frame]
    top, word = frame.loc[frame[effect].abs().idxmax()], compared.sides["A"].word.text
    finding = (
        f'Removing {top["name"]} changes the cosine of the two "{word}" most: {numbers.effect(top[effect])} from '
        f"{numbers.cosine(compared.cosine)}."
    )
    if not control:
        return finding, "No control yet, so whether this is about the meaning can't be said."
    rival = frame.loc[frame[control[0]].abs().idxmax()]
    beaten = abs(top[effect]) > abs(rival[control[0]])
    note = (
        f"In the control the largest is {rival['name']}'s, {numbers.effect(rival[control[0]])}: {top['name']} "
        f"{'exceeds it' if beaten else 'does not exceed it, so it is a hint, not a finding'}. Over other sentences other heads "
        "may lead."
    )
    return finding, note


def opened_map(shown: WordMap, weights: Tensor, side: PlacedWord[Encoding], which: str, head: Head) -> Panel:
    """The panel of one map. shown: the map as it is drawn, of `weights` (n, n); which: of NAMED."""
    name = NAMED[which].format(head=head, layer=head.layer)
    finding = surest_word(shown, f"in {name}")
    return Panel(
        name=f"map: {name}",
        finding=finding,
        picture=lambda look: heatmap(
            shown.matrix.numpy(), shown.labels, look.theme, marked=shown.rows_of(side.positions), size=330
        ),
        alt=f"A map: rows attend to columns. {finding}",
        tables=Tables(
            {
                f"map: {name}": partial(weights_frame, shown.matrix, shown.labels),
                "what each word attends to most": lambda: _most(side.sentence, weights),
            }
        ),
        note=left_out(shown),
        one_head=which == "head",
    )


def _most(encoding: Encoding, weights: Tensor) -> pd.DataFrame:
    """Each word's largest weight: columns word, attends most to, weight."""
    by_word = word_map(encoding, weights)
    weight, top = by_word.matrix.max(dim=-1)
    most = [by_word.labels[j] for j in top.tolist()]
    table = pd.DataFrame({"word": by_word.labels, "attends most to": most, "weight": weight.tolist()})
    return table[[not special for special in by_word.special]]


def overlays(encoder: Encoder) -> dict[str, tuple[str, Head]]:
    """What can be seen beneath one another, by its name: heads, averages over a layer's, rollout; each as `one_map` has it."""
    named = {str(head): ("head", head) for head in encoder.all_heads}
    named |= {f"average of L{layer}": ("average", Head(layer, 0)) for layer in range(encoder.n_layers)}
    return {**named, "rollout": ("rollout", Head(encoder.n_layers - 1, 0))}


def one_map(encoding: Encoding, which: str, head: Head, rolled: Rollout = rollout) -> Tensor:
    """The map (n, n) of one head, of the average over its layer's heads, or of rollout up to its layer."""
    if which == "average":
        return head_average(encoding, head.layer)
    return rolled(encoding)[head.layer] if which == "rollout" else encoding.weights(*head)


def word_lines(encoder: Encoder, sides: Sides, of: Sequence[str], rolled: Rollout = rollout) -> Iterator[Panel]:
    """The panels of a word's row, word by word, in several heads one beneath the other, a panel a sentence ("A" or "B").

    of: names of `overlays`; raises ValueError for another.
    """
    known = overlays(encoder)
    if unknown := [source for source in of if source not in known]:
        raise ValueError(f"Expected heads such as 'L0 H1', 'average of L0' or 'rollout', got {unknown[0]!r}.")
    for name, side in sides.items():
        weights = {source: one_map(side.sentence, *known[source], rolled) for source in of}
        rows = {source: each[list(side.positions)].mean(0) for source, each in weights.items()}
        frames = {source: strip_frame(side.sentence, row, side.word, name) for source, row in rows.items()}
        table = pd.concat([frame.assign(row=source) for source, frame in frames.items()], ignore_index=True)
        top = table.loc[table["weight"].where(~table["special"], -1.0).idxmax()]
        finding = (
            f'Of the words in {name}, "{top["text"]}" gets most, in {top["row"]}: {numbers.weight(top["weight"])}.'
        )
        yield Panel(
            name=f"lines in {name}",
            finding=finding,
            picture=partial(_lines, frames, name),
            alt=f"Bars, a row of them for each of {', '.join(of)}. {finding}",
            tables=Tables({f"lines in {name}": partial(pd.DataFrame, table)}),
            sentences=(name,),
        )


def _lines(frames: Mapping[str, pd.DataFrame], name: str, look: Look) -> Spec:
    color = look.theme.sentence(name)
    rows = [
        Row(source, frame["weight"].tolist(), frame["text"].tolist(), color, int(frame["chosen"].argmax()))
        for source, frame in frames.items()
    ]
    return bars(rows, look.theme, what="weight", width=LINE)


def profile(found: Sequence[Fit], head: str, where: str) -> str:
    """Describe a head in one sentence: the named patterns that it fits, or the two places that get most of its weight."""
    if fitting := [fit for fit in found if fit.fits]:
        parts = " and ".join(f"{fit.meaning} ({numbers.weight(fit.value)})" for fit in fitting)
        return f"{where} {head} has {parts}."
    shares = sorted((fit for fit in found if fit.name != "broad"), key=lambda fit: fit.value, reverse=True)[:2]
    first, second = (f"{numbers.share(fit.value)} to {PLACES.get(fit.name, fit.name)}" for fit in shares)
    return f"{where} {head} fits no named pattern: {first} and {second}, the rest elsewhere."
