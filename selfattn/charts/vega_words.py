"""Words of a visitor's sentence inside a Vega expression, as in an axis's `labelExpr`.

Vega 6 takes a string constant that is spelled "if", or like a property that every JavaScript object has ("constructor",
"toString"), for a name and then draws nothing at all. Such words are spelled letter by letter.
"""

import json
from collections.abc import Iterable

TAKEN_FOR_NAMES = frozenset(
    [
        "if", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString",
        "valueOf", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
    ]
)  # fmt: skip


def expression(words: Iterable[str]) -> str:
    """The words as an array in a Vega expression: ["The","bank"]."""
    return f"[{','.join(map(_constant, words))}]"


def _constant(word: str) -> str:
    return "+".join(map(json.dumps, word)) if word in TAKEN_FOR_NAMES else json.dumps(word)
