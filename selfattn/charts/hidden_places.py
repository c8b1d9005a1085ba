"""Where each part of the figure of hidden words stands in a room of one width: words, curve, heads, words of the open head."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from selfattn.charts.theme import Theme
from selfattn.charts.two_widths import GAP, LETTER, Chip, Room, chip_places, fitting_size, letters, wrapped
from selfattn.charts.vega import Spec

TITLE, TEXT, HINT, SMALL = 15, 14, 12, 13  # pixels of letters
SIZES = (20, 19, 18, 17, 16)  # of a word, on one line; on several the last, and less where they are many
MAP = 300  # pixels of the map's height, at most


class Looks:
    """How the figure's texts look."""

    def __init__(self, theme: Theme):
        self.title: Spec = {"fontSize": TITLE, "fontWeight": 600, "lineHeight": 20, "color": theme.ink}
        self.hint: Spec = {"fontSize": HINT, "color": theme.muted}
        self.hints: Spec = {**self.hint, "lineHeight": 16}  # of several lines
        self.tick: Spec = {"fontSize": 11, "color": theme.muted}


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The texts to make room for."""

    word: str
    title: str
    said: str
    words: Sequence[dict[str, Any]]
    small: Sequence[dict[str, Any]]
    longest: Sequence[str]  # other word of each sentence, quoted
    n_layers: int
    n_heads: int
    guess: bool

    def layout(self, room: Room) -> dict[str, Any]:
        """The places of all parts: [x, y], and the letters of a line after them where a text is wrapped in the browser."""
        left, y = _words(self, room.column)
        x, top = (room.column + GAP, 0.0) if room.columns > 1 else (0.0, y + 26)
        right, bottom = _heads(self, x, top, room.column)
        return {**left, **right, "size": [room.width, max(y, bottom)]}


def _words(drawn: Drawn, width: int) -> tuple[dict[str, Any], float]:
    sentences = [
        [
            Chip(row["text"], row["number"], kind in ("special", "punctuation"), kind == "chosen", kind == "special")
            for row in drawn.words
            if (kind := row["kind"]) and row["side"] == side
        ]
        for side in (0, 1)
    ]
    many = max(map(len, sentences))
    size = fitting_size(sentences, LETTER, width, SIZES) if many <= 24 else 15 if many <= 40 else 13
    chip, row = round(1.85 * size), round(1.85 * size) + 24
    title = wrapped(f"1  {drawn.title}", _of_titles(width))
    said = wrapped(drawn.said, letters(width, HINT)) if drawn.said else []
    found: dict[str, Any] = {"title": title, "title_at": [0, 0], "said": said, "said_at": [0, y := 20 * len(title) + 2]}
    y += 16 * len(said) + 10
    found |= {"words": [], "letters": [], "word": size, "chip": chip}
    for chips in sentences:
        found["letters"].append([0, y + chip / 2])
        places, y = chip_places(chips, LETTER, y, width, size, row)
        found["words"] += places
        y += 4
    hint = letters(width, HINT)
    now = f"Hidden from “{drawn.word}” now: {' and '.join(drawn.longest)} (not run). Click a word to hide it or show it again."
    found["scale"], y = [-26, y, letters(width - 150, HINT)], y + (0 if drawn.guess else 24)
    found["hint"], y = [0, y, hint], y + 16 * _lines(now, hint) + 12
    names = 190 if width >= 440 else 132
    found["curve_title"], y = [0, y], y + 26
    across = width - 36 - names
    found["curve"] = [36, y, across, 150]
    found["every"] = -(-(drawn.n_layers + 1) * 34 // across)
    found["names"] = letters(names - 12, 1.1 * HINT)
    return found, y + 150 + 24


def _heads(drawn: Drawn, x: float, y: float, width: int) -> tuple[dict[str, Any], float]:
    title, text, hint = _of_titles(width), letters(width, TEXT), letters(width, HINT)
    word, other = f"“{drawn.word}”", max(drawn.longest, key=len)
    found: dict[str, Any] = {"heads_title": [x, y, title]}
    y += 20 * _lines(f"2  Through which heads {word} reads {other}", title) + 40
    across = min(36.0, (width - 34) / drawn.n_heads)
    down = min(26.0, max(11.0, MAP / drawn.n_layers))
    found |= {"map": [x + 30, y], "cell": [across, down], "every_head": 1 + (across < 15)}
    y += down * drawn.n_layers + 8
    if drawn.guess:
        return found, y
    legend = letters(width - 200, HINT)
    found["map_scale"] = [x + 30, y, legend]
    y += 14 + 15 * _lines("00 % of the way, hidden in that head alone", legend)
    head = f"Head 00 of layer 00 gives {other} 0.00 of its attention"
    said = f"{head}; hiding it there alone moves {word} −00 % of the way."
    found["sentence"], y = [x, y, text], y + 19 * _lines(said, text) + 8
    found |= {"small": [], "small_letters": []}
    for side in (0, 1):
        chips = [Chip(row["text"], "0.00", bold=row["chosen"]) for row in drawn.small if row["side"] == side]
        found["small_letters"].append([x, y + 12])
        places, y = chip_places(chips, x + LETTER - 4, y, x + width, SMALL, 43)
        found["small"] += places
        y += 2
    together = "Hidden in L00 H00, L00 H00 and L00 H00 together: 00 %; in all heads: 00 %."
    found["together"], y = [x, y + 4, text], y + 4 + 19 * _lines(together, text)
    passing = f"{other} may still pass {other} on: only what {word} itself reads is hidden."
    found["passing"], y = [x, y, hint], y + 16 * _lines(passing, hint)
    return found, y


def _of_titles(width: int) -> int:
    """The letters of a line of them."""
    return letters(width, (1.06 if width > 400 else 1.13) * TITLE)


def _lines(text: str, most: int) -> int:
    return len(wrapped(text, most))
