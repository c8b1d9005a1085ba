"""Text that a drawing may hold: a chart is drawn by way of XML, which forbids most control characters.

vl-convert measures text through XML too, and there a forbidden character ends the whole process instead of raising. So
every string of a chart goes through here before it is drawn.
"""

import re
from typing import Any

from selfattn.charts.vega_words import TAKEN_FOR_NAMES

REPLACEMENT = "\ufffd"

# What is left out of Char in https://www.w3.org/TR/xml/#charsets.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

# Keys of a Vega-Lite spec whose strings are expressions: their string literals hold characters as escapes.
_TITLES = {"title", "text", "subtitle"}
_LIMITS = {"labelLimit", "limit", "titleLimit", "subtitleLimit"}
_EXPRESSIONS = {"calculate", "expr", "filter", "labelExpr", "test", "update"}
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(_PAIR + r"|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.", re.DOTALL)
_SHORT = {"\\b": "\b", "\\f": "\f", "\\v": "\v", "\\0": "\0"}


def drawable(text: str) -> str:
    """The text with each character that XML forbids replaced by U+FFFD, the replacement character."""
    return _FORBIDDEN.sub(REPLACEMENT, text)


def drawable_spec(spec: Any, key: str = "") -> Any:
    """A Vega-Lite spec (dicts, lists, strings, numbers) with every string in it made drawable."""
    if isinstance(spec, dict):
        return {drawable(name): drawable_spec(value, name) for name, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [drawable_spec(value, key) for value in spec]
    if not isinstance(spec, str):
        return spec
    text = drawable(spec)
    if key in _TITLES and text in TAKEN_FOR_NAMES:
        return text + " "
    return _ESCAPE.sub(_drawable_escape, text) if key in _EXPRESSIONS else text


def unlimited_spec(spec: Any) -> Any:
    """A Vega-Lite spec in which no label is cut for its length, by the chart's own limits or by Vega's."""
    free = _without_limits(spec)
    config = free.get("config", {})
    for part in ("axis", "legend", "header"):
        config = {**config, part: {**config.get(part, {}), "labelLimit": 0, "titleLimit": 0}}
    return {**free, "config": config}


def _without_limits(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {key: 0 if key in _LIMITS else _without_limits(value) for key, value in spec.items()}
    return [_without_limits(value) for value in spec] if isinstance(spec, list) else spec


def _drawable_escape(match: re.Match[str]) -> str:
    escape = match[0]
    if len(escape) == 12:  # a surrogate pair: one good character
        return escape
    if escape[1] in "ux" and len(escape) > 2:
        code = int(escape[2:].strip("{}"), 16)
        character = chr(code) if code <= 0x10FFFF else "\0"
    else:
        character = _SHORT.get(escape, "")
    return "\\ufffd" if _FORBIDDEN.search(character) else escape
