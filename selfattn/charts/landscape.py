"""Draw the line between two senses or sentences, with density curves (hills), dots, marks and arrows.

Browser version: dashboard/components/way_line.js.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from selfattn.charts.flow import MARK, Move, marks, move_of, short_of, streams
from selfattn.charts.labels import text_width
from selfattn.charts.moved_word import NBSP, SMALL, Data, Scale, Shown, wrapped
from selfattn.charts.sheet import Align, Point, Sheet

LABEL, NAME = 14, 19  # letters in pixels: under the marks; of names
SPACE, DOT = 10, 5.5  # pixels: between labels; dot radius
LONG_FALL, SHORT_FALL = 112, 72  # pixels from sentences to marks, with long or short streams
NEAR = 150  # pixels: nearer marks get separate rows
ROW, WIDE_ROW = 82, 94  # pixels between rows; with a number between B's streams
ONE, TWO = 90, 66  # pixels: hill height, with one or two rows of marks
CLEAR = 42  # pixels between marks and hills
EDGE = 74  # pixels for outer labels, without hills
BORDER = "equally near"
ALIGN: tuple[Align, Align] = ("left", "right")  # texts at the line's ends
Piece = tuple[str, float, str, bool]  # text, letter size, colour, bold


@dataclass(frozen=True)
class Label:
    """A text centred at x."""

    text: str
    x: float
    bold: bool
    color: str

    @property
    def wide(self) -> float:
        return text_width(self.text, LABEL, self.bold)


def scale_of(shown: Shown, left: float, right: float) -> Scale:
    """Return a scale that covers all positions on the line between the two senses or sentences."""
    way = shown.data["way"]
    every = [0.0, 1.0, *way["at"], *(dot["x"] for dots in way["dots"] for dot in dots)]
    every += [at for hill in way["hills"] for at, _ in hill]
    every += [moved for side in (0, 1) if (moved := shown.moved(side)) is not None]
    every += [at + toward * (way["level"] or 0) for at, toward in zip(way["at"], way["toward"])]
    return Scale(min(every), max(every), left, right)


def landscape(
    sheet: Sheet, shown: Shown, y: float, width: float, starts: Mapping[int, Point], sides: Sequence[int] = (0, 1),
    stretch: float = 1,
) -> float:  # fmt: skip
    """Draw the line between two senses or sentences, with marks for the chosen word. Return the y coordinate below the drawing.

    starts: for each sentence, the point from which two bands fall to its marks; empty for short bands.
    sides: the sentences that get marks (0: A, 1: B).
    stretch: factor for heights.
    """
    way, pad = shown.data["way"], 2 * MARK
    place = scale_of(shown, *((pad, width - pad) if any(way["hills"]) or not starts else (EDGE, width - EDGE)))
    moves = [move_of(shown, side, place) for side in sides]
    labels = [_labels(sheet, shown, move, bool(starts), width) for move in moves]
    apart = _apart(moves) and sum(label.wide + SPACE for own in labels for label in own) <= width
    rows = [y + stretch * LONG_FALL if starts else y + SHORT_FALL] * len(moves)
    if len(moves) > 1 and not apart:
        rows[1] = rows[0] + (WIDE_ROW if moves[1].letters else ROW)
    tall = stretch * (ONE if rows[0] == rows[-1] else TWO) if any(way["hills"]) else 0.0
    axis = rows[-1] + CLEAR + tall
    _land(sheet, shown, place, (axis, tall), width)
    for move, row in zip(moves, rows):
        streams(sheet, move, row, starts.get(move.side))
        if way["level"]:
            short_of(
                sheet, way["level"], move, row, place(way["at"][move.side] + way["toward"][move.side] * way["level"])
            )
        for x in {move.start, move.start if move.covered else move.end}:
            sheet.dotted(x, row + MARK + 26, axis, sheet.theme.sentence("AB"[move.side]))
    for move, row in zip(moves, rows):
        marks(sheet, shown, move, row)
    for row in dict.fromkeys(rows):
        _write(sheet, [label for own, at in zip(labels, rows) if at == row for label in own], row + MARK + 16, width)
    foot = _dots(sheet, shown, place, axis, width)
    below = _names(sheet, shown, place, (axis, foot + 2), width)
    return _scale_bar(sheet, shown, place(1) - place(0), below + 14, width)


def _apart(moves: Sequence[Move]) -> bool:
    """Return True if the moves are far enough apart to be drawn in one row."""
    (first, end), (second, last) = (sorted((move.start, move.end)) for move in (moves[0], moves[-1]))
    return end + NEAR < second or last + NEAR < first


# Labels


def _labels(sheet: Sheet, shown: Shown, move: Move, wide: bool, width: float) -> list[Label]:
    """Return the labels of a sentence's arrow: 'without "river"' and, if `wide`, 'with "river"'."""
    if move.word is None:
        return []
    ink, level, word = sheet.theme.ink, shown.data["way"]["level"] or 0.0, shown.label(move.side, move.word)
    doubt = ", could be chance" if move.share is not None and abs(move.share) < level else ""
    leading = move.share is not None and move.word == shown.sides[move.side]["leader"]
    inside = ": not run" if move.share is None else doubt if move.letters else f": {move.text}{doubt}"
    most = move.covered and not move.by_visitor and leading
    text = f"moves at most {move.text}{doubt}" if most else f"without {word}{inside}"
    strong = move.named and not move.letters
    beside = move.named or move.by_visitor
    x = move.end if beside else (move.start + move.end) / 2
    found = [Label(text, x, move.by_visitor or strong, sheet.theme.effect[-1] if strong else ink)]
    if wide and beside and not move.covered:
        found.append(Label(f"with {word}", move.start, not move.by_visitor, ink))
    return found if sum(label.wide + SPACE for label in found) <= width else found[:1]


def _write(sheet: Sheet, labels: Sequence[Label], y: float, width: float) -> None:
    """Write labels side by side between 0 and `width`."""
    labels, lefts, limit = sorted(labels, key=lambda label: label.x), [], 0.0
    for label in labels:
        lefts.append(max(label.x - label.wide / 2, limit))
        limit = lefts[-1] + label.wide + SPACE
    limit = width
    for label, left in reversed(list(zip(labels, lefts))):
        wide = min(label.wide, width)  # shrinks longer labels
        limit = max(0.0, min(left, limit - wide)) - SPACE
        left, size = limit + SPACE, LABEL * wide / label.wide
        sheet.rect(left - 3, y - LABEL, left + wide + 3, y + 4, sheet.theme.background, opacity=0.75)
        sheet.text(left + wide / 2, y, label.text, size, label.color, align="center", bold=label.bold)


# The line onto which the chosen word's vectors are projected


def _land(sheet: Sheet, shown: Shown, place: Scale, level: tuple[float, float], width: float) -> None:
    """Draw the axis and, above it, a density curve (hill) of each sense's labelled sentences."""
    way, theme, (axis, tall) = shown.data["way"], sheet.theme, level
    hues = [shown.end_color(theme, end) for end in (0, 1)]
    for end, (points, hue) in enumerate(zip(way["hills"], hues)):
        ridge = [(place(at), axis - tall * high) for at, high in points]
        if ridge:
            sheet.area([(ridge[0][0], axis), *ridge, (ridge[-1][0], axis)], hue, 0.35, what=f"hill {end}")
            sheet.path(ridge, hue, 2, what="hill")
    between, middle = way["between"] == "senses", place(0.5)
    for start, stop, hue in ((0.0, middle, hues[0]), (middle, width, hues[1])):
        sheet.rule(start, axis, stop, axis, hue if between else theme.muted, 3)
    if between:
        sheet.dotted(middle, axis - tall, axis + 6, theme.muted)


def _dots(sheet: Sheet, shown: Shown, place: Scale, axis: float, width: float) -> float:
    """Draw a dot for each sentence with a labelled sense. Return the y coordinate below the dots."""
    way = shown.data["way"]
    last: list[float] = []  # x of the last dot, by level
    dots = [(place(dot["x"]), end, dot) for end, dots in enumerate(way["dots"]) for dot in dots]
    for x, end, dot in sorted(dots, key=lambda one: one[0]):
        level = next((level for level, at in enumerate(last) if x - at >= 2 * DOT), len(last))
        last[level : level + 1] = [x]
        hue, y = sheet.pale(shown.end_color(sheet.theme, end), 0.65), axis + DOT + 5 + 2 * DOT * level
        sheet.point(x, y, DOT - 0.5, hue, what="dot", value=dot["x"], said=dot["text"])
    for end, own in enumerate(way["ends"] if way["between"] == "senses" else ()):
        text, align = f"nearer to {own['label']}", ALIGN[end]
        taken = [place(0.5), *(x for x, *_ in dots)]
        room = min(taken) if end == 0 else width - max(taken)
        if text_width(text, SMALL) + SPACE < room:
            sheet.text(end * width, axis + 19, text, SMALL, shown.end_color(sheet.theme, end), align=align)
    return axis + 14 + 2 * DOT * max(1, len(last))


def _names(sheet: Sheet, shown: Shown, place: Scale, heights: tuple[float, float], width: float) -> float:
    """Write the names of the positions 0 and 1 below the axis. Return the y coordinate below the names."""
    axis, y = heights
    names = [
        _name(sheet, end, shown.end_color(sheet.theme, n), 0.48 * width)
        for n, end in enumerate(shown.data["way"]["ends"])
    ]
    sizes = [max(map(_size, lines)) for lines in names]
    left, right = (place(end) - size / 2 for end, size in enumerate(sizes))
    over = max(0.0, left + sizes[0] + SPACE - right) / 2
    right = min(right + over, width - sizes[1])
    left = max(0.0, min(left - over, right - SPACE - sizes[0]))
    right = max(right, left + sizes[0] + SPACE)
    for lines, size, x in zip(names, sizes, (left, right)):
        middle = x + size / 2
        for n, line in enumerate(lines):
            at = middle - _size(line) / 2
            for text, letters, color, bold in line:
                sheet.text(at, y + 1.3 * NAME * n + NAME, text, letters, color, bold=bold)
                at += text_width(text, letters, bold) + 6
    border, half = place(0.5), text_width(BORDER, SMALL) / 2 + 12
    if shown.data["way"]["between"] == "senses" and left + sizes[0] < border - half and border + half < right:
        sheet.dotted(border, axis + 6, y + 4, sheet.theme.muted)
        sheet.text(border, y + NAME, BORDER, SMALL, sheet.theme.muted, align="center")
    return y + 1.3 * NAME * max(map(len, names))


def _scale_bar(sheet: Sheet, shown: Shown, length: float, y: float, width: float) -> float:
    """Draw a scale bar for the distance that counts as 100 %. Return the y coordinate below the bar."""
    muted, start = sheet.theme.muted, width - length
    what = "the averages" if shown.data["way"]["between"] == "senses" else "A and B"
    text = f"100{NBSP}%: the distance between {what}"
    if text_width(text, SMALL) < start - 8:
        sheet.text(start - 8, y + 4.5, text, SMALL, muted, align="right")
    else:
        y += 16
        sheet.text(width, y - 9, text, SMALL, muted, align="right")
    sheet.rule(start, y, width, y, muted)
    for n in range(11):
        x, high = width - n * length / 10, 2 if n % 5 else 4 if n % 10 else 6
        sheet.rule(x, y - high, x, y + high, muted)
    return y + 8


def _name(sheet: Sheet, end: Data, hue: str, width: float) -> list[list[Piece]]:
    """Return the text at one end of the drawn line: the end's name, and its number of labelled sentences."""
    lines = wrapped(end["label"], width, NAME, bold=True)
    letters = min(NAME, NAME * width / max(text_width(line, NAME, bold=True) for line in lines))
    ink = sheet.theme.ink if hue == sheet.theme.muted else hue
    found: list[list[Piece]] = [[(line, letters, ink, True)] for line in lines]
    if not end["count"]:
        return found
    count: list[Piece] = [
        ("●", SMALL, hue, False),
        (f"{end['count']} other sentences", SMALL, sheet.theme.muted, False),
    ]
    beside = [*found[:-1], [*found[-1], *count]]
    return beside if _size(beside[-1]) <= width else [*found, count]


def _size(line: Sequence[Piece]) -> float:
    """Return the width of a line of text in pixels."""
    return sum(text_width(text, letters, bold) + 6 for text, letters, _, bold in line) - 6
