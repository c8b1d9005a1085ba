"""One figure for any window: everything is laid out in Python for a few widths, and an expression chooses among them.

What depends on the width travels as one list, a layout a width; a mark reads `place.<name>`. Widths of letters are estimates
from above, so that nothing is cut off in a wider typeface.
"""

import functools
import math
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from selfattn.charts.labels import right_to_left
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, finish

GAP = 36  # pixels between two columns
SIDEBAR, MARGINS = 310, 66  # pixels of a window that aren't the figure's (a scroll bar too): with the sidebar, without
OPEN = 1000  # pixels of a window from which on the sidebar is open
NARROW, WIDE = set("iljtfrI.,'’‘:;|()[]-!· "), set("mwMW%@—")


class Room(NamedTuple):
    """The pixels that a figure has, in one column or two."""

    width: int
    columns: int

    @property
    def column(self) -> int:
        return (self.width - GAP * (self.columns - 1)) // self.columns


ROOMS = (Room(1400, 2), Room(1120, 2), Room(980, 2), Room(700, 1), Room(500, 1), Room(330, 1))


def in_any_window(
    layers: list[Spec],
    datasets: Spec,
    theme: Theme,
    layout: Callable[[Room], dict[str, Any]],
    width: int | None,
    params: Sequence[Spec] = (),
    **more: Any,
) -> Spec:
    """A figure of layers that read `place`: what `layout` says of the window as it is now (of 1440 pixels where there is none).

    width: of a room of so many pixels instead. Vega-Lite hands `init` and `on` of a parameter to Vega as they are; its schema
    doesn't know them.
    """
    laid_out = ROOMS if width is None else (Room(width, 2 if width >= 980 else 1),)
    chosen = "".join(f"room >= {room.width} ? {at} : " for at, room in enumerate(laid_out[:-1]))
    following = [
        *(the_window() if width is None else ()),
        {"name": "layouts", "value": [layout(room) for room in laid_out]},
        {"name": "place", "expr": f"layouts[{chosen}{len(laid_out) - 1}]"},
    ]
    whole = {"width": 1, "height": 1, "padding": 0, "autosize": {"type": "pad", "resize": True}}
    return finish({"datasets": datasets, "params": [*following, *params], "layer": layers, **whole, **more}, theme)


def the_window() -> list[Spec]:
    """The parameters `window_width` and `room`: pixels of the window as it is now, and of it those for a figure."""
    size = "windowSize()[0] > 0 ? windowSize()[0] : 1440"
    resized = {"events": {"source": "window", "type": "resize"}, "update": size}
    room = f"window_width - (window_width >= {OPEN} ? {SIDEBAR} : {MARGINS})"
    return [{"name": "window_width", "init": size, "on": [resized]}, {"name": "room", "expr": room}]


# Texts and places


def pixels(**channels: str) -> Spec:
    """Channels that are pixels, by expressions."""
    return {channel: {"value": {"expr": formula}} for channel, formula in channels.items()}


def text_width(text: str, size: float, bold: bool = False) -> float:
    """About how many pixels a text takes at most: marks nothing, East Asian characters a whole square."""
    return size * _ems(text) * (1.1 if bold else 1.0)


@functools.lru_cache(4096)  # a word is asked for in each size and room
def _ems(text: str) -> float:
    return sum(map(_em, text))


def _em(character: str) -> float:
    if unicodedata.category(character)[0] == "M":
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    return 0.38 if character in NARROW else 0.95 if character in WIDE else 0.7 if character.isupper() else 0.6


def letters(width: float, size: float) -> int:
    """How many letters of running text stand on a line of this many pixels."""
    return max(12, int(width / (0.545 * size)))


def wrapped(text: str, most: int) -> list[str]:
    """Lines of at most `most` letters; a number stays with its unit, and a longer word is not broken."""
    whole = textwrap.wrap(text.replace(" %", "\u00a0%"), most, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\u00a0%", " %") for line in whole] or [""]


# Chips


class Chip(NamedTuple):
    """A word to lay out: its text, what stands beneath it, and whether it is plain text without an outline, small or bold."""

    text: str
    beneath: str
    plain: bool = False
    bold: bool = False
    small: bool = False


LETTER = 26  # pixels to the left of a sentence, for its name
SPECIAL, BENEATH = 11, 12  # pixels of the letters of small chips, and beneath all


def chip_places(
    chips: Sequence[Chip], x: float, y: float, width: float, size: float, row: float
) -> tuple[list[list[float]], float]:
    """[left, top, width, middle of what stands beneath] of each chip in lines from x to `width`, each `row` high; and where what
    follows begins. Labels beneath two chips never overlap: a label moves left, then its chip right. A sentence from right to left
    begins at the right.
    """
    places: list[list[float]] = []
    at, before = x, 0.0
    for chip in chips:
        wide = math.ceil(
            text_width(chip.text, SPECIAL if chip.small else size, chip.bold) + (4 if chip.plain else 0.9 * size)
        )
        half = text_width(chip.beneath, BENEATH) / 2
        left = max(at, before + half * 2 - wide + 3 if chip.beneath else at)
        if left + wide + 3 > width and at > x:
            y, left, before = y + row, x, 0.0
        middle = min(left + wide / 2, max(left + wide + 3 - half, before + half + 4))
        places.append([round(left, 1), round(y, 1), wide, round(middle, 1)])
        at = left + wide + 0.3 * size
        before = middle + half if chip.beneath else before
    if right_to_left(" ".join(chip.text for chip in chips if chip.text[:1] not in "[<")):  # [CLS] has no direction
        places = [[round(x + width - p - wide, 1), q, wide, round(x + width - m, 1)] for p, q, wide, m in places]
    return places, y + row
