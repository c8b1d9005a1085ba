"""List the lesson pages ("stops") of From scratch in order. stops.toml has their texts.

A core stop has `do`, its exercise in class. The stops after it in the file, up to the next core stop, are its side stops.
A stop's function has the stop's name (soft_lookup for soft-lookup). A core stop's function draws the widgets and returns
the figure's data (a `Scene`). A side stop's function has the parameters (picture, answered). It draws the widgets, and
draws the picture into the container `picture`. The picture shows the answer only if `answered` is true.
"""

import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from selfattn.lessons.terms import TERMS


@dataclass(frozen=True)
class Stop:
    """A lesson page ("stop"): its texts, and the module with the functions that draw it."""

    slug: str
    file: str
    title: str
    part: str  # the section of the lesson, a box in the outline
    idea: str
    question: str
    # The right option is first, unless the module has `answer(options)`, which computes the right option from the encoder.
    options: list[str]
    reason: str
    take: str
    terms: list[str]  # terms of selfattn.lessons.terms that this stop introduces
    do: str  # the exercise in class; "": a side stop

    def function(self, name: str = "") -> Any:
        """Return the module's function `name`, or None if there is none. "" means the function that draws the lesson page."""
        module = import_module(f"{__name__}.{self.file}")
        return getattr(module, name or self.slug.replace("-", "_"), None)

    @property
    def answer(self) -> str:
        computed = self.function("answer")
        return computed(self.options) if computed else self.options[0]


def _read() -> dict[str, Stop]:
    given = tomllib.loads(Path(__file__).with_name("stops.toml").read_text("utf-8"))
    texts = {
        slug: {"terms": [], "do": ""} | stop | {"idea": stop["idea"].format_map(TERMS)} for slug, stop in given.items()
    }
    return {slug: Stop(slug, **stop) for slug, stop in texts.items()}


STOPS = _read()
# Stops that older links name, and the stops that replace them.
MERGED = {"worked-example": "geometry", "annotated-heatmap": "twelve-tokens"}
ROWS: list[list[str]] = []  # each core stop with its side stops
for _slug, _stop in STOPS.items():
    if _stop.do:
        ROWS.append([])
    ROWS[-1].append(_slug)
CORE = tuple(row[0] for row in ROWS)
NUMBERS = {  # "4" is the fourth core stop; "4a", "4b" ... are its side stops
    slug: f"{core}{' abcdefgh'[place]}".strip() for core, row in enumerate(ROWS, 1) for place, slug in enumerate(row)
}
PARTS = tuple(dict.fromkeys(stop.part for stop in STOPS.values()))  # the boxes of the outline, in order


def beside(slug: str) -> list[str]:
    """Return the side stops in the row that contains this stop, in order. A row is a core stop with its side stops."""
    return next(row for row in ROWS if slug in row)[1:]


def neighbours(slug: str) -> tuple[str | None, str | None]:
    """Return the previous and the next stop, or None. For a core stop both are core stops; for a side stop, stops of any kind."""
    slugs = [None, *(CORE if slug in CORE else STOPS), None]
    place = slugs.index(slug)
    return slugs[place - 1], slugs[place + 1]
