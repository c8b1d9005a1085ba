"""The stops of the guided path, in order, by the name in their address: their texts from stops.toml, and what draws them.

A core stop has `do`, the one thing to do in class; those that follow it in the file stand beside it. Its function, called as the
stop is (soft_lookup of soft-lookup), draws its widgets and returns the scene of the stage. That of a stop beside the core takes
(picture, answered): it draws its picture there, with the answer's place empty until then, and its widgets where it is called.
"""

import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from selfattn.lessons.terms import TERMS


@dataclass(frozen=True)
class Stop:
    """A stop's texts, and the file of its functions."""

    slug: str
    file: str
    title: str
    part: str  # of the path: a box of the outline
    idea: str
    question: str
    options: list[str]  # the right one first, unless the file has `answer(options)`: an encoder's answer is computed
    reason: str
    take: str
    terms: list[str]  # those of selfattn.lessons.terms that first stand here
    do: str

    def function(self, name: str = "") -> Any:
        """Its function of this name (None: it has none), or the one that draws it."""
        module = import_module(f"{__name__}.{self.file}")
        return getattr(module, name or self.slug.replace("-", "_"), None)

    @property
    def answer(self) -> str:
        """The right option."""
        computed = self.function("answer")
        return computed(self.options) if computed else self.options[0]


def _read() -> dict[str, Stop]:
    given = tomllib.loads(Path(__file__).with_name("stops.toml").read_text("utf-8"))
    texts = {
        slug: {"terms": [], "do": ""} | stop | {"idea": stop["idea"].format_map(TERMS)} for slug, stop in given.items()
    }
    return {slug: Stop(slug, **stop) for slug, stop in texts.items()}


STOPS = _read()
MERGED = {
    "worked-example": "geometry",
    "annotated-heatmap": "twelve-tokens",
}  # stops of older links, now part of others
ROWS: list[list[str]] = []  # a core stop, and those beside it
for _slug, _stop in STOPS.items():
    if _stop.do:
        ROWS.append([])
    ROWS[-1].append(_slug)
CORE = tuple(row[0] for row in ROWS)
NUMBERS = {  # "4" is the fourth core stop, "4a" and on are beside it
    slug: f"{core}{' abcdefgh'[place]}".strip() for core, row in enumerate(ROWS, 1) for place, slug in enumerate(row)
}
PARTS = tuple(dict.fromkeys(stop.part for stop in STOPS.values()))  # the boxes of the outline, in order


def beside(slug: str) -> list[str]:
    """The stops beside this one's core stop, in order."""
    return next(row for row in ROWS if slug in row)[1:]


def neighbours(slug: str) -> tuple[str | None, str | None]:
    """The stops before and after a core stop, of the core; those of one beside it, of all."""
    slugs = [None, *(CORE if slug in CORE else STOPS), None]
    place = slugs.index(slug)
    return slugs[place - 1], slugs[place + 1]
