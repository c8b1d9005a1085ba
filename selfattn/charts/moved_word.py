"""Read the main view's data (way.schema.json), place the sentences' words, and draw the finding as a headline."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from selfattn import numbers
from selfattn.charts.labels import text_width
from selfattn.charts.sheet import Align, Sheet
from selfattn.charts.theme import Theme

NARROW, GAP = 760, 48  # pixels: least width for two columns; gap between columns
TEXT, SMALL = 13.5, 12  # letters in pixels
SHARES = 10_000  # effects in the data are in 1/10,000
NBSP = "\u00a0"

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """The main view's data, with methods that read and format them."""

    data: Data

    @property
    def sides(self) -> Sequence[Data]:
        """Data of sentences A and B."""
        return self.data["sides"]

    def label(self, side: int, at: int) -> str:
        """Return the word at index `at`, quoted."""
        return f'"{next(word["text"] for word in self.sides[side]["words"] if word["at"] == at)}"'

    def share(self, side: int, at: int) -> float | None:
        """Return how far hiding the word at index `at` moves the chosen word.

        The move is along the figure's line, whose length is 1. The result is None if the word at `at` was never hidden.
        """
        return next(word["share"] for word in self.sides[side]["words"] if word["at"] == at)

    def hidden(self, side: int) -> int | None:
        """Return the index of the word that the visitor hides, or else of the word with the largest effect."""
        chosen = self.data["chosen"]["hidden"][side]
        return self.sides[side]["leader"] if chosen is None else chosen

    def moved(self, side: int) -> float | None:
        """Return the place of `data["word"]` on the line (ends: 0 and 1) while the word at index `hidden(side)` is hidden."""
        way, at = self.data["way"], self.hidden(side)
        share = None if at is None else self.share(side, at)
        return None if share is None else way["at"][side] + way["toward"][side] * share

    def printed(self, share: float) -> str:
        """Format an effect, with a decimal place if it would otherwise round up to the noise level."""
        level = (self.data["way"] or {}).get("level")
        same = level is not None and share < level and percent(share) == percent(level)
        return f"{numbers.decimal(100 * share, 1)}{NBSP}%" if same else percent(share)

    def end_color(self, theme: Theme, end: int) -> str:
        """Return the colour of an end of the line: its sentence's colour, or grey if A and B have the same sense."""
        toward = self.data["way"]["toward"]
        return theme.muted if toward[0] == toward[1] else theme.sentence("AB"[end])

    @property
    def leading(self) -> int:
        """The sentence (0: A, 1: B) that contains the word with the largest effect."""
        return max((0, 1), key=lambda side: _leading(self, side))

    @cached_property
    def first(self) -> tuple[int, int] | None:
        """Sentence (0: A, 1: B) and index of the hidden word that the map of heads is about."""
        chosen = [(side, at) for side, at in enumerate(self.data["chosen"]["hidden"]) if at is not None]
        leading = [(side, own["leader"]) for side, own in enumerate(self.sides) if own["leader"] is not None]
        return max(chosen or leading, key=lambda one: self.share(*one) or 0.0, default=None)

    @cached_property
    def answer(self) -> tuple[int, int] | None:
        """Sentence (0: A, 1: B) and index of the word that the finding names, if any."""
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
        """The effects of hiding the word `first` in one head at a time."""
        if self.first is None:
            return []
        side, at = self.first
        own = self.sides[side]
        return row(own["exact"].get(str(at)) or own["gradient"][at], SHARES)

    @property
    def exact(self) -> bool:
        """True if `cells` were measured, not estimated by gradient."""
        return self.first is not None and str(self.first[1]) in self.sides[self.first[0]]["exact"]


def row(text: str, parts: int) -> list[float | None]:
    """Parse integers and divide them by `parts`: with parts=100, "8,,-3" gives [0.08, None, -0.03]."""
    return [int(part) / parts if part else None for part in text.split(",")] if text else []


def wrapped(text: str, width: float, size: float, bold: bool = False) -> list[str]:
    """Split a text into lines of at most `width` pixels."""
    found = [""]
    for word in text.replace(" %", f"{NBSP}%").split(" "):
        longer = f"{found[-1]} {word}".strip()
        if found[-1] and text_width(longer, size, bold) > width:
            found.append(word)
        else:
            found[-1] = longer
    return found


def percent(share: float) -> str:
    """Format 0.44 as "44 %", with a no-break space."""
    return numbers.percent(share).replace(" ", NBSP)


# The finding


def finding(sheet: Sheet, shown: Shown, width: float, sizes: Sequence[float], most: int = 1) -> float:
    """Write the finding in colours. Return the y coordinate below it.

    sizes: letter sizes in pixels. The first size that needs at most `most` lines is used.
    """
    theme, inks, text = sheet.theme, _finding_inks(shown, sheet.theme), shown.data["finding"]
    for name in inks:
        text = text.replace(name.replace(NBSP, " "), name)
    size = next((size for size in sizes if len(wrapped(text, width, size, True)) <= most), sizes[-1])
    least = len(wrapped(text, width, size, bold=True))
    widths = (width * part / 20 for part in range(8, 21))
    lines = next(lines for own in widths if len(lines := wrapped(text, own, size, bold=True)) == least)
    known = "|".join([*map(re.escape, inks), rf"\d+{NBSP}%"]) if inks else "(?!)"
    for n, line in enumerate(lines):
        x, y = 0.0, (1.4 * n + 1) * size
        for unit in re.findall(f"{known}| |[^ ]+?(?={known}| |$)", line):
            wide, telling = text_width(unit, size, bold=True), inks.get(unit) == theme.effect[-2]
            if telling:
                sheet.rect(x - 2, y - size, x + wide + 2, y + 0.34 * size, sheet.pale(inks[unit], 0.55))
            color = inks.get(unit, theme.effect[-1] if re.fullmatch(known, unit) else theme.ink)
            place: tuple[float, Align] = (x + wide / 2, "center") if x else (x, "left")
            sheet.text(place[0], y, unit, size, theme.ink if telling else color, align=place[1], bold=True)
            x += wide
    return 1.4 * least * size


def _finding_inks(shown: Shown, theme: Theme) -> dict[str, str]:
    """Return the colours of the words to highlight in the finding."""
    way, side = (
        shown.data["way"],
        max((0, 1), key=lambda side: (bool(shown.sides[side]["named"]), _leading(shown, side))),
    )
    if way is None or not shown.sides[side]["named"]:
        return {}
    senses = {end["label"].replace(" ", NBSP): theme.sentence("AB"[n]) for n, end in enumerate(way["ends"])}
    word = {f'"{shown.data["word"]}"': theme.sentence("AB"[side])}
    return word | senses | {shown.label(side, shown.sides[side]["leader"]): theme.effect[-2]}


def _leading(shown: Shown, side: int) -> float:
    leader = shown.sides[side]["leader"]
    return -1.0 if leader is None else shown.share(side, leader) or 0.0


# Placing the sentences' words


@dataclass(frozen=True)
class Placed:
    """A word with its place in pixels."""

    word: Data
    line: int
    x: float
    wide: float

    @property
    def middle(self) -> float:
        return self.x + self.wide / 2


def placed_words(side: Data, width: float, size: float, pad: float = 0) -> list[Placed]:
    """Place words in lines of at most `width` pixels. pad: pixels left and right of the chosen word."""
    space, found, x, line = 0.36 * size, [], 0.0, 0
    for n, word in enumerate(side["words"]):
        chosen = word["kind"] == "chosen"
        wide = text_width(word["text"], size, chosen) + 2 * pad * chosen
        x += space if word["gap"] and x else 0.0
        glued = 0.0  # width of words joined without a blank
        for other in side["words"][n + 1 :]:
            if other["gap"]:
                break
            glued += text_width(other["text"], size) + 2 * pad * (other["kind"] == "chosen")
        if x and x + wide + glued > width and (word["gap"] or x + wide > width):
            x, line = 0.0, line + 1
        found.append(Placed(word, line, x, wide))
        x += wide
    if side["dir"] == "rtl":
        return [Placed(one.word, one.line, width - one.x - one.wide, one.wide) for one in found]
    return found


def pads(words: Sequence[Placed], n: int, direction: str, pad: float) -> tuple[float, float]:
    """Return how many pixels a word's box extends beyond the word, left and right."""
    before = 1 if n and not words[n].word["gap"] else pad
    after = 1 if n + 1 < len(words) and not words[n + 1].word["gap"] else pad
    return (after, before) if direction == "rtl" else (before, after)


@dataclass(frozen=True)
class Scale:
    """A linear scale from positions on the line between two vectors (ends: 0 and 1) to pixels."""

    low: float
    high: float
    left: float
    right: float

    def __call__(self, place: float) -> float:
        return self.left + (place - self.low) / (self.high - self.low) * (self.right - self.left)
