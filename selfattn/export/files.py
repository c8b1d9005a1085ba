"""Write charts and data to files with their provenance."""

import io
import re
import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from html import escape
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import vl_convert as vlc
from PIL import Image
from PIL.PngImagePlugin import PngInfo, putchunk

from selfattn.charts.labels import REPLACEMENT, drawable, drawable_spec, unlimited_spec
from selfattn.charts.theme import FONT
from selfattn.charts.vega import Spec
from selfattn.export.provenance import Provenance
from selfattn.panel import Look, Panel
from selfattn.tidy_tables import csv_text

PARQUET = "application/vnd.apache.parquet"
UNITS_PER_INCH = 72  # SVG pixels
MAX_PIXELS = 64_000_000  # 256 MB while a PNG is drawn
LETTER = 5.9  # SVG pixels: average width of a letter, rounded up
NARROWEST = 260  # SVG pixels: least width of the text above a chart
NUMBER = re.compile(r"^\d+\. ")  # the number before a figure's name
SUBTITLE_LINES = 12  # at most so many lines of one sentence are written above a chart
painter: ContextVar[Any] = ContextVar("painter", default=vlc)  # vl-convert, or an object that draws in another process
NO_CHARACTER = "\U0001fffe"  # Unicode never assigns it, so no font has it
BLANK = {"Cc", "Cf", "Mn", "Zs"}  # categories of characters that a font may draw as nothing
CELL, COLUMNS = 32, 50  # of the font test: pixels per cell, cells per row
NAMED = 5  # a note names at most so many characters
PNG_HEADER = 8 + 25  # bytes: signature and IHDR chunk (PNG specification, 11.2.2)


@dataclass(frozen=True)
class View:
    """A page's panels, tables and weights, for download."""

    name: str  # file name without suffix
    provenance: Provenance
    panels: Mapping[str, Panel]  # by name, from numbered()
    more: Mapping[str, Callable[[], pd.DataFrame]] = field(default_factory=dict)  # tables that belong to no panel
    arrays: Mapping[str, Callable[[], Any]] = field(default_factory=dict)  # functions that return an array or tensor
    look: Look = field(default_factory=Look)  # of the pictures

    @property
    def pictures(self) -> dict[str, Spec]:
        return {name: panel.picture(self.look) for name, panel in self.panels.items()}

    @property
    def tables(self) -> dict[str, tuple[Callable[[], pd.DataFrame], Provenance]]:
        """For each table's name, a function that makes the table, and the table's provenance."""
        found = {}
        for name, panel in self.panels.items():
            for at, table in enumerate(panel.tables):
                title = table if at else name
                found[title] = partial(panel.tables.__getitem__, table), self._origin(title, panel)
        return found | {name: (make, self._origin(name)) for name, make in self.more.items()}

    def origin(self, name: str) -> Provenance:
        return self._origin(name, self.panels[name])

    def _origin(self, name: str, panel: Panel | None = None) -> Provenance:
        one_head, sentences = (panel.one_head, panel.sentences or None) if panel else (True, None)
        return self.provenance.of_figure(NUMBER.sub("", name), one_head=one_head, sentences=sentences)


def numbered(panels: Sequence[Panel]) -> dict[str, Panel]:
    """Return the panels by name, with a number before each name, such as "1. map"."""
    return {f"{number}. {panel.name}": panel for number, panel in enumerate(panels, start=1)}


def titled(spec: Spec, provenance: Provenance, width: float) -> Spec:
    """Return the spec with the provenance above the chart."""
    sentences = [line for name, text in provenance.sentences.items() for line in _lines(f"{name}: {text}", width)]
    note = _lines(provenance.note, width) if provenance.note else []
    subtitle = [*sentences, *_lines(provenance.line(), width), *note]
    text = _lines(provenance.title, width, LETTER * 1.4)
    return {**spec, "title": {"text": text, "subtitle": subtitle, "offset": 16, "anchor": "start"}}


def _lines(text: str, width: float, letter: float = LETTER) -> list[str]:
    fitting = int(max(width, NARROWEST) / (letter if text.isascii() else 1.8 * letter))  # other scripts are wider
    lines = textwrap.wrap(text, fitting) or [""]
    if len(lines) <= SUBTITLE_LINES:
        return lines
    more = sum(map(len, lines[SUBTITLE_LINES:]))
    return [*lines[:SUBTITLE_LINES], f"... and {more:,} more characters (see the file's metadata)"]


def svg(spec: Spec, provenance: Provenance, width: float | None = None, plain: bool = False) -> str:
    """Draw the chart as SVG, with the provenance above the chart and in <metadata>.

    width: in SVG pixels (None: as drawn)
    plain: leave out the text above the chart
    """
    head, rest = _drawn(spec, provenance, width, plain).split(">", 1)
    return f"{head}><metadata>{escape(drawable(provenance.json()))}</metadata>{rest}"


def _drawn(spec: Spec, provenance: Provenance, width: float | None, plain: bool) -> str:
    if not plain:
        plot = spec.get("width")  # a known width saves drawing the chart twice
        spec = titled(spec, provenance, plot if isinstance(plot, int | float) else svg_size(draw_svg(spec))[0])
    picture = draw_svg(spec)
    return picture if width is None else _resized(picture, width)


def png(
    spec: Spec, provenance: Provenance, scale: float = 2.0, width: float | None = None, plain: bool = False
) -> bytes:
    """Draw the chart as PNG, with the provenance above the chart and in the metadata.

    scale: PNG pixels per SVG pixel; the resolution is 72 * scale dots per inch
    width, plain: as for `svg`
    Characters without a font are drawn as U+FFFD, and the provenance names them.
    Raises ValueError for more than MAX_PIXELS pixels.
    """
    picture = _drawn(spec, provenance, width, plain)
    texts = ("".join(each.itertext()) for each in ElementTree.fromstring(picture).iterfind(".//{*}text"))
    if lacking := without_font("".join(texts)):
        provenance = replace(provenance, note=font_note(lacking))
        picture = _drawn(spec, provenance, width, plain).translate(dict.fromkeys(map(ord, lacking), REPLACEMENT))
    wide, high = (side * scale for side in svg_size(picture))
    if not 1 <= wide * high <= MAX_PIXELS:
        raise ValueError(
            f"This picture would have {wide:,.0f} x {high:,.0f} pixels, but the limit is {MAX_PIXELS:,} pixels. "
            "Choose a smaller width or scale, or the SVG."
        )
    raw = painter.get().svg_to_png(picture, scale=1.0, ppi=UNITS_PER_INCH * scale)
    notes = {"Title": provenance.title, "Software": "selfattn", "Source": provenance.link}
    return _with_texts(raw, {**notes, "provenance": provenance.json()})


def without_font(text: str) -> str:
    """Return the characters that no font on this machine has."""
    foreign = {each for each in drawable(text) if not each.isascii() and unicodedata.category(each) not in BLANK}
    return _undrawn("".join(sorted(foreign))) if foreign else ""


@lru_cache(256)  # most charts have the same characters
def _undrawn(foreign: str) -> str:
    cells = "".join(
        f'<svg x="{CELL * (at % COLUMNS)}" y="{CELL * (at // COLUMNS)}" width="{CELL}" height="{CELL}">'
        f'<text x="6" y="24" font-size="18" font-family="{FONT}">{each}</text></svg>'
        for at, each in enumerate([NO_CHARACTER, *foreign])
    )
    rows = len(foreign) // COLUMNS + 1
    sheet = f'<svg xmlns="http://www.w3.org/2000/svg" width="{CELL * COLUMNS}" height="{CELL * rows}">{cells}</svg>'
    pixels = np.asarray(Image.open(io.BytesIO(painter.get().svg_to_png(sheet, scale=1.0))))
    drawn = pixels.reshape(rows, CELL, COLUMNS, CELL, -1).swapaxes(1, 2).reshape(rows * COLUMNS, -1)
    return "".join(each for each, cell in zip(foreign, drawn[1:]) if (cell == drawn[0]).all())


def font_note(lacking: str) -> str:
    named = ", ".join(f"{each} (U+{ord(each):04X})" for each in lacking[:NAMED])
    more = f" and {len(lacking) - NAMED:,} more" if lacking[NAMED:] else ""
    return (
        f"selfattn found no font with {named}{more}, so a PNG shows {REPLACEMENT} instead. Choose the SVG, or install fonts "
        "where selfattn runs (Debian: apt-get install fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji)."
    )


def draw_svg(spec: Spec) -> str:
    """Draw a Vega-Lite spec as SVG, without fetching any address."""
    spec = drawable_spec(spec)
    try:
        return painter.get().vegalite_to_svg(spec, allowed_base_urls=[])
    except ValueError as error:
        if "deserialize text info" not in str(error):
            raise
        # Vega cut a label inside an emoji, and failed. Draw the labels uncut.
        return painter.get().vegalite_to_svg(unlimited_spec(spec), allowed_base_urls=[])


def svg_size(picture: str) -> tuple[float, float]:
    """Return the width and height of an SVG, in SVG pixels."""
    found = re.match(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"', picture)
    return float(found[1]), float(found[2])


def _resized(picture: str, width: float) -> str:
    wide, high = svg_size(picture)
    head, rest = picture.split(">", 1)
    size = f' width="{width:g}" height="{high * width / wide:g}"'
    return re.sub(r' width="[\d.]+" height="[\d.]+"', size, head, count=1) + ">" + rest


def _with_texts(raw: bytes, texts: Mapping[str, str]) -> bytes:
    """Insert texts as iTXt chunks after a PNG's header."""
    info = PngInfo()
    for keyword, text in texts.items():
        info.add_itxt(keyword, text.encode("utf-8", "backslashreplace"))
    notes = io.BytesIO()
    for kind, data, *_ in info.chunks:
        putchunk(notes, kind, data)
    return raw[:PNG_HEADER] + notes.getvalue() + raw[PNG_HEADER:]


def csv(frame: pd.DataFrame, provenance: Provenance) -> str:
    """Return a table as CSV, with added columns for layer, head, model, revision and error.

    error: the largest difference between the recomputed weights and the model's own

    Columns that the table already has stay unchanged. Texts that a spreadsheet would run as formulas are escaped.
    """
    origin = {
        "layer": provenance.layer,
        "head": provenance.head,
        "model": provenance.model,
        "revision": provenance.revision or "",
        "error": "" if provenance.error is None else provenance.error,
    }
    new = {name: value for name, value in origin.items() if value is not None and name not in frame}
    return csv_text(frame.assign(**new))


def parquet(frame: pd.DataFrame, provenance: Provenance) -> bytes:
    """Return a table as Parquet, with the provenance in the metadata."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({**table.schema.metadata, "provenance": provenance.json()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def npz(arrays: Mapping[str, Any], provenance: Provenance) -> bytes:
    """Return arrays as a compressed NPZ without pickles, with the provenance."""
    buffer, plain = io.BytesIO(), {name: np.asarray(array) for name, array in arrays.items()}
    np.savez_compressed(buffer, allow_pickle=False, **plain, provenance=np.array(provenance.json()))
    return buffer.getvalue()
