"""Two sentences, and the way that their word moves when another is hidden: the parts of charts/way.py and charts/share.py.

Drawn from the data of the component `way` (dashboard/components/way.schema.json), so that both show the same numbers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from selfattn import numbers
from selfattn.charts.labels import text_width
from selfattn.charts.sheet import Align, Sheet

NARROW, GAP = 760, 48  # pixels: less than this is one column; between two columns
TEXT, SMALL = 13.5, 12  # pixels of letters
WORD, LONG_WORD = 25, 19  # of the sentences, short and long
SHARES = 10_000  # a share in a row is a whole number of these parts
NBSP = "\u00a0"

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """The data of the main view, and what follows from them at first: whose heads and which head are shown."""

    data: Data

    @property
    def sides(self) -> Sequence[Data]:
        """A and B."""
        return self.data["sides"]

    def label(self, side: int, at: int) -> str:
        """An other word of a sentence, quoted."""
        return f'"{next(word["text"] for word in self.sides[side]["words"] if word["at"] == at)}"'

    def share(self, side: int, at: int) -> float | None:
        """How far hiding an other word moves the chosen one; None where it was not run."""
        return next(word["share"] for word in self.sides[side]["words"] if word["at"] == at)

    def hidden(self, side: int) -> int | None:
        """The word that the way shows hidden: the chosen one, else the leading one."""
        chosen = self.data["chosen"]["hidden"][side]
        return self.sides[side]["leader"] if chosen is None else chosen

    @cached_property
    def first(self) -> tuple[int, int] | None:
        """The word (side, number) whose heads are shown: a hidden one, else the leading one of the larger share."""
        chosen = [(side, at) for side, at in enumerate(self.data["chosen"]["hidden"]) if at is not None]
        leading = [(side, own["leader"]) for side, own in enumerate(self.sides) if own["leader"] is not None]
        return max(chosen or leading, key=lambda one: self.share(*one) or 0.0, default=None)

    @cached_property
    def answer(self) -> tuple[int, int] | None:
        """The word (side, number) that the finding names: none where both sentences lie nearer to one sense."""
        way = self.data["way"]
        if way is None or (way["between"] == "senses" and (way["at"][0] < 0.5) == (way["at"][1] < 0.5)):
            return None
        measured = way["between"] == "sentences" or way["level"] is not None
        may = [own["named"] if measured else [own["leader"]] for own in self.sides]
        leading = [(side, own["leader"]) for side, own in enumerate(self.sides) if own["leader"] in may[side]]
        return max(
            (one for one in leading if one[1] is not None), key=lambda one: self.share(*one) or 0.0, default=None
        )

    @cached_property
    def cells(self) -> list[float | None]:
        """The share of that word in each head alone, layer by layer."""
        if self.first is None:
            return []
        side, at = self.first
        own = self.sides[side]
        return row(own["exact"].get(str(at)) or own["gradient"][at], SHARES)

    @property
    def exact(self) -> bool:
        """Whether each head was run."""
        return self.first is not None and str(self.first[1]) in self.sides[self.first[0]]["exact"]


def row(text: str, parts: int) -> list[float | None]:
    """The numbers of a row of whole parts; None where one is not known."""
    return [int(part) / parts if part else None for part in text.split(",")] if text else []


def wrapped(text: str, width: float, size: float, bold: bool = False) -> list[str]:
    """A text in lines of at most so many pixels; a word that is longer has a line of its own."""
    found = [""]
    for word in text.replace(" %", f"{NBSP}%").split(" "):
        longer = f"{found[-1]} {word}".strip()
        if found[-1] and text_width(longer, size, bold) > width:
            found.append(word)
        else:
            found[-1] = longer
    return found


def percent(share: float) -> str:
    """A share that no line break parts."""
    return numbers.percent(share).replace(" ", NBSP)


# The sentences


@dataclass(frozen=True)
class Placed:
    """A word of a sentence where it is drawn."""

    word: Data
    line: int
    x: float
    wide: float

    @property
    def middle(self) -> float:
        return self.x + self.wide / 2


def placed_words(side: Data, width: float, size: float) -> list[Placed]:
    """The words of a sentence in lines of at most `width` pixels, from the right where it is read so."""
    space, found, x, line = 0.36 * size, [], 0.0, 0
    for n, word in enumerate(side["words"]):
        wide = text_width(word["text"], size, word["kind"] == "chosen")
        x += space if word["gap"] and x else 0.0
        glued = 0.0  # what follows without a blank stays on the line
        for other in side["words"][n + 1 :]:
            if other["gap"]:
                break
            glued += text_width(other["text"], size)
        if x and x + wide + glued > width and (word["gap"] or x + wide > width):
            x, line = 0.0, line + 1
        found.append(Placed(word, line, x, wide))
        x += wide
    if side["dir"] == "rtl":
        return [Placed(one.word, one.line, width - one.x - one.wide, one.wide) for one in found]
    return found


def sentences(sheet: Sheet, shown: Shown, y: float, width: float) -> float:
    """Both sentences, beside each other where each takes two lines at most; returns the y beneath them."""
    half = (width - GAP) / 2
    beside = width >= NARROW and all(placed_words(side, half, WORD)[-1].line < 2 for side in shown.sides)
    size = WORD if beside or all(len(side["words"]) <= 16 for side in shown.sides) else LONG_WORD
    column = half if beside else width
    ends = []
    for at in (0, 1):
        left, top = (at * (column + GAP), y) if beside or not at else (0.0, ends[0])
        ends.append(sentence(sheet, shown, at, left, top, column, size))
    return max(ends)


def sentence(sheet: Sheet, shown: Shown, at: int, left: float, y: float, width: float, size: float) -> float:
    """One sentence: the chosen word underlined, others tinted by their share; returns the y beneath it."""
    theme, side = sheet.theme, shown.sides[at]
    hue, teal = theme.sentence(side["name"]), theme.effect[-1]
    words = placed_words(side, width, size)
    chosen = next(one for one in words if one.word["kind"] == "chosen")
    named, leader = side["named"], side["leader"]
    arched = [one for one in words if one.word["at"] in named and one.line == chosen.line and one.word["share"]]
    room = {line: 1.25 * size + 22 for line in range(words[-1].line + 1)}
    height = {id(one): min(34.0, 14 + 0.09 * abs(one.middle - chosen.middle)) for one in arched}
    room[chosen.line] += max(height.values(), default=0.0) if arched else 0.0
    baselines, base = {}, y
    for line, needed in room.items():
        base += needed
        baselines[line] = base - 22
    for one in words:
        word, base, x = one.word, baselines[one.line], left + one.x
        share, middle = word["share"], x + one.wide / 2
        if word["kind"] == "chosen":
            sheet.rule(x, base + 6, x + one.wide, base + 6, hue, 2.5)
            sheet.text(middle, base, word["text"], size, hue, align="center", bold=True)
            continue
        color = theme.muted if word["kind"] == "punctuation" else theme.ink
        sheet.text(middle, base, word["text"], size, color, align="center")
        is_named = word["at"] in named
        if word["at"] is not None and word["at"] == shown.data["chosen"]["hidden"][at]:
            sheet.rule(x - 2, base - 0.28 * size, x + one.wide + 2, base - 0.28 * size, color, 2)
        if share is None or not (is_named or (word["at"] == leader and not named)):
            continue
        tint = teal if is_named else theme.muted
        opacity = min(0.5, 0.12 + 0.8 * share) if is_named else 0.12
        said = f"{word['text']}: {percent(share)} of the way"
        sheet.rect(
            x - 5, base - size, x + one.wide + 5, base + 0.36 * size, tint, opacity=opacity, what="word", value=share,
            said=f"{said}; {word['chance']}" if word.get("chance") else said,
        )  # fmt: skip
        sheet.text(middle, base + 0.36 * size + 15, percent(share), TEXT, tint, align="center", bold=True)
    for one in arched:
        top = baselines[one.line] - size - 3
        arc(sheet, left + chosen.middle, left + one.middle, top, height[id(one)], teal, 1.5 + 9 * one.word["share"])
    return y + sum(room.values())


def arc(sheet: Sheet, x: float, x2: float, y: float, height: float, color: str, width: float) -> None:
    """Half an ellipse above y, from one x to another."""
    middle, radius = (x + x2) / 2, (x2 - x) / 2
    steps = [math.pi * step / 32 for step in range(33)]
    points = ((middle - radius * math.cos(angle), y - height * math.sin(angle)) for angle in steps)
    sheet.path(points, color, min(width, 8.0))


# The way


@dataclass(frozen=True)
class Scale:
    """Places on the line as pixels."""

    low: float
    high: float
    left: float
    right: float

    def __call__(self, place: float) -> float:
        return self.left + (place - self.low) / (self.high - self.low) * (self.right - self.left)


def scale_of(shown: Shown, left: float, right: float) -> Scale:
    """A scale that holds both ends, every dot, and A and B with and without their hidden words."""
    way = shown.data["way"]
    every = [0.0, 1.0, *way["at"], *(dot["x"] for dots in way["dots"] for dot in dots)]
    every += [moved for side in (0, 1) if (moved := without(shown, side)) is not None]
    return Scale(min(every), max(every), left, right)


def without(shown: Shown, side: int) -> float | None:
    """The place of A or B with its word hidden; None where no word is."""
    way, at = shown.data["way"], shown.hidden(side)
    share = None if at is None else shown.share(side, at)
    return None if share is None else way["at"][side] + way["toward"][side] * share


def the_way(sheet: Sheet, shown: Shown, y: float, width: float) -> float:
    """The line between the ends: labelled sentences, A and B as they are and with a word hidden; returns the y beneath it."""
    theme, data = sheet.theme, shown.data["way"]
    place = scale_of(shown, 76, width - 76)
    spans = [_extent(shown, side, place) for side in (0, 1)]
    apart = spans[0][1] + 16 < spans[1][0] or spans[1][1] + 16 < spans[0][0]
    lanes = [y + 24, y + 24 if apart else y + 70]
    base = max(lanes) + 36
    if data["between"] == "senses":
        _divider(sheet, data, place(0.5), y - 12, base)
    for side in (0, 1):
        moving(sheet, shown, side, place, lanes[side])
    for side, dots in enumerate(data["dots"]):
        for dot in dots:
            shade = theme.sentence("AB"[side])
            sheet.point(
                place(dot["x"]), base - 8, 5.5, shade, opacity=0.32, what="dot", value=dot["x"], said=dot["text"]
            )
    sheet.rule(0, base, width, base, theme.grid, 1.5)
    return ends(sheet, data, place, base) + (_about_noise(sheet, data, base + 62, width) if data["level"] else 0)


def _extent(shown: Shown, side: int, place: Scale) -> tuple[float, float]:
    """The pixels that A or B take with their labels."""
    here, there = place(shown.data["way"]["at"][side]), without(shown, side)
    end = here if there is None else place(there)
    label = 16.0 if there is None else 8 + text_width(f"without {_hidden(shown, side)}", SMALL, True)
    own = text_width("as it is", SMALL)
    return (here - own, max(here, end + label)) if end >= here else (min(here, end - label), here + own)


def _hidden(shown: Shown, side: int) -> str:
    at = shown.hidden(side)
    return "" if at is None else shown.label(side, at)


def moving(sheet: Sheet, shown: Shown, side: int, place: Scale, y: float, radius: float = 9.5) -> None:
    """A or B on its lane: where it is, where it goes with a word hidden, an arrow between, and the noise level beside it."""
    theme, data, own = sheet.theme, shown.data["way"], shown.sides[side]
    hue, at, moved = theme.sentence(own["name"]), data["at"][side], without(shown, side)
    here, named = place(at), shown.hidden(side) in own["named"]
    if data["level"]:
        band = sorted((here, place(at + data["toward"][side] * data["level"])))
        sheet.rect(band[0], y - 9, band[1], y + 9, theme.muted, opacity=0.16, what="noise", value=data["level"])
    forward = 1 if moved is None or place(moved) >= here else -1
    sides: tuple[Align, Align] = ("right", "left") if forward > 0 else ("left", "right")
    back, ahead = sides
    sheet.text(here + 8 * forward, y - 17, "as it is", SMALL, theme.muted, align=back)
    if moved is not None:
        there, color = place(moved), theme.effect[-1] if named else theme.muted
        tip = there - forward * (radius + 2)
        if (tip - here) * forward > radius + 4:
            sheet.rule(here, y, tip - forward * 5, y, color, 4 if named else 2.5)
            shape = "triangle-right" if forward > 0 else "triangle-left"
            sheet.point(tip - forward * 3, y, 6.5, color, shape=shape)
        said, start = f"{own['name']} without {_hidden(shown, side)}", max(14.0, (there - here) * forward - 8)
        sheet.text(here + forward * start, y - 17, said[2:], SMALL, color, align=ahead, bold=True)
        sheet.point(there, y, radius - 1, theme.background, stroke=hue, line=2.5, what=said, value=moved, said=said)
        sheet.text(there, y + 4, own["name"], 11, hue, align="center", bold=True)
    sheet.point(here, y, radius, hue, what=own["name"], value=at, said=f"{own['name']} as it is")
    sheet.text(here, y + 4, own["name"], 11, theme.background, align="center", bold=True)


def _divider(sheet: Sheet, data: Data, x: float, y: float, base: float) -> None:
    """Where one sense's mean becomes the nearer one."""
    first, second = (end["label"] for end in data["ends"])
    sheet.rule(x, y - 10, x, base, sheet.theme.grid, 1.5)
    sheet.text(x - 8, y, f"← nearer to {first}", SMALL - 0.5, sheet.theme.muted, align="right")
    sheet.text(x + 8, y, f"nearer to {second} →", SMALL - 0.5, sheet.theme.muted)


def ends(sheet: Sheet, data: Data, place: Scale, base: float, size: float = TEXT) -> float:
    """What 0 and 1 are, and the bracket between them; returns the y beneath."""
    theme, y = sheet.theme, base + 16
    left, right = place(0), place(1)
    for side, (x, end) in enumerate(zip((left, right), data["ends"])):
        hue = theme.sentence("AB"[side])
        sheet.rule(x, base - 4, x, y, theme.muted, 1.5)
        sheet.text(x, y + 4 + size, end["label"], size, hue, align="center", bold=True)
        if end["count"]:
            count = f"mean of {end['count']} other sentences, a dot each"
            sheet.text(x, y + 21 + size, count, SMALL - 0.5, theme.muted, align="center")
    middle, half = (left + right) / 2, text_width(f"100{NBSP}%", SMALL) / 2 + 6
    sheet.rule(left, y, middle - half, y, theme.muted)
    sheet.rule(middle + half, y, right, y, theme.muted)
    sheet.text(middle, y + 4, f"100{NBSP}%", SMALL, theme.muted, align="center")
    return y + 21 + size


def _about_noise(sheet: Sheet, data: Data, y: float, width: float) -> float:
    said = (
        f"Grey band: noise level, {percent(data['level'])}. Moves this long or longer go the wrong way at most once for eight "
        "times toward."
    )
    lines = wrapped(said, width, SMALL)
    return sheet.lines(0, y + 8, lines, SMALL, sheet.theme.muted) - y + 6
