"""Prepare the texts of a chart."""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import regex

LABELS = 45  # the most token labels of an axis


def label_axis(labels: Sequence[str], every: int = 1, **more: Any) -> dict[str, Any]:
    """Return an axis with a text at each position 0, 1 ...; with every=2, only every second text is shown."""
    spelled = expression(label if i % every == 0 else "" for i, label in enumerate(labels))
    places = {"values": list(range(0, len(labels), every)), "labelExpr": f"{spelled}[datum.value]"}
    return {**places, "title": None, "grid": False, **more}


# Widths of U+0020 to U+007E in DejaVu Sans, in 1/100 of the font size
_WIDTHS = (
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84,
    84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39,
    34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,
    52, 64, 34, 64, 84,
)  # fmt: skip


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return a text's width in pixels, exact for ASCII in DejaVu Sans."""
    return size * sum(map(_em, text)) * (1.13 if bold else 1.0)


def _em(character: str) -> float:
    if " " <= character <= "~":
        return _WIDTHS[ord(character) - 32] / 100
    if unicodedata.category(character)[0] in "MC":
        return 0.0
    if unicodedata.bidirectional(character) == "AL":  # Arabic letters are joined
        return 0.5
    return 1.0 if unicodedata.east_asian_width(character) in "WF" else 0.34 if character == "\u00a0" else 0.62


# Vega 6 mistakes some strings for identifiers and draws nothing, so an expression builds these strings from single letters.

TAKEN_FOR_NAMES = frozenset(
    [
        "if", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString",
        "valueOf", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
    ]
)  # fmt: skip


def expression(words: Iterable[str]) -> str:
    """Return the words as a Vega expression: ["The","bank"]."""
    return f"[{','.join(map(_constant, words))}]"


def _constant(word: str) -> str:
    return "+".join(map(json.dumps, word if word in TAKEN_FOR_NAMES else [drawable(word)]))


# SVG is XML, which forbids most control characters: with one of these, vl-convert would end the process.

REPLACEMENT = "\ufffd"

# Every character that isn't a Char of https://www.w3.org/TR/xml/#charsets
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

_TITLES = {"title", "text", "subtitle"}


def drawable(text: str) -> str:
    """Return the text with U+FFFD in place of each character that XML forbids."""
    return _FORBIDDEN.sub(REPLACEMENT, text)


def drawable_spec(spec: Any, key: str = "") -> Any:
    """Return a Vega-Lite spec in which every string is replaced by its `drawable` form."""
    if isinstance(spec, dict):
        return {drawable(name): drawable_spec(value, name) for name, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [drawable_spec(value, key) for value in spec]
    if not isinstance(spec, str):
        return spec
    text = isolated_words(drawable(spec))
    return text + " " if key in _TITLES and text in TAKEN_FOR_NAMES else text


# Unicode's isolate characters keep a number in its place beside a Hebrew word.
# https://www.w3.org/TR/string-meta/, UAX #9

_RIGHT = r"[\p{Bidi_Class=R}\p{Bidi_Class=AL}]"
_FIRST_STRONG = regex.compile(rf"{_RIGHT}|[\p{{Bidi_Class=L}}]")
# Matches text inside Unicode isolates, or a run of right-to-left words.
_RUN = regex.compile(rf"\u2068[^\u2069]*\u2069|{_RIGHT}(?:\p{{M}}|{_RIGHT}|[ '’\-\u200b-\u200f](?={_RIGHT}))*")


def right_to_left(text: str) -> bool:
    """Return True if the first letter that has a direction is a right-to-left letter."""
    first = _FIRST_STRONG.search(text)
    return first is not None and regex.match(_RIGHT, first[0]) is not None


def isolated(text: str) -> str:
    """Return the text, inside Unicode isolates if it runs from right to left."""
    return f"\u2068{text}\u2069" if right_to_left(text) else text


def isolated_words(line: str) -> str:
    """Return a line of text, with each run of right-to-left words inside Unicode isolates."""
    return _RUN.sub(lambda run: run[0] if run[0][0] == "\u2068" else f"\u2068{run[0]}\u2069", line)


def unlimited_spec(spec: Any) -> Any:
    """Return a Vega-Lite spec without limits on the length of labels."""
    free = json.loads(re.sub(r'"(limit|labelLimit|titleLimit|subtitleLimit)": [\d.]+', r'"\1": 0', json.dumps(spec)))
    config = free.setdefault("config", {})
    for part in ("axis", "legend", "header"):
        config[part] = {**config.get(part, {}), "labelLimit": 0, "titleLimit": 0}
    return free
