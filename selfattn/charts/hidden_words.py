"""Two sentences, each word shaded by how far hiding it moves the chosen one; the heads of a clicked word; the cosine by layer."""

import math
import textwrap
from typing import NamedTuple

import pandas as pd

from selfattn import numbers
from selfattn.charts.curves import drift_curve
from selfattn.charts.head_map import head_map, opened_by_a_click
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, beside, stacked
from selfattn.charts.word_strip import word_strip

ITSELF = "The word itself: click another."
UNKNOWN = "Its heads are not known: click another."
FLOOR = 0.6  # where the axis of the cosines begins, unless a curve goes below it
LARGE, SMALL = 64, 84  # letters of a line of the title, and beneath it


class HiddenWord(NamedTuple):
    """A word that a click picks, and what its map of heads says above it."""

    sentence: str  # "A" or "B"
    place: int
    heads: str


def hidden_words(
    words: pd.DataFrame, heads: pd.DataFrame, curves: pd.DataFrame, theme: Theme, *, title: list[str], word: str
) -> Spec:
    """tidy_tables.hidden_words_frame above the map of heads of the word that a click picks, beside the curves.

    heads, curves: hidden_heads_frame and hidden_curves_frame. At first the leading word of A is picked; all in the browser.
    Where no heads are known there is no map. title: lines; word: the one that moves.
    """
    named = words[~words["chosen"] & ~words["punctuation"]]
    own = {at: table for at, table in heads.dropna(subset="share").groupby(["sentence", "place"], sort=False)}
    own = {at: own[at] for at in zip(named["sentence"], named["place"]) if at in own}
    keys = {
        at: HiddenWord(*at, f'Through which heads "{word}" reads "{table["text"].iloc[0]}": {table["how"].iloc[0]}')
        for at, table in own.items()
    }
    said = [
        keys[at].heads if (at := (row.sentence, row.place)) in keys else ITSELF if row.chosen else UNKNOWN
        for row in words.itertuples()
    ]
    strip = word_strip(
        words.assign(heads=said), theme, pick=["sentence", "place", "heads"] if keys else False, measure="share"
    )
    lines = [*title[1:], *(["Click a word for its heads."] if keys else [])]
    beneath = [part for line in lines for part in _wrapped(line, SMALL)]
    strip["title"] = {"text": _wrapped(title[0], LARGE), "subtitle": beneath}
    curve = _curve(curves, word, theme)
    if not keys:
        return beside(strip, curve, alike=False)
    most = max(float(table["share"].abs().max()) for table in own.values())
    shared = {"title": "share of the way", "maximum": most}
    columns = ["layer", "head", "name", "share"]
    maps = {keys[at]: head_map(table[columns], "share", theme, "", **shared) for at, table in own.items()}
    led = named[named["leads"]]
    first = next(keys[at] for at in (*zip(led["sentence"], led["place"]), *keys) if at in keys)
    picked = "isDefined(pick.heads) ? pick.heads : 'Click a word.'"
    return opened_by_a_click(
        strip, maps, first, picked, lambda words, heads: beside(stacked(words, heads), curve, alike=False)
    )


def _wrapped(line: str, letters: int) -> list[str]:
    """A number stays with its unit."""
    return [part.replace("\u00a0%", " %") for part in textwrap.wrap(line.replace(" %", "\u00a0%"), letters)]


def _curve(curves: pd.DataFrame, word: str, theme: Theme) -> Spec:
    """Each curve is named with its last number, over one floor for all pairs."""
    last = curves.groupby("curve", sort=False)["similarity"].last()
    names = {name: f"{numbers.cosine(cosine)} {name}" for name, cosine in last.items()}
    colors = dict(zip(names.values(), (theme.ink, theme.effect[-1])))
    floor = min(FLOOR, math.floor(5 * curves["similarity"].min()) / 5)
    curve = drift_curve(curves.assign(curve=curves["curve"].map(names)), theme, colors, floor=floor)
    return {**curve, "title": {"text": f'Cosine of the two "{word}", layer by layer'}}
