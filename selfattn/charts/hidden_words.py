"""Two sentences, each word shaded by how far hiding it moves the chosen one; the heads of a clicked word; the cosine by layer."""

from typing import NamedTuple

import pandas as pd

from selfattn.charts.curves import drift_curve
from selfattn.charts.head_map import head_map, opened_by_a_click
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, field, marks
from selfattn.charts.word_strip import word_strip

ITSELF = "The word itself: click another."
DEEPEST = 0.4  # the share of the deepest colour, in every pair alike


class HiddenWord(NamedTuple):
    """A word that a click picks, and what its map of heads says above it."""

    sentence: str  # "A" or "B"
    place: int
    heads: str


def hidden_words(
    words: pd.DataFrame, heads: pd.DataFrame, curves: pd.DataFrame, theme: Theme, *, title: list[str], word: str
) -> Spec:
    """tidy_tables.hidden_words_frame above the map of heads of the word that a click picks, above the curves.

    heads, curves: hidden_heads_frame and hidden_curves_frame. At first the leading word of A is picked; all in the browser.
    title: lines; word: the one that moves.
    """
    keys = {
        at: HiddenWord(*at, f'Through which heads "{word}" reads "{own["text"].iloc[0]}": {own["how"].iloc[0]}')
        for at, own in heads.groupby(["sentence", "place"])
    }
    rows = [
        row | {"heads": keys[at].heads if (at := (row["sentence"], row["place"])) in keys else ITSELF}
        for row in words.astype(object).where(words.notna(), None).to_dict("records")
    ]
    strip = word_strip(rows, theme, 620, pick=["sentence", "place", "heads"], maximum=DEEPEST, measure="share")
    around = {"x": field("x"), "x2": {"field": "x2"}, "y": field("y"), "y2": {"field": "y2"}}
    picked = [{"filter": {"param": "pick", "empty": False}}]
    ring = marks("rect", around, "words", picked, fillOpacity=0, stroke=theme.ink, strokeWidth=2, strokeDash=[4, 2])
    strip = {
        **strip,
        "layer": [*strip["layer"][:-1], ring, strip["layer"][-1]],
        "title": {"text": title[0], "subtitle": title[1:]},
    }
    most = float(heads["share"].abs().max()) or 1.0
    shared = {"kind": "effect", "title": "share of the way", "maximum": most}
    maps = {
        keys[at]: head_map(own[["layer", "head", "name", "share"]], "share", theme, "", **shared)
        for at, own in heads.groupby(["sentence", "place"])
    }
    colors = dict(zip(curves["curve"].unique(), (theme.ink, theme.effect[-1])))
    leading = next(words[words["leads"]].itertuples(), words[~words["chosen"]].iloc[0])
    first = keys[leading.sentence, leading.place]
    said = "isDefined(pick.heads) ? pick.heads : 'Click a word.'"
    return opened_by_a_click(strip, maps, first, said, drift_curve(curves, theme, colors))
