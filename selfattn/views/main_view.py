"""Make the main view: which word gives another word its meaning, and through which heads."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from selfattn.analysis.hiding import HeadsOfWord, HiddenPair, heads_of_word, hidden_pair, leading_head, unmeasured_pair
from selfattn.analysis.sense_means import SenseMeans, sense_means
from selfattn.analysis.word_map import Attended, attended
from selfattn.charts import share
from selfattn.charts.vega import Spec
from selfattn.charts.way import way
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.placed_word import PlacedWord
from selfattn.panel import Live, Look, Panel, Tables
from selfattn.senses import HeadProfiles, HiddenWordsReport
from selfattn.tidy_tables import hidden_curves_frame, hidden_heads_frame, hidden_words_frame
from selfattn.views import finding as texts
from selfattn.views.finding import finding, known_shares, leading_words, named_words, no_way, quoted_word
from selfattn.views.way_data import Line, asking, line_of, way_data

NAME = "words"


def main_view(
    encoder: Encoder,
    first: PlacedWord[Encoding],
    second: PlacedWord[Encoding],
    control: PlacedWord[Encoding] | None = None,
    *,
    senses: SenseMeans | pd.DataFrame | None = None,
    over_many: HiddenWordsReport | None = None,
    profiles: HeadProfiles | None = None,
    progress: Progress = silent,
) -> Iterator[Panel]:
    """Yield the panel twice: first with heads' effects estimated by gradient, then with the exact effects.

    senses: labelled sentences of the word, or their `sense_means`.
    over_many: the report of `hidden_words` on many sentences. Effects below its noise level could be chance.
    profiles: each head's attention patterns in many sentences, from `head_profiles`.
    Raises TextError, and ValueError for senses that can't be used.
    """
    means = sense_means(encoder, senses, first.word.text) if isinstance(senses, pd.DataFrame) else senses
    pair = measured(encoder, first, second, control, means, progress)
    put = partial(put_together, encoder, pair, means=means, over_many=over_many, profiles=profiles)
    leading = leading_words(pair)
    yield put([heads_of_word(encoder, pair, *at, exact=False) for at in leading])
    if leading and not encoder.one_head_reason:
        yield put([heads_of_word(encoder, pair, *at, exact=True) for at in leading])


def measured(
    encoder: Encoder,
    first: PlacedWord[Encoding],
    second: PlacedWord[Encoding],
    control: PlacedWord[Encoding] | None = None,
    senses: SenseMeans | pd.DataFrame | None = None,
    progress: Progress = silent,
    **kept: Callable[..., Any],
) -> HiddenPair:
    """Return the result of `hidden_pair`, or of `unmeasured_pair` if no word can be hidden in this encoder.

    kept: arguments to pass on to `hidden_pair`: `heads`, `changed` and `by_gradient`.
    """
    try:
        return hidden_pair(encoder, first, second, control, senses=senses, progress=progress, **kept)
    except NotRecomputable as error:
        reason = (encoder.hide_reason or str(error)).rstrip(".")
        note = f"No word can be hidden in this encoder: {reason}. The page still shows what its heads attend to."
        return unmeasured_pair(encoder, first, second, control, notes=(note,))


def put_together(
    encoder: Encoder,
    pair: HiddenPair,
    heads: Sequence[HeadsOfWord] | None,
    *,
    means: SenseMeans | None = None,
    over_many: HiddenWordsReport | None = None,
    profiles: HeadProfiles | None = None,
    guess: bool = False,
) -> Panel:
    """Return the panel that shows a measured pair before a visitor hides a word.

    heads: for each of some words, the effects of hiding it in one head at a time. The words in `leading_words(pair)`
    come first. None: no map of heads.
    means: the mean vectors of the pair's senses; needed if the pair has senses.
    over_many, profiles: as in `main_view`.
    guess: hide the answer and ask for a guess.
    """
    if pair.senses is not None and means is None:
        raise ValueError("Expected the mean vectors of the pair's senses, got None.")
    level = math.nan if over_many is None or pair.senses is None else over_many.level.level
    named = named_words(pair, level)
    bars = None if heads is None else _bars(pair)
    line = line_of(pair, means) if any(map(known_shares, pair.share)) and not no_way(pair) else None
    measured_heads = any(bool(side.isfinite().any()) for side in pair.by_head)
    said = finding(pair, named, level)
    data = way_data(
        encoder, pair, bars, heads or (), finding=said,
        below=texts.below(encoder, pair, named, level, over_many), hint=texts.hint(encoder, pair),
        beyond=texts.beyond(encoder, pair, over_many), line=line, named=named, level=level,
        over_many=over_many, profiles=profiles,
        reason="" if measured_heads or (heads is None and not encoder.hide_reason) else texts.why_no_heads(encoder, pair),
        head=None if heads is None else first_head(encoder, pair, heads),
    )  # fmt: skip
    question = f"Which word, if hidden, would change {quoted_word(pair)} most? Click one."
    run = {("AB"[each.side], each.word.start): each.share for each in heads or () if each.exact}
    return Panel(
        name=NAME,
        finding=said,
        picture=partial(_drawn, data),
        alt=texts.alt(pair, line, heads or ()),
        tables=Tables(
            {
                "words": lambda: hidden_words_frame(pair),
                "heads": lambda: hidden_heads_frame(pair, run),
                "curves": lambda: hidden_curves_frame(pair),
                "places": lambda: _places(pair, line),
            }
        ),
        arrays={
            **{f"share_{name}": share.numpy() for name, share in zip("ab", pair.share)},
            **{f"by_head_{name}": share.numpy() for name, share in zip("ab", pair.by_head)},
            **{f"weights_{name}": each.weights.numpy() for name, each in zip("ab", bars or ())},
            "curves": pair.curves.numpy(),
        },
        method="" if guess else texts.method(encoder, pair, means, over_many),  # the method tells the answer
        live=Live("way", asking(data, question) if guess else data),
        share=None if guess else partial(_shared, data),
    )


def chosen(
    panel: Panel,
    hidden: Sequence[int | None] = (None, None),
    head: int | None = None,
    guessed: tuple[int, int] | None = None,
) -> Panel:
    """Return the panel with a visitor's choices.

    hidden: for side 0 (A) and side 1 (B), the hidden word's index in `HiddenPair.words[side]`, or None.
    head: an index in `Encoder.all_heads`. None: the head with the largest effect.
    guessed: the guessed word, as (side, index in `HiddenPair.words[side]`).
    """
    if panel.live is None or panel.live.data["guess"]:
        return panel
    leading = panel.live.data["chosen"]["head"]
    now = {"hidden": list(hidden), "head": leading, "open": False}
    if head is not None and leading is not None:
        now |= {"head": head, "open": head != leading}
    live = panel.live.changed(chosen=now, **({"guessed": list(guessed)} if guessed else {}))
    return replace(panel, live=live, picture=partial(_drawn, live.data), share=partial(_shared, live.data))


def _drawn(data: Mapping[str, Any], look: Look) -> Spec:
    return way(data, look.theme, look.width)


def _shared(data: Mapping[str, Any], look: Look) -> Spec:
    return share.share(data, look.theme)


def _places(pair: HiddenPair, line: Line | None) -> pd.DataFrame:
    """Return a table of the points on `line`, with each point's position (0 and 1: the line's ends)."""
    rows = []
    if line is not None:
        rows += [("labelled sentence", row.sense, row.place, row.sentence) for dots in line.dots for row in dots]
        for side, (name, placed) in enumerate(zip("AB", pair.placed)):
            sense, text, here = (pair.senses or ("", ""))[side], placed.sentence.text, line.at[side]
            rows.append((name, sense, here, text))
            if (top := pair.top[side]) is not None:
                there = here + line.toward[side] * float(pair.share[side][top])
                rows.append((f'{name} without "{pair.words[side][top].label}"', sense, there, text))
    return pd.DataFrame(rows, columns=["what", "sense", "place", "sentence"])


def first_head(encoder: Encoder, pair: HiddenPair, heads: Sequence[HeadsOfWord]) -> Head:
    """Return the head in which hiding the word of `heads[0]` has the largest effect on the chosen word's vector.

    If no effect is known, return the head from `_most_to_another`.
    """
    return (leading_head(encoder, pair, heads[0]) if heads else None) or _most_to_another(_bars(pair))


def _most_to_another(sides: Sequence[Attended]) -> Head:
    """Return the head with the largest sum, over A and B, of the chosen word's largest weight to another word."""
    most = []
    for side in sides:
        others = [place for place, at in enumerate(side.others) if at is not None]
        weights = side.weights[..., others]
        most.append(weights.amax(dim=-1) if others else weights.new_zeros(side.weights.shape[:2]))
    layers_and_heads = (most[0] + most[1]).flatten()
    return Head(*divmod(int(layers_and_heads.argmax()), most[0].shape[1]))


def _bars(pair: HiddenPair) -> tuple[Attended, Attended]:
    a, b = (attended(placed, known_shares(share) or None) for placed, share in zip(pair.placed, pair.share))
    return a, b
