"""Which word brings a sense in: shares of sentences with their intervals beside guessing; sentences shaded word by word."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import itemgetter

import pandas as pd

from selfattn.charts.labels import label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.two_widths import Chip, Room, chip_places, in_any_window, letters, pixels, wrapped
from selfattn.charts.vega import Spec, calculate, either, field, layered, marks, nominal, records, scale
from selfattn.numbers import SHARE, change, share
from selfattn.senses.telling_words import ATTENTION, CHECKS, GUESS, PICKS, HiddenWordsReport

STEP, PLOT = 22, 190  # pixels: from one line to the next; of the scale: with its labels a narrow window holds it
WORD, SAID, CHIP, ROW = 15, 12, 26, 44  # pixels: of letters; of a chip; from one line of chips to the next
DEEPEST = 0.4  # the share of a way that has the deepest colour
TURN = {"light": 0.7, "dark": 0.5}  # of it: from here on the background's colour is the better read
WRITTEN = 0.05  # of a way: smaller shares stand in the tooltip only


def accuracy_list(report: HiddenWordsReport, theme: Theme) -> Spec:
    """How often the right sense is the nearer one: all words there, one hidden, one alone; dashed: guessing."""
    own = report.of().reset_index().rename(columns={"accuracy": "value"})
    groups = {"": own.iloc[:1].assign(label="all words")}
    for how, first in (("without", 1), ("with nothing but", 1 + len(PICKS))):
        labels = ("its most telling word", "any other word", "the most attended word", "the nearest word")
        groups[how] = own.iloc[first : first + len(PICKS)].assign(label=labels)
    low = min(0.4, math.floor(10 * own[["value", "low"]].min(axis=None)) / 10)
    return interval_list(groups, theme, ("guessing", GUESS), low=low, marked=labels[0])


def agreement_list(report: HiddenWordsReport, theme: Theme) -> Spec:
    """How often each way names the most telling word; dashed: a word drawn at random. What wasn't measured is left out."""
    known = report.agreement.rename(columns={"way": "label", "agreement": "value"}).dropna(subset="value")
    checks = known["label"].isin(report.agreement["way"].iloc[-CHECKS:])
    attention = known["label"].isin(ATTENTION)
    groups = {
        "by attention": known[attention].sort_values("value", ascending=False),
        "otherwise": known[~attention & ~checks].sort_values("value", ascending=False),
        "as a check of hiding": known[checks],
    }
    return interval_list({name: own for name, own in groups.items() if len(own)}, theme, ("at random", report.luck))


def interval_list(
    groups: Mapping[str, pd.DataFrame], theme: Theme, guess: tuple[str, float], *, low: float = 0.0, marked: str = ""
) -> Spec:
    """A dot a line with its 95 % interval and its number, in groups with a heading; dashed: what `guess` gives.

    groups: heading ("": none) -> label, value, low, high (0 to 1; NaN: no interval), in the order drawn. low: where the scale
    begins. marked: the label in colour.
    """
    parts = [[pd.DataFrame({"label": [name] * bool(name)}), own.assign(group=name)] for name, own in groups.items()]
    whole = pd.concat(itertools.chain(*parts), ignore_index=True)
    headings, lines = whole.index[whole["group"].isna()].tolist(), whole["label"].tolist()
    data = whole.assign(place=range(len(whole))).dropna(subset="group")
    ends = {"domain": [low, 1.0 + 0.22 * (1 - low)], "nice": False, "zero": False}
    ticks = {"values": [0.0, 0.5, 0.75, 1.0] if low else [0.0, 0.5, 1.0], "format": SHARE, "title": None}
    heading = f"indexof({headings}, datum.value) >= 0"
    look = {"labelColor": either(heading, theme.muted, theme.ink), "labelLimit": 160, "labelPadding": 4}
    scale_of_lines = {"domain": list(range(len(lines)))}
    place = {"y": field("place", "ordinal", axis=label_axis(lines, **look), scale=scale_of_lines)}
    color = either(f"datum.label === '{marked}'", theme.effect[-1], theme.muted)
    tooltip = [nominal("label"), *(field(name, format=".1%") for name in ("value", "low", "high"))]
    dot = {**place, "x": field("value", scale=ends, axis=ticks), "color": color, "tooltip": tooltip}
    whisker = {**place, "x": field("low"), "x2": {"field": "high"}, "color": color}
    number = {**place, "x": field("end"), "text": field("value", format=SHARE), "tooltip": tooltip}
    beyond = calculate(end="max(datum.value, isValid(datum.high) ? datum.high : 0)")
    named = {"x": field("guess"), "y": {"value": -4}, "text": nominal("name")}
    layers = [
        marks("rule", {"x": field("guess")}, "guess", strokeDash=[4, 3], color=theme.muted),
        marks("text", named, "guess", baseline="bottom", fontSize=11, color=theme.muted),
        marks("rule", whisker, strokeWidth=2),
        marks("point", dot, filled=True, size=36, opacity=1),
        marks("text", number, transform=beyond, align="left", dx=6, color=theme.ink),
    ]
    datasets = {"lines": data, "guess": [dict(zip(("name", "guess"), guess))]}
    return layered(layers, datasets, theme, PLOT, STEP * len(lines), data={"name": "lines"})


def shaded_sentences(frame: pd.DataFrame, theme: Theme, width: int | None = None, *, effect: str = "") -> Spec:
    """Sentences one above the other, what is said of each above it, each word shaded by its share; they follow the window.

    frame: a line a word, in order: sentence (its number), said, text, share (of the way; NaN: it has none), chosen. width: one
    room instead of the window's. effect: in the share's place the frame has an effect around 0, which is called so.
    """
    words, column = records(frame), "effect" if effect else "share"
    known = [abs(word[column]) for word in words if word[column] is not None]
    kind, deepest = "shares", DEEPEST
    write: Callable[[float], str] = lambda value: share(value) if abs(value) >= WRITTEN else ""  # noqa: E731
    if effect:
        kind, deepest = "effect", max(known, default=0.0) or 1.0
        write = partial(change, places=2 if deepest >= 1 else 3)
    for n, word in enumerate(words):
        value = word[column]
        shade = 0.0 if value is None else value if effect else max(0.0, value)
        word |= {"n": n, "shade": shade, "number": "" if value is None else write(value)}
    sentences = [list(own) for _, own in itertools.groupby(words, itemgetter("sentence"))]
    at, turn = "place.words[datum.n]", deepest * TURN[theme.name]
    chip = {
        **pixels(x=f"{at}[0]", y=f"{at}[1]", x2=f"{at}[0] + {at}[2]", y2=f"{at}[1] + {CHIP}"),
        "color": field("shade", scale=scale(theme, kind, deepest), legend=None),
        "stroke": either("datum.chosen", theme.ink, theme.grid), "strokeWidth": either("datum.chosen", 2, 1),
        "tooltip": [
            nominal("text", title="word"),
            field(column, title=effect or "share of the way", format="+.4f" if effect else ".1%"),
        ],
    }  # fmt: skip
    text = pixels(x=f"{at}[0] + {at}[2] / 2", y=f"{at}[1] + {CHIP / 2}", text="datum.text")
    ink = {"color": either(f"{'abs(datum.shade)' if effect else 'datum.shade'} > {turn}", theme.background, theme.ink)}
    number = pixels(x=f"{at}[3]", y=f"{at}[1] + {CHIP + 2}", text="datum.number")
    said = pixels(x="0", y="place.said[datum.n][0]", text="place.said[datum.n][1]")
    size = pixels(x="0", y="0", x2="place.size[0]", y2="place.size[1]")
    layers = [
        marks("rect", size, "sentences", opacity=0, aria=False),
        marks("rect", chip, "words", cornerRadius=5),
        marks("text", {**text, **ink}, "words", fontSize=WORD, baseline="middle", aria=False),
        marks("text", number, "words", fontSize=SAID, baseline="top", color=theme.muted, aria=False),
        marks("text", said, "sentences", fontSize=SAID, baseline="top", align="left", color=theme.muted),
    ]
    each = [{"n": n, "said": own[0]["said"]} for n, own in enumerate(sentences)]
    datasets = {"words": words, "sentences": each}
    return in_any_window(layers, datasets, theme, partial(_layout, sentences), width)


def _layout(sentences: Iterable[list[Spec]], room: Room) -> Spec:
    """Of each word what `chip_places` says; of each sentence how high its line stands, and that line."""
    y, words, said, width = 2.0, [], [], room.width
    for own in sentences:
        lines = wrapped(own[0]["said"], letters(width, SAID))
        said.append([y, lines])
        chips = [Chip(word["text"], word["number"]) for word in own]
        places, y = chip_places(chips, 0.0, y + 15 * len(lines) + 3, width, WORD, ROW)
        words += places
        y += 6
    return {"words": words, "said": said, "size": [width, y]}
