"""Draw the steps of one head's attention as columns of a static picture."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from selfattn.charts.labels import isolated_words, text_width
from selfattn.charts.moved_word import wrapped
from selfattn.charts.sheet import Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, picture

Data = Mapping[str, Any]
WIDTH = 1100  # pixels, the default
NARROW = 640  # pixels: a narrower figure has no strips of coloured cells
ROW, GAP = 22, 14  # pixels: the height of a token's row; the gap between columns
TITLE, TEXT, SMALL = 18, 13, 12  # font sizes in pixels
CELL, EDGE = 8, 1  # pixels: a cell of a strip; the edge between cells
FEW = 4  # a strip of at most this many numbers prints them
PALE = 0.5  # the opacity of bars in rows that aren't highlighted


def kernel_figure(data: Data, theme: Theme, width: int | None = None) -> Spec:
    """Draw the figure, `width` pixels wide. A figure narrower than 640 pixels has no vectors."""
    figure = _Figure(data, theme, width or WIDTH)
    figure.draw()
    return figure.sheet.drawn(figure.width, round(figure.y))


class _Figure:
    """The drawing so far. y: where the next part begins."""

    def __init__(self, data: Data, theme: Theme, width: int) -> None:
        self.data, self.theme, self.width, self.sheet, self.y = data, theme, width, Sheet(theme), 0.0
        self.rows = [
            row for side in data["sides"] for row in [*side["rows"], *([side["rest"]] if side["rest"] else [])]
        ]
        wide = width >= NARROW
        self.columns = [column for column in data["columns"] if wide or column["kind"] != "strip"]
        strips = sum(column["kind"] == "strip" for column in self.columns)
        labels = [*(row["text"] for row in self.rows), *map(_name, data["sides"])]
        self.token = min(max(text_width(text, TEXT, bold=True) for text in labels) + 4, 0.22 * width)
        room = width - self.token - GAP * len(self.columns)
        number = room / (len(self.columns) + 1.6 * strips)
        figures = [
            *("0" * column["digits"] for column in self.columns),
            *(s for side in data["sides"] for s in _sums(side).values()),
        ]
        words = [word for column in self.columns if column["kind"] != "strip" for word in column["title"].split(" ")]
        self.size, self.head = (
            TEXT * min(1.0, number / max(text_width(text, TEXT, bold=True) for text in texts))
            for texts in (figures, words)
        )
        self.left, x = {}, self.token + GAP
        for column in self.columns:
            wide = number * (2.6 if column["kind"] == "strip" else 1)
            self.left[column["id"]] = (x, wide)
            x += wide + GAP

    def draw(self) -> None:
        for side, finding in zip(self.data["sides"], self.data["findings"]):
            named = f"{side['name']}: {finding}" if side["name"] else finding
            self.y = (
                self.sheet.lines(0, self.y + TITLE, wrapped(named, self.width, TITLE, True), TITLE, bold=True) - TITLE
            )
        self.y += TITLE
        below, small = self.y, self.head - 1
        for column in self.columns:
            x, width = self.left[column["id"]]
            title = wrapped(raised(column["title"]), width, self.head, bold=True)
            y = self.sheet.lines(x, self.y + self.head, title, self.head, bold=True)
            y = self.sheet.lines(x, y, wrapped(raised(column["about"]), width, small), small, self.theme.muted)
            below = max(below, y)
        self.y = below - 4
        for side in self.data["sides"]:
            self._side(side)
        for line in [self.data["context"], *self.data["below"]]:
            self.y = self.sheet.lines(0, self.y + 16, wrapped(line, self.width, SMALL), SMALL, self.theme.muted) - 16

    def _side(self, side: Data) -> None:
        sheet, color = self.sheet, self.theme.sentence(side["name"]) if side["name"] else self.theme.ink
        self._label(_name(side), color, bold=True)
        self._strips("products", [side["query"]["values"]], "vectors")
        after = self.left[self.columns[1 if self.width >= NARROW else 0]["id"]][0]
        sheet.text(after, self.y + 15, "its query: what it looks for", SMALL, self.theme.muted)
        self.y += ROW
        lit = max(side["rows"], key=lambda row: read(row["fine"]))
        top = self.y
        for row in [*side["rows"], *([side["rest"]] if side["rest"] else [])]:
            colored = row.get("at") == side["query"]["at"] or row.get("word", False)
            muted = row.get("special", True) or row.get("hidden", False)
            if row is lit:
                sheet.rect(0, self.y, self.width, self.y + ROW, self.theme.grid, opacity=0.6, at=row["at"])
            hue = color if colored else self.theme.muted if muted else ""
            self._label(row["text"], hue, bold=colored or row is lit)
            for column in self.columns:
                if (text := row["cells"].get(column["id"])) is not None:
                    self._number(column, text, row is lit)
            self.y += ROW
        for column, kind in (("products", "products"), ("handed", "handed")):
            parts = [row[column] for row in [*side["rows"], *([side["rest"]] if side["rest"] else [])] if column in row]
            self._strips(column, parts, kind, top)
        sheet.rule(0, self.y, self.width, self.y, self.theme.grid)
        for column, text in _sums(side).items():
            sheet.text(self.left[column][0], self.y + 16, text, self.size)
        self._strips("handed", [side["context"]], "handed")
        x, width = self.left["weight"]
        if "handed" in self.left and text_width(f"{_sums(side)['weight']} context", TEXT) < width:
            sheet.text(x + width + GAP / 2, self.y + 16, "context", SMALL, self.theme.muted, align="right")
        steps = "   →   ".join(text for _, text in lit["steps"])
        self.y = (
            sheet.lines(0, self.y + ROW + 17, wrapped(f"{lit['text']}:  {steps}", self.width, TEXT + 1), TEXT + 1) - 4
        )

    def _label(self, text: str, color: str, bold: bool = False) -> None:
        size = min(TEXT, TEXT * self.token / text_width(text, TEXT, bold))
        self.sheet.text(self.token, self.y + 15, isolated_words(text), size, color, align="right", bold=bold)

    def _number(self, column: Data, text: str, lit: bool) -> None:
        (x, width), (low, high), name = self.left[column["id"]], column["ends"], column["id"]
        longest = text_width("0" * column["digits"], self.size, bold=True)
        self.sheet.text(x + longest, self.y + 15, text, self.size, align="right", bold=lit, column=name)
        value, room = read(text), width - longest - 8
        if not np.isfinite(value) or room < 10:
            return
        zero, end = (x + longest + 8 + room * (each - low) / (high - low) for each in (0.0, value))
        color = self.theme.signed[-1 if value >= 0 else 0]
        strong = 1 if lit or name == "weight" else PALE
        box = (min(zero, end), self.y + 6, max(zero, end, min(zero, end) + 1), self.y + ROW - 6)
        self.sheet.rect(*box, color, opacity=strong, column=name, value=value)

    def _strips(self, column: str, strips: Sequence[str], kind: str, top: float | None = None) -> None:
        if column not in self.left:
            return
        (x, width), y, places = self.left[column], self.y if top is None else top, self.data["places"][kind]
        levels = np.array([[int(part) for part in strip.split(",")] for strip in strips]) / self.data["largest"][kind]
        cells = np.round(127.5 + 127.5 * np.clip(levels, -1, 1))
        image = np.full((len(cells) * ROW, cells.shape[1] * CELL), 127.5)
        for i, row in enumerate(np.repeat(cells, CELL, axis=1)):
            image[i * ROW + 3 : (i + 1) * ROW - 3] = row
        image[:, CELL - EDGE :: CELL] = 127.5
        self.sheet.image(x, y, width, len(cells) * ROW, picture(image, self.theme.signed))
        if cells.shape[1] <= FEW:
            for i, row in enumerate(self._written(strips, places)):
                for j, text in enumerate(row):
                    deep = abs(levels[i, j]) > 0.6
                    middle = x + width * (j + 0.5) / len(row)
                    color = self.theme.background if deep else self.theme.ink
                    self.sheet.text(middle, y + i * ROW + 15, text, SMALL, color, align="center")

    def _written(self, strips: Sequence[str], places: int) -> Iterator[list[str]]:
        for strip in strips:
            signs = [
                ("−" if part.startswith("-") else "", part.lstrip("-").zfill(places + 1)) for part in strip.split(",")
            ]
            yield [f"{sign}{digits[:-places]}.{digits[-places:]}" for sign, digits in signs]


def _sums(side: Data) -> dict[str, str]:
    return {
        column: f"{'Σ' if column in ('exponential', 'weight') else 'max'} {text}"
        for column, text in side["sums"].items()
    }


def _name(side: Data) -> str:
    return f"{side['name']} {side['query']['text']}".strip()


def read(text: str) -> float:
    """Parse a printed number. "<0.0001" is 0."""
    return 0.0 if text.startswith("<") else float(text.replace("−", "-").replace("∞", "inf"))


def raised(text: str) -> str:
    return text.replace("e^x", "eˣ")
