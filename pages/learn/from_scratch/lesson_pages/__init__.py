"""List the lesson pages ("stops") of From scratch.

A core stop has an exercise, `do`. In stops.toml, a core stop is followed by its side stops.
A core stop's function returns the figure's data (`Scene`). A side stop's function draws
into the container `picture`, and shows the answer if `answered`.
"""

import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from selfattn.lessons.terms import TERMS


@dataclass(frozen=True)
class Stop:
    """A lesson page: its texts and its module."""

    slug: str
    file: str
    title: str
    part: str  # section of the lesson
    idea: str
    question: str
    # The first option is right, unless the module has a function `answer`, which returns the right option.
    options: list[str]
    reason: str
    take: str
    terms: list[str]  # from selfattn.lessons.terms
    do: str  # exercise in class; "" for a side stop

    def function(self, name: str = "") -> Any:
        """Return the function `name` of the module `file`, or None. For "", return the function named after the slug."""
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
# For the slug of each removed lesson page, the slug of the page that replaces it.
MERGED = {"worked-example": "geometry", "annotated-heatmap": "twelve-tokens"}
ROWS: list[list[str]] = []  # each core stop with its side stops
for _slug, _stop in STOPS.items():
    if _stop.do:
        ROWS.append([])
    ROWS[-1].append(_slug)
CORE = tuple(row[0] for row in ROWS)
NUMBERS = {  # "4" is the fourth core stop, "4a" its first side stop
    slug: f"{core}{' abcdefgh'[place]}".strip() for core, row in enumerate(ROWS, 1) for place, slug in enumerate(row)
}
PARTS = tuple(dict.fromkeys(stop.part for stop in STOPS.values()))  # the boxes of the outline, in order


def beside(slug: str) -> list[str]:
    """Return the slugs of a core page's side pages. slug: this core page, or one of its side pages."""
    return next(row for row in ROWS if slug in row)[1:]


def neighbours(slug: str) -> tuple[str | None, str | None]:
    """Return the slugs of the previous and the next lesson page; for a core page, of the neighbouring core pages."""
    slugs = [None, *(CORE if slug in CORE else STOPS), None]
    place = slugs.index(slug)
    return slugs[place - 1], slugs[place + 1]
