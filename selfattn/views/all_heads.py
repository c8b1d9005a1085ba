"""Make the panels of the page All heads."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from selfattn import numbers
from selfattn.analysis.measures import Compared, Measure
from selfattn.analysis.patterns import Fit, nearest_first
from selfattn.charts.head_map import PIXELS, head_grid, one_picture
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.panel import Live, Panel, Tables
from selfattn.senses import HeadProfiles
from selfattn.senses.telling_words import HiddenWordsReport
from selfattn.senses.what_heads_do import TOP
from selfattn.tidy_tables import sentence_words, weights_frame
from selfattn.views.heads_data import heads_data
from selfattn.views.senses import heads
from selfattn.views.shaded import Tint, shaded_data, shaded_picture

SMALL = 92  # pixels of a small map, at most
WRITTEN = 40  # tokens: longer sentences reach the browser as pictures, without the weights
OPEN = "Show this sentence in the maps of all heads"
PLACES = {"previous token": "the token before", "next token": "the token after", "itself": "the token itself"}


def small_maps(encoding: Encoding) -> dict[str, Any]:
    """Return every head's attention map in one picture, as field `maps` of heads.schema.json."""
    count = encoding.n_layers * encoding.n_heads
    side = min(len(encoding.tokens), SMALL, math.isqrt(PIXELS // count))
    picture = one_picture(_maps(encoding), encoding.n_heads, side)
    return {"picture": picture, "side": side, "tokens": [*encoding.tokens]}


def _maps(encoding: Encoding) -> Iterator[np.ndarray]:
    return (weights for layer in range(encoding.n_layers) for weights in encoding.weights(layer).numpy())


def every_head(
    encoding: Encoding,
    maps: Mapping[str, Any],
    frame: pd.DataFrame,
    measure: Measure,
    chosen: Head,
    *,
    compared: Compared | None = None,
    noise: str = "",
) -> Panel:
    """Make the panel of all heads: small maps, and a large map of the chosen head.

    maps: the result of `small_maps`, plus the rows to outline and the sentence's name. noise: a remark about rounding errors.
    compared: the word in sentences A and B, if the measure is the effect of removing a head.
    """
    note = ""
    few = len(encoding.tokens) <= WRITTEN
    written = ",".join(map(numbers.weight, encoding.weights(*chosen).flatten().tolist())) if few else ""
    if compared and measure.beside:
        finding, note = _removals(frame, measure, compared)
    else:
        finding = _most_and_least(frame, measure)
    kind, unit = ("effect", "") if measure.signed else ("weights", measure.unit)
    title = f"{measure.label}, in {unit}" if unit else measure.label
    maps = {**maps, "said": written}
    return Panel(
        name="all heads",
        finding=finding,
        picture=lambda look: head_grid(_maps(encoding), frame, measure.name, look.theme, str(chosen), title),
        live=Live("heads", heads_data(frame, measure.name, chosen, kind=kind, title=measure.label, unit=unit, maps=maps)),
        alt=f"The maps of {len(frame)} heads, one row per layer, layer 0 first. {finding}",
        tables=Tables(
            {"all heads": lambda: frame, f"map: {chosen}": lambda: weights_frame(encoding.weights(*chosen), encoding.tokens)}
        ),
        note=f"{note} {noise}".strip(),
        method=f"{measure.caption}\n\nIn each map, rows attend to columns. The deepest blue is the largest weight of the map. "
        "The bar beneath the map shows the measure.",
    )  # fmt: skip


def _most_and_least(frame: pd.DataFrame, measure: Measure) -> str:
    def value(row: pd.Series) -> str:
        number = row[measure.name]
        return numbers.effect(number) if measure.signed else f"{numbers.decimal(number)} {measure.unit}".strip()

    name = f"{measure.label[0].upper()}{measure.label[1:]}"
    most, least = (frame.loc[getattr(frame[measure.name], end)()] for end in ("idxmax", "idxmin"))
    return f"{name}: highest in {most['name']} ({value(most)}), lowest in {least['name']} ({value(least)})."


def _removals(frame: pd.DataFrame, measure: Measure, compared: Compared) -> tuple[str, str]:
    """Return the finding and the note about the effects of removing heads."""
    effect, *control = [name for name in measure.beside if name in frame]
    top, word = frame.loc[frame[effect].abs().idxmax()], compared.sides["A"].word.text
    finding = (
        f'Removing {top["name"]} changes the cosine of the two "{word}" vectors most: by {numbers.effect(top[effect])}, from '
        f"{numbers.cosine(compared.cosine)}."
    )
    if not control:
        return finding, "Add a control sentence to see whether the effect has to do with the word's meaning."
    rival = frame.loc[frame[control[0]].abs().idxmax()]
    beaten = abs(top[effect]) > abs(rival[control[0]])
    larger = "larger than this" if beaten else "not larger than this, and so may have nothing to do with the meaning"
    note = (
        f"In the control sentence, {rival['name']} has the largest effect: {numbers.effect(rival[control[0]])}. "
        f"In A and B, the effect of {top['name']} is {larger}. In other sentences, other heads may have the largest effect."
    )
    return finding, note


def habit(encoder: Encoder, report: HeadProfiles, frame: pd.DataFrame, head: Head) -> Panel:
    """Make the panel that shows what one head attends to over many sentences."""
    patterns, weighted = (_of_head(table, head) for table in (report.patterns, report.sentences))
    rows, joined, said, headings = [], [], {}, {}
    for rank, row, to, weight in weighted[["rank", "row", "to", "weight"]].itertuples(index=False):
        if rank == 0:
            headings[row] = f"The largest weights in {report.n} sentences, from the underlined word to the blue word"
        elif rank >= TOP and len(headings) == 1:
            headings[row] = f"Typical sentences: the weight is near the median of all {report.n} sentences"
        text, asked, sense = frame.loc[row, ["sentence", "word", "sense"]]
        said[row] = f"{asked}: {sense}"
        joined.append(f'from "{asked}" to "{to}" {numbers.weight(weight)}')
        word = encoder.tokenize(text).places(asked)[0]
        for each in word.sentence.words:
            rows.append((row, each, each.text, weight if each.label == to else math.nan, each == word.word))
    words = sentence_words(rows, "row", "weight")
    tint = Tint("weight", numbers.weight, "attention weight {}", 1.0)
    return Panel(
        name="over many sentences",
        finding=profile(nearest_first(patterns.iloc[0]), str(head), f"Over {report.n} labelled sentences"),
        alt="Sentences with the largest weights from the labelled word to another word, then sentences with typical weights: "
        f"{', '.join(joined)}.",
        tables=Tables({"over many sentences": lambda: weighted, "patterns": lambda: report.patterns}),
        method="A head has a pattern if the tokens that aren't special give, on average, at least half of their weight to one "
        "place, such as the token before. For weight on special tokens, the threshold is two thirds. In each sentence, the "
        "labelled word is underlined. The other word that gets the most weight from the labelled word is blue. Sentences are "
        "ordered by the blue word's weight.",
        one_head=True,
        **shaded_picture(shaded_data(words, said, tint, OPEN, headings) | {"kind": "weights"}),
    )


def _of_head(table: pd.DataFrame, head: Head) -> pd.DataFrame:
    return table[(table["layer"] == head.layer) & (table["head"] == head.head)]


def moved_word(report: HiddenWordsReport, head: Head) -> Panel:
    """Show how far hiding a word only in `head` moves the labelled word toward its other sense."""
    panel = heads(report, head)
    chosen = _of_head(panel.table, head).iloc[0]
    further, share = int((panel.table["share"] > chosen["share"]).sum()), numbers.decimal(100 * chosen["share"], 1)
    note = (
        f"Hiding the word with the largest effect moves the labelled word further in {further or 'none'} of the other "
        f"{len(panel.table) - 1} heads than in the chosen head."
    )
    if chosen["leads"] >= 0.005:
        note += f" {head} has the largest effect in {numbers.share(chosen['leads'])} of random resamples of the words."
    return replace(
        panel,
        name="moved word",
        finding="If the word with the largest effect on the labelled word is hidden only in "
        f"{head}, the labelled word moves, on average, {share}\u00a0% of the distance to its other sense.",
        note=note,
    )


def profile(found: Sequence[Fit], head: str, where: str) -> str:
    """Describe a head's patterns, or where most of its weight goes."""
    if fitting := [fit for fit in found if fit.fits]:
        parts = " and ".join(f"{fit.meaning} ({numbers.weight(fit.value)})" for fit in fitting)
        return f"{where} {head} has {parts}."
    shares = sorted((fit for fit in found if fit.name != "broad"), key=lambda fit: fit.value, reverse=True)[:2]
    (share, first), (other, second) = ((numbers.share(fit.value), PLACES.get(fit.name, fit.name)) for fit in shares)
    return f"{where} {head} has no clear pattern: {share} of the weight goes to {first}, and {other} to {second}."
