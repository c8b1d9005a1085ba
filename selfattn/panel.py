"""A panel: one finding, its picture and its tables. Pages, notebooks, "Download" and reports show lists of panels."""

import copy
import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pandas as pd

from selfattn.charts.theme import DARK, LIGHT, Theme
from selfattn.charts.vega import Spec

Check = Callable[[Any], bool]
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": int | float,
    "boolean": bool,
    "null": type(None),
}
COMPONENTS = files("selfattn") / "dashboard" / "components"


@dataclass(frozen=True)
class Look:
    """The look of a picture."""

    dark: bool = False
    width: int | None = None  # pixels; None: the picture's own
    height: int | None = None

    @property
    def theme(self) -> Theme:
        """The colours of this look."""
        return DARK if self.dark else LIGHT


@dataclass(frozen=True, eq=False)
class Live:
    """A web component and its data. Raises jsonschema.ValidationError for data that break the component's schema."""

    component: str  # the stem of its files in selfattn/dashboard/components
    data: Mapping[str, Any]

    def __post_init__(self) -> None:
        schema = _schema(self.component)
        if not _fitting(self.component)(self.data):  # jsonschema takes ten times as long, and words the error
            schema.validate(self.data)

    def changed(self, **parts: Any) -> "Live":
        """The same with other values for these keys. Only they are checked: a whole check takes 10 ms."""
        schema = _schema(self.component)
        for name, value in parts.items():
            schema.evolve(schema=schema.schema["properties"][name]).validate(value)
        other = copy.copy(self)
        object.__setattr__(other, "data", {**self.data, **parts})
        return other


class Tables(Mapping[str, pd.DataFrame]):
    """Tables by name; each is made when it is first read."""

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
    """One finding with its picture, and all that can be taken away of it."""

    name: str  # its id in links, file names and tests: "words", "heads", "kernel"
    finding: str  # one sentence, computed from the numbers
    picture: Callable[[Look], Spec]  # complete Vega-Lite
    alt: str  # the picture in words
    tables: Mapping[str, pd.DataFrame]  # the numbers in the picture, tidy
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)  # for NPZ
    code: str = ""  # lines of Python that compute it
    method: str = ""  # how it was measured, and what it cannot tell
    live: Live | None = None
    note: str = ""  # one line under the picture
    one_head: bool = False  # it shows the page's chosen head; its files name that head
    sentences: tuple[str, ...] = ()  # the only sentences that it shows, "A" ...; (): all
    share: Callable[[Look], Spec] | None = None  # a picture to send on, 1200 x 675

    @property
    def table(self) -> pd.DataFrame:
        """The picture's own numbers: the first table."""
        return next(iter(self.tables.values()))


@functools.cache
def _fitting(component: str) -> Check:
    schema = _schema(component).schema
    return compiled(schema, schema.get("$defs", {}))


def compiled(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> Check:
    """Return a function that is True only for data that fit the schema; False may also be a keyword or a type it doesn't know.

    shared: the schema's "$defs".
    """
    parts = {name: compiled(part, shared) for name, part in schema.get("properties", {}).items()}
    checks: list[Check] = []
    for keyword, wanted in sorted(schema.items(), key=lambda item: item[0] != "type"):  # the others rely on the type
        if keyword not in ("$schema", "$defs", "title", "description", "properties"):
            checks.append(_check(keyword, wanted, parts, shared))
    if parts:
        checks.append(lambda data: all(part(data[name]) for name, part in parts.items() if name in data))
    return checks[0] if len(checks) == 1 else lambda data: all(check(data) for check in checks)


def _check(keyword: str, wanted: Any, parts: Mapping[str, Check], shared: Mapping[str, Any]) -> Check:
    match keyword:
        case "type":
            types = tuple(TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted))
            return lambda data: isinstance(data, types) and (bool in types or not isinstance(data, bool))
        case "$ref":
            return compiled(shared[wanted.rpartition("/")[2]], shared)
        case "const" | "enum":
            values = [wanted] if keyword == "const" else wanted
            return lambda data: data in values and type(data) in map(type, values)
        case "required":
            names = frozenset(wanted)
            return lambda data: names <= data.keys()
        case "additionalProperties" if wanted is False:
            return lambda data: data.keys() <= parts.keys()
        case "additionalProperties":
            other = compiled(wanted, shared)
            return lambda data: all(other(value) for name, value in data.items() if name not in parts)
        case "items":
            item = compiled(wanted, shared)
            return lambda data: all(map(item, data))
        case "minItems":
            return lambda data: len(data) >= wanted
        case "maxItems":
            return lambda data: len(data) <= wanted
        case "minimum":
            return lambda data: data >= wanted
        case "maximum":
            return lambda data: data <= wanted
        case "pattern":
            search = re.compile(wanted).search
            return lambda data: search(data) is not None
        case "oneOf":
            options = [compiled(option, shared) for option in wanted]
            return lambda data: sum(option(data) for option in options) == 1
    return lambda data: False


@functools.cache
def _schema(component: str) -> Any:
    text = (COMPONENTS / f"{component}.schema.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))
