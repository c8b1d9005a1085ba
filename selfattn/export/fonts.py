"""Which characters the fonts of this machine can't draw, and the Debian package that has them.

A character without a glyph is drawn as the same box as any other without one. So the question is settled by drawing:
each character alone, compared with one that no font has. (Built-in fonts, installed ones and ones registered with
vl-convert all count, and no list of fonts is needed.)
"""

import io
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from html import escape

import vl_convert as vlc
from PIL import Image

from selfattn.charts.drawable import drawable
from selfattn.charts.theme import FONT

NOWHERE = "\U0010fffd"  # for private use: no font has it
CELL = 24  # pixels
BUILT_IN = 0x250  # Latin letters and their accents below this are in the built-in font

CJK = "Debian package: fonts-noto-cjk"
EMOJI = "Debian package: fonts-noto-color-emoji"
OTHERS = "Debian package: fonts-noto-core"
NO_PACKAGE = "no font has them: for private use, or not assigned"
FIRST_WORDS = {  # of a character's Unicode name
    CJK: ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH"),
    EMOJI: ("EMOJI", "REGIONAL INDICATOR"),
}


def notice(tokens: Iterable[str]) -> str:
    """What to tell whoever takes a picture with these tokens away: "" where all can be drawn."""
    lost: dict[str, list[str]] = {}
    for token in dict.fromkeys(tokens):
        for package in {package_for(character) for character in undrawable(token)}:
            lost.setdefault(package, []).append(token)
    lines = [f"{', '.join(held)} ({package})" for package, held in sorted(lost.items())]
    if not lines:
        return ""
    return "This server's fonts have no glyphs for these tokens; PNG shows boxes for them:\n" + "\n".join(lines)


def undrawable(text: str) -> set[str]:
    """The characters of a text that this machine's fonts have no glyph for."""
    return {character for character in drawable(text) if ord(character) >= BUILT_IN and not _drawn(character)}


def package_for(character: str) -> str:
    """The Debian package that has a glyph for a character, in words."""
    name = unicodedata.name(character, "")
    if not name:
        return NO_PACKAGE
    for package, beginnings in FIRST_WORDS.items():
        if name.startswith(beginnings):
            return package
    if unicodedata.category(character) == "So" and ord(character) >= 0x1F000:
        return EMOJI
    return OTHERS


@lru_cache(maxsize=20_000)
def _drawn(character: str) -> bool:
    return _picture(character) != _box()


@lru_cache(maxsize=1)
def _box() -> bytes:
    return _picture(NOWHERE)


def _picture(character: str) -> bytes:
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{CELL}" height="{CELL}">'
        f'<text x="4" y="18" font-family="{FONT}" font-size="14">{escape(character)}</text></svg>'
    )
    with Image.open(io.BytesIO(vlc.svg_to_png(drawing))) as picture:
        return picture.convert("RGBA").tobytes()
