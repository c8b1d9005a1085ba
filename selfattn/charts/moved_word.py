"""Read the data of the main view (component `way`), place the words of its sentences, and write its finding.

way.py and share.py draw these data (dashboard/components/way.schema.json), so they show the same numbers as the page.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from selfattn import numbers
from selfattn.charts.labels import text_width
from selfattn.charts.sheet import Align, Sheet
from selfattn.charts.theme import Theme

NARROW, GAP = 760, 48  # pixels: the least width for two columns; the gap between them
TEXT, SMALL = 13.5, 12  # pixels of letters
SHARES = 10_000  # the data have shares as integers, in units of 1/10,000
NBSP = "\u00a0"

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """The data of the main view, with values derived from them, such as which words are drawn as hidden."""

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

    def moved(self, side: int) -> float | None:
        """Return where on the line A or B lands without its hidden word (0 and 1: the line's ends); None if no word is hidden."""
        way, at = self.data["way"], self.hidden(side)
        share = None if at is None else self.share(side, at)
        return None if share is None else way["at"][side] + way["toward"][side] * share

    def printed(self, share: float) -> str:
        """Return a share as a percentage, with a decimal if it would otherwise look equal to the noise level."""
        level = (self.data["way"] or {}).get("level")
        same = level is not None and share < level and percent(share) == percent(level)
        return f"{numbers.decimal(100 * share, 1)}{NBSP}%" if same else percent(share)

    def end_color(self, theme: Theme, end: int) -> str:
        """Return the colour of an end of the line: of A or B, or grey if both are nearer to the same end."""
        toward = self.data["way"]["toward"]
        return theme.muted if toward[0] == toward[1] else theme.sentence("AB"[end])

    @cached_property
    def first(self) -> tuple[int, int] | None:
        """The word (side, index) whose heads are shown: the hidden word with the larger share, else such a leading word."""
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


# The finding


def finding(sheet: Sheet, shown: Shown, width: float, sizes: Sequence[float], most: int = 1) -> float:
    """Write the finding, with its words, senses and number in their colours. Return the y coordinate below.

    sizes: of its letters. The first for which it needs at most `most` lines is used, or the last. The lines have about equal
    lengths, and the name of a sense stays on one line.
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
    """Return the colours of the finding's words; no colours if the finding names no word."""
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


def placed_words(side: Data, width: float, size: float, pad: float = 0) -> list[Placed]:
    """Place a sentence's words in lines of at most `width` pixels, a right-to-left sentence from the right.

    pad: pixels to keep free on both sides of the chosen word, as a part of its width.
    """
    space, found, x, line = 0.36 * size, [], 0.0, 0
    for n, word in enumerate(side["words"]):
        chosen = word["kind"] == "chosen"
        wide = text_width(word["text"], size, chosen) + 2 * pad * chosen
        x += space if word["gap"] and x else 0.0
        glued = 0.0  # the width of the words that follow without a blank, which stay on the same line
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
    """Return the pixels by which a background reaches beyond a word, left and right: `pad` or, on a side without a blank, 1."""
    before = 1 if n and not words[n].word["gap"] else pad
    after = 1 if n + 1 < len(words) and not words[n + 1].word["gap"] else pad
    return (after, before) if direction == "rtl" else (before, after)


# The line


@dataclass(frozen=True)
class Scale:
    """A linear scale to pixels. On the line between two senses, 0 is the first sense and 1 the second."""

    low: float
    high: float
    left: float
    right: float

    def __call__(self, place: float) -> float:
        return self.left + (place - self.low) / (self.high - self.low) * (self.right - self.left)
