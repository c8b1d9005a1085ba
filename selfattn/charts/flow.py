"""Draw the sentences of the main view, with ribbons and streams.

A ribbon runs from a word to the chosen word; its width is the effect of hiding that word. Below, a line joins two senses (or two
sentences). Two streams run from the chosen word down to its two places on this line: before and after another word is hidden.
Browser version: dashboard/components/way_flow.js.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from selfattn.charts.labels import text_width
from selfattn.charts.moved_word import GAP, NARROW, TEXT, Placed, Scale, Shown, pads, percent, placed_words
from selfattn.charts.sheet import Point, Sheet
from selfattn.charts.theme import Theme

BESIDE, STACKED = (34, 20, 24), (24, 17, 22)  # letters in pixels: largest and smallest on one line; wrapped
LONG, LONG_TYPE = 24, 18  # words; letters of longer sentences, in pixels
INDENT, PAD = 32, 10  # pixels: space for A or B; padding of the chosen word
FLOW, BETWEEN = 64, 1.5  # pixels: ribbon width for an effect of 100 %; between ribbons
MARK, STREAM, THICK = 14, 17, 5  # pixels: mark radius; from the word's middle to a stream; stream width


@dataclass(frozen=True)
class Ribbon:
    """The ribbon from a word to the chosen word. end: x of the ribbon's end, relative to the chosen word's middle."""

    word: Placed
    width: float
    height: float
    end: float


@dataclass(frozen=True)
class Sentence:
    """A sentence, with the places of its words in the drawing."""

    side: int
    words: Sequence[Placed]
    size: float

    @property
    def chosen(self) -> Placed:
        return next(one for one in self.words if one.word["kind"] == "chosen")

    @property
    def flowing(self) -> list[Placed]:
        """Words with a positive `share` on the chosen word's line of text, the nearest to the chosen word first."""
        words = [one for one in self.words if one.line == self.chosen.line and (one.word["share"] or 0) > 0]
        words = [one for one in words if one.word["kind"] == "word"]
        return sorted(words, key=lambda one: abs(one.middle - self.chosen.middle))

    @property
    def total(self) -> float:
        return sum(one.word["share"] for one in self.flowing) + 0.01

    def ribbons(self, scale: float) -> list[Ribbon]:
        """Return one ribbon for each word in `flowing`. scale: ribbon width in pixels, per unit of `share`."""
        words, found = self.flowing, []
        for sign in (-1, 1):
            height, end = 16.0, sign * (self.total * scale + BETWEEN * len(words)) / 2
            for one in words:
                if (one.middle > self.chosen.middle) == (sign > 0):
                    width = one.word["share"] * scale
                    found.append(Ribbon(one, width, height + width / 2, end - sign * (width + BETWEEN) / 2))
                    height, end = height + width + 5, end - sign * (width + BETWEEN)
        return found


def sentences(
    sheet: Sheet, shown: Shown, y: float, width: float, sides: Sequence[int] = (0, 1), largest: float = BESIDE[0]
) -> tuple[float, dict[int, Point]]:
    """Draw the sentences. Return the y coordinate below them, and the point under each chosen word.

    No points are returned if the sentences are drawn one above the other. largest: largest letter size in pixels.
    """
    beside = width >= NARROW
    column = (width - GAP) / 2 if beside and len(sides) == 2 else width
    laid = _laid_out(shown, sides, column, (largest, *BESIDE[1:]) if beside else STACKED)
    scale = min(FLOW, *(0.9 * own.chosen.wide / own.total for own in laid))
    rises = [max((one.height + one.width / 2 + 9 for one in own.ribbons(scale)), default=0.0) for own in laid]
    bottom, starts, left = y, {}, 0.0
    for own, rise in zip(laid, rises):
        first = max(rises) if beside and own.chosen.line == 0 else 0.0 if own.chosen.line else rise
        end, start = _draw(sheet, shown, own, (left, y, column), (first, rise), scale)
        bottom = max(bottom, end)
        if beside:
            starts[own.side], left = start, left + column + GAP
        else:
            y = end
    return bottom, starts


def _laid_out(shown: Shown, sides: Iterable[int], width: float, sizes: Sequence[float]) -> list[Sentence]:
    """Place each sentence on one line, in the largest font size that fits. If no size fits, wrap the sentences.

    sizes: the largest and the smallest font size for one line, and the font size for wrapped sentences
    """
    (largest, smallest, wrapping), width = sizes, width - INDENT

    def laid(size: float) -> list[Sentence]:
        found = []
        for side in sides:
            words = shown.sides[side]["words"]
            longest = max(text_width(word["text"], size, bold=True) + 2 * PAD for word in words)
            own = LONG_TYPE if len(words) > LONG else size * min(1.0, width / longest)
            found.append(Sentence(side, placed_words(shown.sides[side], width, own, PAD), own))
        return found

    every = (laid(size) for size in range(int(largest), int(smallest) - 1, -1))
    return next((some for some in every if all(own.words[-1].line == 0 for own in some)), laid(wrapping))


def _draw(
    sheet: Sheet, shown: Shown, own: Sentence, box: tuple[float, float, float], room: tuple[float, float], scale: float
) -> tuple[float, Point]:
    """Draw a sentence. room: pixels above the first line of text, and above the chosen word's line."""
    side, size, (left, y, width), theme = shown.sides[own.side], own.size, box, sheet.theme
    right_to_left = side["dir"] == "rtl"
    numbered = {one.line for one in own.words if _number(shown, own.side, one)}
    bases: list[float] = []
    for line in range(own.words[-1].line + 1):
        rise = room[0] if line == 0 else room[1] if line == own.chosen.line else 0.0
        bases.append(y + rise + 1.05 * size)
        y = bases[-1] + 0.42 * size + (18 if line in numbered else 0)
    hue, x = theme.sentence(side["name"]), left + (width - 11 if right_to_left else 11)
    sheet.point(x, bases[0] - 0.3 * size, 11, hue)
    sheet.text(x, bases[0] - 0.3 * size + 4.5, side["name"], 12.5, theme.background, align="center", bold=True)
    left += 0 if right_to_left else INDENT
    middle, base = left + own.chosen.middle, bases[own.chosen.line]
    for one in own.ribbons(scale):
        _ribbon(sheet, shown, own.side, one, (left + one.word.middle, middle + one.end, base - size))
    for n, one in enumerate(own.words):
        _word(sheet, shown, own, n, left, bases[one.line])
    return y, (middle, base + 0.36 * size - 1)


def _ribbon(sheet: Sheet, shown: Shown, side: int, ribbon: Ribbon, place: tuple[float, float, float]) -> None:
    theme, word, (start, end, top) = sheet.theme, ribbon.word.word, place
    named = word["at"] in shown.sides[side]["named"]
    color = theme.effect[-1] if named else sheet.pale(theme.muted, 0.35)
    high = top - 1.34 * ribbon.height
    over = curve((start, top), (start, high), (end, high), (end, top))
    corners = band([(start, top + 2), *over, (end, top + 2)], max(ribbon.width, 0.6))
    opacity = 0.25 if word["at"] == shown.data["chosen"]["hidden"][side] else 1
    sheet.area(corners, color, opacity, what=f"ribbon {'AB'[side]}", value=word["share"])


def _number(shown: Shown, side: int, one: Placed) -> str:
    """Return the effect printed below a word, if any."""
    own, at, share = shown.sides[side], one.word["at"], one.word["share"]
    telling = own["named"] if own["named"] or shown.data["way"] else [own["leader"], *own["close"]]
    return "" if share is None or at not in telling or at == shown.hidden(side) else shown.printed(share)


def _word(sheet: Sheet, shown: Shown, own: Sentence, n: int, left: float, base: float) -> None:
    theme, side, one, size = sheet.theme, shown.sides[own.side], own.words[n], own.size
    word, x, named = one.word, left + one.x, one.word["at"] in side["named"]
    top, bottom, share = base - size, base + 0.36 * size, word["share"] or 0.0
    color = theme.ink if word["kind"] == "word" else theme.muted
    if word["kind"] == "chosen":
        hue, color = theme.sentence(side["name"]), theme.background
        sheet.rect(x, top, x + one.wide, bottom, hue, what="chosen")
    elif word["kind"] == "word":
        leads = not side["named"] and word["at"] in (side["leader"], *side["close"])
        grey = sheet.pale(theme.muted, 0.12) if leads else theme.background
        tint = sheet.pale(theme.effect[-2], min(0.9, 0.25 + 0.65 * share)) if named else grey
        said = f"{word['text']}: {percent(share)} of the way" if word["share"] is not None else word["text"]
        before, after = pads(own.words, n, side["dir"], 3)
        sheet.rect(
            x - before, top, x + one.wide + after, bottom, tint, opacity=1 if named or leads else 0.8,
            what="word" if named or leads else "", value=word["share"],
            said=f"{said}; {word['chance']}" if word.get("chance") else said,
        )  # fmt: skip
    sheet.text(left + one.middle, base, word["text"], size, color, align="center", bold=word["kind"] == "chosen")
    if word["at"] is not None and word["at"] == shown.data["chosen"]["hidden"][own.side]:
        sheet.rule(x - 2, base - 0.28 * size, x + one.wide + 2, base - 0.28 * size, color, 2)
    if number := _number(shown, own.side, one):
        hue = theme.effect[-1] if named else theme.muted
        sheet.text(left + one.middle, base + 0.36 * size + 14, number, TEXT, hue, align="center", bold=True)


# Streams: two bands from the chosen word to its places before and after a word is hidden


@dataclass(frozen=True)
class Move:
    """The move of a sentence's mark (a circle) if a word is hidden. start, end: in pixels."""

    side: int
    word: int | None
    share: float | None
    start: float
    end: float
    named: bool
    text: str  # printed effect
    by_visitor: bool  # True if the visitor hid the word
    crossed: bool  # True if the move leads to the other sense's half of the line

    def hue(self, theme: Theme, moved: bool = False) -> str:
        """Return the sentence's colour. For the place without the hidden word (`moved`): the other's, if `crossed`."""
        return theme.sentence("BA"[self.side] if moved and self.crossed else "AB"[self.side])

    @property
    def sign(self) -> int:
        return -1 if self.end < self.start else 1

    @property
    def length(self) -> float:
        """Arrow length in pixels; negative if `start` and `end` are too close for an arrow."""
        return abs(self.end - self.start) - MARK - 1

    @property
    def covered(self) -> bool:
        return self.share is None or self.length < 0

    @property
    def letters(self) -> float:
        """Font size of `text` in pixels, or 0 if the text doesn't fit on the arrow."""
        room = -1 if self.covered else self.length - MARK
        return next(
            (size for size in (42, 30, 23)[0 if self.named else 2 :] if text_width(self.text, size, True) < room), 0
        )


def move_of(shown: Shown, side: int, place: Scale) -> Move:
    """Return where hiding a word moves the chosen word of sentence A (side 0) or B (side 1)."""
    at, moved, here = shown.hidden(side), shown.moved(side), shown.data["way"]["at"][side]
    share = None if at is None else shown.share(side, at)
    named, way = at in shown.sides[side]["named"], shown.data["way"]
    apart = named and way["level"] is not None and way["toward"][0] != way["toward"][1]
    before, after = ((place if side == 0 else 1 - place) for place in (here, here if moved is None else moved))
    return Move(
        side, at, share, place(here), place(here if moved is None else moved), named,
        "" if share is None else shown.printed(share), share is not None and shown.data["chosen"]["hidden"][side] is not None,
        apart and before <= 0.5 < after,
    )  # fmt: skip


def streams(sheet: Sheet, move: Move, y: float, start: Point | None) -> None:
    """Draw two bands ("streams") to the chosen word's places before and after hiding, and an arrow between the places.

    y: the y coordinate of both places. start: the bands' upper end (None for short bands).
    """
    theme = sheet.theme
    hue, moved, teal = move.hue(theme), move.hue(theme, moved=True), theme.effect[-1]
    x, top = start or ((move.start + move.end) / 2, y - 64)
    left, right = (fall(x + out * move.sign * STREAM, top, end, y) for out, end in ((-1, move.start), (1, move.end)))
    if not move.covered:
        color, opacity = (theme.effect[-2], 0.5) if move.named else (theme.muted, 0.15)
        sheet.area([*left, *reversed(right)], color, opacity, what="between", value=move.share)
        pale = sheet.pale(hue if move.by_visitor else moved, 0.35)
        sheet.area(band(left if move.by_visitor else right, THICK), pale, what="stream")
    sheet.area(band(right if move.by_visitor else left, THICK), moved if move.by_visitor else hue, what="stream")
    if move.length > 18:
        color = teal if move.named else sheet.pale(theme.muted, 0.6)
        end, tip = (move.start + move.sign * length for length in (move.length - 16, move.length))
        shaft = [(move.start, y - 5), (end, y - 5), (end, y + 5), (move.start, y + 5)]
        sheet.area(shaft, color, what="arrow", value=move.share)
        back = tip - 18 * move.sign
        sheet.area([(tip, y), (back, y - 12), (back, y + 12)], color, what="head")
    if move.letters:
        middle, base = (move.start + move.end) / 2, y - MARK - 6
        color = teal if move.named else theme.muted
        sheet.text(middle, base, move.text, move.letters, color, align="center", bold=True)


def marks(sheet: Sheet, shown: Shown, move: Move, y: float) -> None:
    """Mark the place of `shown.data["word"]` on the figure's line, before and after `move.word` is hidden."""
    name, theme = "AB"[move.side], sheet.theme
    word = "" if move.word is None else shown.label(move.side, move.word)
    found = [(name, move.start, shown.data["way"]["at"][move.side], f"{name} with {word}" if word else name)]
    if not move.covered:
        found.append((f"{name} without {word}", move.end, shown.moved(move.side), f"{name} without {word}"))
    for what, x, value, said in found:
        hue, paper = move.hue(theme, moved=what != name), theme.background
        fill, stroke = (hue, paper) if (what == name) != (move.by_visitor and not move.covered) else (paper, hue)
        sheet.point(x, y, MARK - 1, fill, stroke=stroke, line=2, what=what, value=value, said=said)
        sheet.text(x, y + 5, name, 14, stroke, align="center", bold=True)


# Shapes


def curve(start: Point, first: Point, second: Point, end: Point, steps: int = 32) -> list[Point]:
    """Return points of a cubic Bézier curve."""
    parts = [step / steps for step in range(steps + 1)]
    weights = [((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3) for t in parts]
    ends = (start, first, second, end)
    return [(sum(w * x for w, (x, _) in zip(own, ends)), sum(w * y for w, (_, y) in zip(own, ends))) for own in weights]


def fall(x: float, y: float, to: float, bottom: float) -> list[Point]:
    """Return points of a curve that falls from (x, y) to (to, bottom)."""
    knee = bottom - MARK - 6
    return [*curve((x, y), (x, y + 0.6 * (knee - y)), (to, y + 0.35 * (knee - y)), (to, knee)), (to, bottom)]


def band(points: Sequence[Point], width: float) -> list[Point]:
    """Return the outline of a line, `width` pixels wide, through `points`."""
    turns = [math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in pairwise(points)]
    one, other = [], []
    for (x, y), before, after in zip(points, [turns[0], *turns], [*turns, turns[-1]]):
        turn = math.atan2(math.sin(before) + math.sin(after), math.cos(before) + math.cos(after))
        dx, dy = -math.sin(turn) * width / 2, math.cos(turn) * width / 2
        one.append((x + dx, y + dy))
        other.append((x - dx, y - dy))
    return [*one, *reversed(other)]
