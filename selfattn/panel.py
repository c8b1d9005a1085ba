"""Define `Panel`: one finding with its picture and tables."""

import copy
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import fastjsonschema
import numpy as np
import pandas as pd

from selfattn.charts.theme import DARK, LIGHT, Theme
from selfattn.charts.vega import Spec

COMPONENTS = files("selfattn") / "dashboard" / "components"


@dataclass(frozen=True)
class Look:
    """The look of a picture: dark or light, and its size."""

    dark: bool = False
    width: int | None = None  # pixels; None: the picture's default
    height: int | None = None

    @property
    def theme(self) -> Theme:
        """The dark or the light colours."""
        return DARK if self.dark else LIGHT


@dataclass(frozen=True, eq=False)
class Live:
    """An interactive web component and its data.

    Raises JsonSchemaValueException if the data don't fit the component.
    """

    component: str  # name of its files in dashboard/components, without the suffix
    data: Mapping[str, Any]

    def __post_init__(self) -> None:
        _validator(self.component)(self.data)

    def changed(self, **parts: Any) -> "Live":
        """Return a copy with some values of `data` replaced, after checking the new values."""
        for name, value in parts.items():
            _validator(self.component, name)(value)
        other = copy.copy(self)
        object.__setattr__(other, "data", {**self.data, **parts})
        return other


class Tables(Mapping[str, pd.DataFrame]):
    """A mapping from names to tables. Each table is computed on first access."""

    def __init__(self, makers: Mapping[str, Callable[[], pd.DataFrame]]) -> None:
        self._makers = {name: functools.cache(make) for name, make in makers.items()}

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """One finding, its picture, and the data to download."""

    name: str  # id in links and file names, such as "words"
    finding: str  # one sentence, computed from the numbers
    picture: Callable[[Look], Spec]  # returns a complete Vega-Lite spec
    alt: str  # alternative text of the picture
    tables: Mapping[str, pd.DataFrame]  # the picture's numbers
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)  # for the NPZ download
    code: str = ""  # lines of Python that compute the finding
    method: str = ""  # how the finding was measured, and what it can't show
    live: Live | None = None  # interactive figure, shown on a page instead of the picture
    note: str = ""  # one line under the picture
    one_head: bool = False  # True: shows the chosen head, which file names then include
    sentences: tuple[str, ...] = ()  # names of the sentences shown, such as "A"; (): all
    share: Callable[[Look], Spec] | None = None  # a picture for social media, 1200 x 675 pixels

    @property
    def table(self) -> pd.DataFrame:
        """The first table, which has the picture's numbers."""
        return next(iter(self.tables.values()))


@functools.cache
def _validator(component: str, part: str = "") -> Callable[[Any], Any]:
    schema = json.loads((COMPONENTS / f"{component}.schema.json").read_text("utf-8"))
    wanted = schema["properties"][part] | {"$defs": schema.get("$defs", {})} if part else schema
    return fastjsonschema.compile(wanted, use_default=False)
