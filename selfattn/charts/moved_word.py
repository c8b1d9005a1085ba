"""Draw the parts of charts/way.py and charts/share.py: two sentences, and how far their word moves if another is hidden.

They draw the data of the component `way` (dashboard/components/way.schema.json), so they show the same numbers as the page.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from selfattn import numbers
from selfattn.charts.labels import text_width
from selfattn.charts.sheet import Align, Sheet

NARROW, GAP = 760, 48  # pixels: the least width for two columns; the gap between them
TEXT, SMALL = 13.5, 12  # pixels of letters
WORD, LONG_WORD = 25, 19  # pixels of letters: in short sentences, in long sentences
RADIUS, LABEL_RISE = 9.5, 17  # pixels: the radius of A's and B's dots; the height of their labels
HILL = 70  # pixels: the height of the higher of the two density curves (hills)
SHARES = 10_000  # the data have shares as integers, in units of 1/10,000
NBSP = "\u00a0"

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """The data of the main view, and what follows from these data, such as the hidden words."""

    data: Data

    @property
    def sides(self) -> Sequence[Data]:
        """The data of sentences A and B."""
        return self.data["sides"]

    def label(self, side: int, at: int) -> str:
        """Return the word at index `at` of a sentence, in quotation marks."""
        return f'"{next(word["text"] for word in self.sides[side]["words"] if word["at"] == at)}"'

    def share(self, side: int, at: int) -> float | None:
        """Return how far hiding the word at index `at` moves the chosen word; None if that word was not hidden."""
        return next(word["share"] for word in self.sides[side]["words"] if word["at"] == at)

    def hidden(self, side: int) -> int | None:
        """Return the word that is drawn as hidden: the visitor's choice, else the leading word (the largest share)."""
        chosen = self.data["chosen"]["hidden"][side]
        return self.sides[side]["leader"] if chosen is None else chosen

    @cached_property
    def first(self) -> tuple[int, int] | None:
        """The word (side, index) whose heads are shown: a hidden word, else the leading word with the larger share."""
        chosen = [(side, at) for side, at in enumerate(self.data["chosen"]["hidden"]) if at is not None]
        leading = [(side, own["leader"]) for side, own in enumerate(self.sides) if own["leader"] is not None]
        return max(chosen or leading, key=lambda one: self.share(*one) or 0.0, default=None)

    @cached_property
    def answer(self) -> tuple[int, int] | None:
        """The word (side, index) that the finding names; None without such a word, or if A and B are nearer to the same sense."""
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
        """The effect of hiding the word `first` in each head alone, head by head."""
        if self.first is None:
            return []
        side, at = self.first
        own = self.sides[side]
        return row(own["exact"].get(str(at)) or own["gradient"][at], SHARES)

    @property
    def exact(self) -> bool:
        """True if `cells` are exact; False if they are estimated by gradient."""
        return self.first is not None and str(self.first[1]) in self.sides[self.first[0]]["exact"]


def row(text: str, parts: int) -> list[float | None]:
    """Parse comma-separated integers and divide them by `parts`. An empty field becomes None."""
    return [int(part) / parts if part else None for part in text.split(",")] if text else []


def wrapped(text: str, width: float, size: float, bold: bool = False) -> list[str]:
    """Split a text into lines of at most `width` pixels. A longer word gets a line of its own."""
    found = [""]
    for word in text.replace(" %", f"{NBSP}%").split(" "):
        longer = f"{found[-1]} {word}".strip()
        if found[-1] and text_width(longer, size, bold) > width:
            found.append(word)
        else:
            found[-1] = longer
    return found


def percent(share: float) -> str:
    """Return a share as a percentage with a no-break space."""
    return numbers.percent(share).replace(" ", NBSP)


# The sentences


@dataclass(frozen=True)
class Placed:
    """A word of a sentence, with its place in the picture."""

    word: Data
    line: int
    x: float
    wide: float

    @property
    def middle(self) -> float:
        return self.x + self.wide / 2


def placed_words(side: Data, width: float, size: float) -> list[Placed]:
    """Place a sentence's words in lines of at most `width` pixels, a right-to-left sentence from the right."""
    space, found, x, line = 0.36 * size, [], 0.0, 0
    for n, word in enumerate(side["words"]):
        wide = text_width(word["text"], size, word["kind"] == "chosen")
        x += space if word["gap"] and x else 0.0
        glued = 0.0  # the width of the words that follow without a blank, which stay on the same line
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


def pads(words: Sequence[Placed], n: int, direction: str, pad: float) -> tuple[float, float]:
    """Return the pixels by which a background reaches beyond a word, left and right: `pad` or, on a side without a blank, 1."""
    before = 1 if n and not words[n].word["gap"] else pad
    after = 1 if n + 1 < len(words) and not words[n + 1].word["gap"] else pad
    return (after, before) if direction == "rtl" else (before, after)


def sentences(sheet: Sheet, shown: Shown, y: float, width: float) -> float:
    """Draw both sentences, side by side if each fits into two lines. Return the y beneath them."""
    half = (width - GAP) / 2
    beside = width >= NARROW and all(placed_words(side, half, WORD)[-1].line < 2 for side in shown.sides)
    size = WORD if beside or all(len(side["words"]) <= 16 for side in shown.sides) else LONG_WORD
    column = half if beside else width
    above = max(_arcs(side, column, size)[1] for side in shown.sides) if beside else 0.0
    bottom = sentence(sheet, shown, 0, 0, y, column, size, above)
    if beside:
        return max(bottom, sentence(sheet, shown, 1, column + GAP, y, column, size, above))
    return sentence(sheet, shown, 1, 0, bottom, column, size)


def _arcs(side: Data, width: float, size: float) -> tuple[dict[int, float], float]:
    """Return the heights of the arcs from the chosen word to named words, by `at`, and the room needed above the first line."""
    words = placed_words(side, width, size)
    chosen = next(one for one in words if one.word["kind"] == "chosen")
    own = [one for one in words if one.word["at"] in side["named"] and one.line == chosen.line and one.word["share"]]
    heights = {one.word["at"]: min(34.0, 14 + 0.09 * abs(one.middle - chosen.middle)) for one in own}
    return heights, 0.0 if chosen.line else max(heights.values(), default=0.0)


def sentence(
    sheet: Sheet, shown: Shown, at: int, left: float, y: float, width: float, size: float, above: float = 0.0
) -> float:
    """Draw one sentence. Underline the chosen word, and tint the others by their shares. Return the y beneath the sentence.

    above: pixels to keep free above the first line.
    """
    theme, side = sheet.theme, shown.sides[at]
    hue, teal = theme.sentence(side["name"]), theme.effect[-1]
    words, (heights, _) = placed_words(side, width, size), _arcs(side, width, size)
    chosen = next(one for one in words if one.word["kind"] == "chosen")
    shared = {*side["named"]} or {side["leader"], *side["close"]}
    with_number = {one.line for one in words if one.word["at"] is not None and one.word["at"] in shared}
    baselines, base = [], y
    for line in range(words[-1].line + 1):
        arcs = max(heights.values(), default=0.0) if line == chosen.line else 0.0
        baselines.append(base + 1.25 * size + max(arcs, 0.0 if line else above))
        base = baselines[-1] + (22 if line in with_number else 6)
    bottom = max(base, baselines[-1] + 22)
    for n, one in enumerate(words):
        word, base, x = one.word, baselines[one.line], left + one.x
        share, middle = word["share"], x + one.wide / 2
        if word["kind"] == "chosen":
            sheet.rule(x, base + 6, x + one.wide, base + 6, hue, 2.5)
            sheet.text(middle, base, word["text"], size, hue, align="center", bold=True)
            continue
        color = theme.muted if word["kind"] == "punctuation" else theme.ink
        sheet.text(middle, base, word["text"], size, color, align="center")
        is_named = word["at"] in side["named"]
        if word["at"] is not None and word["at"] == shown.data["chosen"]["hidden"][at]:
            sheet.rule(x - 2, base - 0.28 * size, x + one.wide + 2, base - 0.28 * size, color, 2)
        if share is None or word["at"] not in shared:
            continue
        tint = teal if is_named else theme.muted
        opacity = min(0.5, 0.12 + 0.8 * share) if is_named else 0.14
        said = f"{word['text']}: {percent(share)} of the way"
        before, after = pads(words, n, side["dir"], 5)
        sheet.rect(
            x - before, base - size, x + one.wide + after, base + 0.36 * size, tint, opacity=opacity, what="word",
            value=share, said=f"{said}; {word['chance']}" if word.get("chance") else said,
        )  # fmt: skip
        sheet.text(middle, base + 0.36 * size + 15, percent(share), TEXT, tint, align="center", bold=True)
        if word["at"] in heights:
            top = base - size - 3
            arc(sheet, left + chosen.middle, middle, top, heights[word["at"]], teal, 1.5 + 9 * share)
    return bottom


def arc(sheet: Sheet, x: float, x2: float, y: float, height: float, color: str, width: float) -> None:
    """Draw half an ellipse above y, from x to x2."""
    middle, radius = (x + x2) / 2, (x2 - x) / 2
    steps = [math.pi * step / 32 for step in range(33)]
    points = ((middle - radius * math.cos(angle), y - height * math.sin(angle)) for angle in steps)
    sheet.path(points, color, min(width, 8.0))


# The way: a line from one sense to the other, or from A to B


@dataclass(frozen=True)
class Scale:
    """A linear scale from places on the way (0 and 1 are its ends) to pixels."""

    low: float
    high: float
    left: float
    right: float

    def __call__(self, place: float) -> float:
        return self.left + (place - self.low) / (self.high - self.low) * (self.right - self.left)


def scale_of(shown: Shown, left: float, right: float) -> Scale:
    """Return a scale that holds the line's ends, all dots and hills, and A and B with and without their hidden words."""
    way = shown.data["way"]
    every = [0.0, 1.0, *way["at"], *(dot["x"] for dots in way["dots"] for dot in dots)]
    every += [at for hill in way["hills"] for at, _ in hill]
    every += [moved for side in (0, 1) if (moved := without(shown, side)) is not None]
    return Scale(min(every), max(every), left, right)


def without(shown: Shown, side: int) -> float | None:
    """Return the place of A or B on the way with a word hidden; None if no word is hidden."""
    way, at = shown.data["way"], shown.hidden(side)
    share = None if at is None else shown.share(side, at)
    return None if share is None else way["at"][side] + way["toward"][side] * share


def the_way(sheet: Sheet, shown: Shown, y: float, width: float) -> float:
    """Draw the way: its ends, labelled sentences, and A and B with and without a hidden word. Return the y beneath."""
    theme, data = sheet.theme, shown.data["way"]
    place = scale_of(shown, 76 if width >= NARROW else 24, width - (76 if width >= NARROW else 24))
    labels = [lane_labels(shown, side, place, width) for side in (0, 1)]
    (first, end), (second, last) = (_extent(shown, side, place, own) for side, own in enumerate(labels))
    apart = end + 16 < second or last + 16 < first
    rise = [max(own.y for own in lane) - LABEL_RISE for lane in labels]
    lanes = [y + 44 + (max(rise) if apart else rise[0])]
    lanes.append(lanes[0] if apart else lanes[0] + 46 + rise[1])
    base = lanes[1] + 36 + (HILL if any(data["hills"]) else 0)
    if data["between"] == "senses":
        _divider(sheet, data, place(0.5), y - 12, base, width)
    _ruler(sheet, data, (place(0), place(1)), y - 14)
    for side, points in enumerate(data["hills"]):
        ridge = [(place(at), base - HILL * high) for at, high in points]
        sheet.area(ridge, base, theme.sentence("AB"[side]), 0.16, what=f"hill {side}")
        sheet.path(ridge, theme.sentence("AB"[side]), 1, what="hill")
    for side in (0, 1):
        moving(sheet, shown, side, place, lanes[side], labels[side])
    for side, dots in enumerate(data["dots"]):
        for dot in dots:
            shade = theme.sentence("AB"[side])
            sheet.point(
                place(dot["x"]), base - 8, 5.5, shade, opacity=0.32, what="dot", value=dot["x"], said=dot["text"]
            )
    sheet.rule(0, base, width, base, theme.grid, 1.5)
    _names(sheet, data, place, base, width)
    lines = wrapped(" ".join(_key(shown)), width, SMALL)
    return sheet.lines(0, base + 38, lines, SMALL, theme.muted) - 12 if lines else base + 18


def _key(shown: Shown) -> list[str]:
    """Return the sentences that explain the dots and the grey bands."""
    data = shown.data["way"]
    counts = " and ".join(f"{end['count']} of {end['label']}" for end in data["ends"] if end["count"])
    dots = [f'Each dot: "{shown.data["word"]}" in another labelled sentence, {counts}.'] if counts else []
    return dots + ([f"Noise: moves under {percent(data['level'])} could be chance."] if data["level"] else [])


@dataclass(frozen=True)
class Label:
    """A text above a lane. x: its left end; y: its height above the lane."""

    text: str
    x: float
    wide: float
    y: float
    bold: bool = False

    def meets(self, other: "Label") -> bool:
        """Return True if two labels overlap or nearly touch (less than 8 pixels apart)."""
        return self.x < other.x + other.wide + 8 and other.x < self.x + self.wide + 8


def lane_labels(shown: Shown, side: int, place: Scale, width: float) -> list[Label]:
    """Return the labels of A's or B's lane, "as it is" and "without WORD". If they would overlap, the second label is higher."""
    here, moved = place(shown.data["way"]["at"][side]), without(shown, side)
    forward = moved is None or place(moved) >= here
    wide = text_width("as it is", SMALL)
    left = max(0.0, min(here + 8 - wide if forward else here - 8, width - wide))
    found = [Label("as it is", left, wide, LABEL_RISE)]
    if moved is not None:
        text, there = f"without {_hidden(shown, side)}", place(moved)
        wide = text_width(text, SMALL, True)
        left = max(0.0, min(there - 8 if forward else there + 8 - wide, width - wide))
        beside = Label(text, left, wide, LABEL_RISE, bold=True)
        found.append(replace(beside, y=LABEL_RISE + 15) if beside.meets(found[0]) else beside)
    return found


def _extent(shown: Shown, side: int, place: Scale, labels: Sequence[Label]) -> tuple[float, float]:
    """Return the x of the left and right ends of A's or B's lane, labels included."""
    way, level = shown.data["way"], shown.data["way"]["level"] or 0.0
    places = [place(way["at"][side]), place(way["at"][side] + way["toward"][side] * level)]
    if (moved := without(shown, side)) is not None:
        places.append(place(moved))
    return min(*places, *(own.x for own in labels)) - 10, max(*places, *(own.x + own.wide for own in labels)) + 10


def _hidden(shown: Shown, side: int) -> str:
    at = shown.hidden(side)
    return "" if at is None else shown.label(side, at)


def moving(sheet: Sheet, shown: Shown, side: int, place: Scale, y: float, labels: Sequence[Label]) -> None:
    """Draw A or B on its lane: a dot as it is, a dot with a word hidden, an arrow between the two, and the noise level."""
    theme, data, own = sheet.theme, shown.data["way"], shown.sides[side]
    hue, at, moved = theme.sentence(own["name"]), data["at"][side], without(shown, side)
    here, color = place(at), theme.effect[-1] if shown.hidden(side) in own["named"] else theme.muted
    if data["level"]:
        band = sorted((here, place(at + data["toward"][side] * data["level"])))
        sheet.rect(band[0], y - 9, band[1], y + 9, theme.muted, opacity=0.16, what="noise", value=data["level"])
    for label in labels:
        sheet.text(label.x, y - label.y, label.text, SMALL, color if label.bold else theme.muted, bold=label.bold)
    if moved is not None:
        there, said = place(moved), f"{own['name']} without {_hidden(shown, side)}"
        forward = 1 if there >= here else -1
        tip = there - forward * (RADIUS + 2)
        if (tip - here) * forward > RADIUS + 4:
            sheet.rule(here, y, tip - forward * 5, y, color, 4)
            sheet.point(tip - forward * 3, y, 6.5, color, shape="triangle-right" if forward > 0 else "triangle-left")
        sheet.point(there, y, RADIUS - 1, theme.background, stroke=hue, line=2.5, what=said, value=moved, said=said)
        sheet.text(there, y + 4, own["name"], 11, hue, align="center", bold=True)
    sheet.point(here, y, RADIUS, hue, what=own["name"], value=at, said=f"{own['name']} as it is")
    sheet.text(here, y + 4, own["name"], 11, theme.background, align="center", bold=True)


def _divider(sheet: Sheet, data: Data, x: float, y: float, base: float, width: float) -> None:
    """Draw the line halfway between the senses, with the longest labels that fit on each side."""
    sheet.rule(x, y + 8, x, base, sheet.theme.grid, 1.5)
    first, second = (end["label"] for end in data["ends"])
    texts = [[f"← nearer to {first}", f"← {first}", "←"], [f"nearer to {second} →", f"{second} →", "→"]]
    for room, own in zip((x - 8, width - x - 8), texts):
        text = next((text for text in own if text_width(text, SMALL) <= room), "")
        align: Align = "right" if own is texts[0] else "left"
        sheet.text(x + (-8 if own is texts[0] else 8), y + 20, text, SMALL - 0.5, sheet.theme.muted, align=align)


def _ruler(sheet: Sheet, data: Data, ends: tuple[float, float], y: float) -> None:
    """Draw a bracket from 0 to 1 on the way, with the longest text that fits into it. ends: the bracket's ends."""
    left, right = ends
    between = "from one sense's average to the other's" if data["between"] == "senses" else "from A to B, as they are"
    whole = f"100{NBSP}%"
    text = next((each for each in (f"{whole}: {between}", whole) if text_width(each, SMALL) < right - left - 30), "")
    half = text_width(text, SMALL) / 2 + 6
    for start, stop in ((left, (left + right) / 2 - half), ((left + right) / 2 + half, right)):
        sheet.rule(start, y, stop, y, sheet.theme.muted)
    for end in ends:
        sheet.rule(end, y - 5, end, y + 5, sheet.theme.muted)
    sheet.text((left + right) / 2, y + 4, text, SMALL, sheet.theme.muted, align="center")


def _names(sheet: Sheet, data: Data, place: Scale, base: float, width: float) -> None:
    """Write the name of each end above its hill, or below the line if there is no hill."""
    for side, (points, end) in enumerate(zip(data["hills"], data["ends"])):
        at, high = max(points, key=lambda point: point[1], default=(side, None))
        half = text_width(end["label"], TEXT, True) / 2
        middle = max(half, min(place(at), width - half))
        y = base + 18 if high is None else base - HILL * high - 8
        sheet.text(middle, y, end["label"], TEXT, sheet.theme.sentence("AB"[side]), align="center", bold=True)
