"""Draw a word's vectors as points on a line; arrows show how hiding words moves them.

The line's ends are the mean vectors of two senses, or the word's vectors in sentences A and B.
Browser version: dashboard/components/way_line.js.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from selfattn.charts.flow import MARK, Move, marks, move_of, streams
from selfattn.charts.labels import text_width
from selfattn.charts.moved_word import SMALL, Data, Scale, Shown, percent, wrapped
from selfattn.charts.sheet import Point, Sheet

LABEL, NAME = 14, 19  # letters in pixels: under the marks; of names
SPACE, DOT = 10, 5.5  # pixels: between labels; dot radius
LONG_FALL, SHORT_FALL = 98, 72  # pixels from sentences to marks, with long or short streams
NEAR = 160  # pixels: nearer marks get separate rows
FAR = 400  # pixels: if sentences' marks are nearer, only one ruler has a label
ROW, WIDE_ROW = 82, 94  # pixels between rows of marks; with a number in the lower row
CLEAR = 58  # pixels between marks and dots
RULER, PLAIN, LABELLED = 44, 10, 26  # pixels: from marks to a ruler; what a ruler adds to a row's height
END = 15  # pixels: half the height of the line's ends
EDGE = 74  # pixels for outer labels
KEYS, TWO_DOTS = 26, 22  # pixels: between the texts of the legend; two dots before a text
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
    every += [moved for side in (0, 1) if (moved := shown.moved(side)) is not None]
    return Scale(min(every), max(every), left, right)


def landscape(
    sheet: Sheet, shown: Shown, y: float, width: float, starts: Mapping[int, Point], sides: Sequence[int] = (0, 1),
    stretch: float = 1,
) -> float:  # fmt: skip
    """Draw the line between two senses or sentences, with marks for the chosen word. Return the y coordinate below the drawing.

    starts: for each sentence, the point where the coloured bands to its marks begin. If `starts` is empty, the bands are short.
    sides: the sentences that get marks (0: A, 1: B).
    stretch: factor for heights.
    """
    pad = EDGE if starts else 2 * MARK
    place = scale_of(shown, pad, width - pad)
    moves = [move_of(shown, side, place) for side in sides]
    labels = [_labels(sheet, shown, move, bool(starts), width) for move in moves]
    apart = _apart(moves) and sum(label.wide + SPACE for own in labels for label in own) <= width
    rows = [y + stretch * LONG_FALL if starts else y + SHORT_FALL] * len(moves)
    plain, labelled = (PLAIN, LABELLED) if shown.data["way"]["level"] is not None else (0, 0)
    if len(moves) > 1 and not apart:
        lower = 1 - shown.leading
        rows[lower] += plain + (WIDE_ROW if moves[lower].letters else ROW)
    dots = swarm(shown, place)
    far = rows[-1] == rows[0] and abs(moves[-1].start - moves[0].start) > FAR
    rulers = labelled if rows[-1] == rows[0] else plain  # the lower row has no label
    axis = max(rows) + stretch * CLEAR + rulers + 2 * DOT * max((level + 1 for *_, level in dots), default=0)
    for move, row in zip(moves, rows):
        streams(sheet, move, row, starts.get(move.side))
        for x in {move.start, move.start if move.covered else move.end}:
            sheet.dotted(x, row + MARK + 26, axis, move.hue(sheet.theme, moved=x == move.end))
    _axis(sheet, shown, place, axis, width, max(rows) + MARK + 26 + rulers)
    for x, end, dot, level in dots:
        hue, height = sheet.pale(shown.end_color(sheet.theme, end), 0.65), axis - DOT - 3 - 2 * DOT * level
        sheet.point(x, height, DOT - 0.5, hue, what="dot", value=dot["x"], said=dot["text"])
    for move, row in zip(moves, rows):
        _ruler(sheet, shown, move, place, row + RULER, width, far or move.side == shown.leading)
        marks(sheet, shown, move, row)
    for row in dict.fromkeys(rows):
        _write(sheet, [label for own, at in zip(labels, rows) if at == row for label in own], row + MARK + 16, width)
    return _legend(sheet, shown, _names(sheet, shown, place, axis + END + 2, width), width)


def _ruler(sheet: Sheet, shown: Shown, move: Move, place: Scale, y: float, width: float, label: bool) -> None:
    """Draw how far the chosen word would move by the noise level. label: True to label the drawing."""
    way = shown.data["way"]
    if way["level"] is None or move.covered:
        return
    start, end = move.start, place(way["at"][move.side] + way["toward"][move.side] * way["level"])
    for ends in ((start, y, end, y), *((at, y - 5, at, y + 5) for at in (start, end))):
        sheet.rule(*ends, sheet.pale(sheet.theme.muted, 0.6), 2.5)
    if label:
        text = f"up to {percent(way['level'])}: could be chance"
        size = text_width(text, SMALL)
        x = start + 8 if end > start else start - 8 - size
        sheet.text(min(max(0.0, x), width - size), y + 18, text, SMALL, sheet.theme.muted)


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
    most = leading and not (move.letters or move.named or move.by_visitor)
    text = f"{'moves most ' if most else ''}without {word}{inside}"
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


# The figure's axis, with its dots and names


def swarm(shown: Shown, place: Scale) -> list[tuple[float, int, Data, int]]:
    """Stack the dots of labelled sentences without overlaps. Return (x, end, data, level) of each dot.

    end: 0 or 1, by the sentence's sense: each end of the axis stands for one sense.
    level: the dot's row, counted from 0 at the axis.
    """
    last: list[float] = []  # x of the last dot, by level
    dots = [(place(dot["x"]), end, dot) for end, dots in enumerate(shown.data["way"]["dots"]) for dot in dots]
    found = []
    for x, end, dot in sorted(dots, key=lambda one: one[0]):
        level = next((level for level, at in enumerate(last) if x - at >= 2 * DOT), len(last))
        last[level : level + 1] = [x]
        found.append((x, end, dot, level))
    return found


def _axis(sheet: Sheet, shown: Shown, place: Scale, y: float, width: float, top: float) -> None:
    """Draw the axis, and a vertical line from `top` through its middle."""
    theme, middle = sheet.theme, place(0.5)
    sheet.rule(0, y, width, y, sheet.pale(theme.muted, 0.6))
    hues = [shown.end_color(theme, end) for end in (0, 1)]
    for end, hue in enumerate(hues):
        sheet.rule(place(end), y, middle, y, hue, 3)
        sheet.rule(place(end), y - END, place(end), y + END, hue, 3)
    sheet.rule(middle, top, middle, y + END + 4, theme.ink, 2)
    texts = [f"nearer to {end['label']}" for end in shown.data["way"]["ends"]]
    if max(text_width(text, SMALL) for text in texts) + 2 * SPACE < middle - place(0):
        for end, text in enumerate(texts):
            sheet.text(
                middle + (8 if end else -8), y + END + 1, text, SMALL, hues[end], align="left" if end else "right"
            )


def _names(sheet: Sheet, shown: Shown, place: Scale, y: float, width: float) -> float:
    """Write the names of the positions 0 and 1 below the axis. Return the y coordinate below the names."""
    names = [_name(sheet, shown, end, 0.48 * width) for end in (0, 1)]
    sizes = [max(map(_size, lines)) for lines in names]
    left, right = (place(end) - size / 2 for end, size in enumerate(sizes))
    over = max(0.0, left + sizes[0] + SPACE - right) / 2
    right = min(right + over, width - sizes[1])
    left = max(0.0, min(left - over, right - SPACE - sizes[0]))
    right = max(right, left + sizes[0] + SPACE)
    for lines, size, x in zip(names, sizes, (left, right)):
        base = y
        for line in lines:
            base += 1.3 * line[0][1]
            at = x + (size - _size(line)) / 2
            for text, letters, color, bold in line:
                sheet.text(at, base, text, letters, color, bold=bold)
                at += text_width(text, letters, bold) + 6
    return y + max(sum(1.3 * line[0][1] for line in lines) for lines in names) + 6


def _legend(sheet: Sheet, shown: Shown, y: float, width: float) -> float:
    """Explain what the dots and 100 % mean. Return the y coordinate below the texts."""
    way, theme = shown.data["way"], sheet.theme
    keys = [f"{percent(1)}: the distance between the {'averages' if way['between'] == 'senses' else 'ends'}"]
    if any(way["dots"]):
        keys.insert(0, "one of the sentences, left out of its own average")
    sizes = [text_width(key, SMALL) + (TWO_DOTS if key is not keys[-1] else 0) for key in keys]
    beside = sum(sizes) + KEYS * (len(keys) - 1) <= width
    x = (width - sum(sizes) - KEYS * (len(keys) - 1)) / 2
    top = y
    for key, size in zip(keys, sizes):
        left = x if beside else max(0.0, (width - size) / 2)
        if key is not keys[-1]:
            for end in (0, 1):
                sheet.point(left + 4 + 10 * end, top + 8, DOT - 1.5, shown.end_color(theme, end))
            left += TWO_DOTS
        y = sheet.lines(left, top + 12, wrapped(key, width - left + 1, SMALL), SMALL, theme.muted) - 9
        x, top = x + size + KEYS, top if beside else y
    return y


def _name(sheet: Sheet, shown: Shown, end: int, width: float) -> list[list[Piece]]:
    """Return the lines of text that name one end (0 or 1) of the drawn line."""
    theme, (name, count) = sheet.theme, shown.data["way"]["ends"][end].values()
    hue = shown.end_color(theme, end)
    lines = wrapped(name, width, NAME, bold=True)
    letters = min(NAME, NAME * width / max(text_width(line, NAME, bold=True) for line in lines))
    ink = theme.ink if hue == theme.muted else hue
    found: list[list[Piece]] = [[(line, letters, ink, True)] for line in lines]
    if not count:
        return found
    return found + [
        [(line, SMALL, theme.muted, False)] for line in wrapped(f"average of {count} other sentences", width, SMALL)
    ]


def _size(line: Sequence[Piece]) -> float:
    """Return the width of a line of text in pixels."""
    return sum(text_width(text, letters, bold) + 6 for text, letters, _, bold in line) - 6
