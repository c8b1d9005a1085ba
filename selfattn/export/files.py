"""Charts and data to files, each with its provenance: PNG, SVG, CSV, NPZ."""

import io
import json
import platform
import re
import struct
import textwrap
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import vl_convert as vlc

from selfattn.charts.drawable import drawable, drawable_spec, unlimited_spec
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding

PARQUET = "application/vnd.apache.parquet"
UNITS_PER_INCH = 72
MAX_PIXELS = 64_000_000  # of a PNG: 256 MB while it is drawn
SUBTITLE_LINES = 12  # of one sentence, beneath a figure's title


@dataclass(frozen=True)
class Provenance:
    """Where a figure or a table comes from: enough to make it again."""

    title: str
    model: str
    revision: str | None
    digest: str
    device: str
    dtype: str
    sentences: dict[str, str]  # A: text, B: text
    tokens: dict[str, list[str]]
    layer: int | None  # None for what shows all layers
    head: int | None  # None for what shows all heads
    error: float | None  # largest difference between the kernel's weights and the model's own, where one was measured
    link: str
    recomputed: bool = True  # False: the model's own weights are shown as it reports them
    versions: dict[str, str] = field(default_factory=lambda: dict(versions()))

    @classmethod
    def of(
        cls,
        encoder: Encoder,
        title: str,
        encodings: Mapping[str, Encoding],
        *,
        layer: int | None = None,
        head: int | None = None,
        error: float | None = None,
        link: str = "",
    ) -> "Provenance":
        """The provenance of something made from these encoded sentences ("A", "B" ...) by this encoder."""
        return cls(
            title=title,
            model=encoder.name,
            revision=encoder.revision,
            digest=encoder.digest,
            device=encoder.device,
            dtype=encoder.dtype,
            sentences={name: encoding.text for name, encoding in encodings.items()},
            tokens={name: list(encoding.tokens) for name, encoding in encodings.items()},
            layer=layer,
            head=head,
            error=error,
            link=link,
            recomputed=encoder.recomputable,
        )

    @classmethod
    def of_kernel(cls, title: str, link: str = "") -> "Provenance":
        """The provenance of what the kernel, or a small system of the lessons, computed without a pretrained encoder."""
        return cls(title, "", None, "", "cpu", "", {}, {}, None, None, None, link)

    def line(self) -> str:
        """One line for the foot of a figure."""
        if not self.model:
            return "computed by selfattn from scratch, without a pretrained encoder"
        revision = f" @ {self.revision[:7]}" if self.revision else ""
        place = [f"{what} {i}" for what, i in (("layer", self.layer), ("head", self.head)) if i is not None]
        origin = ", ".join([self.model + revision, *place, f"{self.dtype} on {self.device}"])
        return f"{origin}; {said}" if (said := self.said_error()) else origin

    def said_error(self) -> str:
        """How far the kernel is from the model, in words; "" where nothing was measured."""
        if not self.recomputed:
            return "shown, not recomputed"
        return "" if self.error is None else f"largest difference to the model's own {self.error:.0e}"

    def json(self) -> str:
        """Everything, as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)


@dataclass(frozen=True)
class View:
    """Everything that a view shows and a visitor can take away. Each part is made when it is called, not before."""

    name: str  # the file name's stem
    provenance: Provenance
    figures: Mapping[str, Callable[[], dict[str, Any]]]  # name: Vega-Lite dict
    tables: Mapping[str, Callable[[], pd.DataFrame]]  # name: tidy frame
    arrays: Mapping[str, Callable[[], Any]] = field(default_factory=dict)  # name: array or tensor of any shape
    readings: Mapping[str, str] = field(default_factory=dict)  # figure's name: what is to be seen in it, in words


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """The versions of what makes the numbers and the pictures."""
    found = [("python", platform.python_version())]
    for package in ("selfattn", "torch", "transformers", "altair", "vl-convert-python"):
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "from source"))
    return tuple(found)


def titled(spec: dict[str, Any], provenance: Provenance) -> dict[str, Any]:
    """The spec with the provenance's title above it and its line beneath the title."""
    subtitle = [line for name, text in provenance.sentences.items() for line in _lines(f"{name}: {text}")]
    title = {"text": provenance.title, "subtitle": [*subtitle, provenance.line()], "offset": 16, "anchor": "start"}
    return {**spec, "title": title}


def _lines(text: str) -> list[str]:
    lines = textwrap.wrap(text, 110 if text.isascii() else 60) or [""]  # other scripts are wider, up to twice
    if len(lines) <= SUBTITLE_LINES:
        return lines
    more = sum(map(len, lines[SUBTITLE_LINES:]))
    return [*lines[:SUBTITLE_LINES], f"... and {more:,} more characters: the file's metadata has them all"]


def svg(spec: dict[str, Any], provenance: Provenance, width: float | None = None) -> str:
    """The chart as SVG, `width` units wide (None: as drawn), with the provenance in the picture and as <metadata>."""
    drawn = draw_svg(titled(spec, provenance))
    if width is not None:
        drawn = _resized(drawn, width)
    head, rest = drawn.split(">", 1)
    return f"{head}><metadata>{escape(drawable(provenance.json()))}</metadata>{rest}"


def png(spec: dict[str, Any], provenance: Provenance, scale: float = 2.0, width: float | None = None) -> bytes:
    """The chart as PNG, `scale` pixels a unit and `width` units wide (None: as drawn), provenance in it and its metadata.

    The resolution tag is 72 * scale dots an inch, so a larger scale prints finer, not larger. Raises ValueError where
    the picture would have more than MAX_PIXELS pixels.
    """
    picture = svg(spec, provenance, width)
    wide, high = (side * scale for side in svg_size(picture))
    if not 1 <= wide * high <= MAX_PIXELS:
        raise ValueError(
            f"This picture would have {wide:,.0f} x {high:,.0f} pixels; at most {MAX_PIXELS:,} in all can be drawn. "
            "Choose a smaller width or scale, or take the SVG."
        )
    raw = vlc.svg_to_png(picture, scale=1.0, ppi=UNITS_PER_INCH * scale)
    notes = {"Title": provenance.title, "Software": "selfattn", "Source": provenance.link}
    return _with_texts(raw, {**notes, "provenance": provenance.json()})


def draw_svg(spec: dict[str, Any]) -> str:
    """A Vega-Lite dict as SVG; fetches nothing, whatever addresses the spec holds."""
    spec = drawable_spec(spec)
    try:
        return vlc.vegalite_to_svg(spec, allowed_base_urls=[])
    except ValueError as error:
        if "deserialize text info" not in str(error):
            raise
        # Where Vega shortens a label between the two halves of an emoji, vl-convert can't read what is left.
        return vlc.vegalite_to_svg(unlimited_spec(spec), allowed_base_urls=[])


def svg_size(picture: str) -> tuple[float, float]:
    """The width and height of an SVG that we drew."""
    found = re.match(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"', picture)
    return float(found[1]), float(found[2])


def _resized(picture: str, width: float) -> str:
    wide, high = svg_size(picture)
    head, rest = picture.split(">", 1)
    size = f' width="{width:g}" height="{high * width / wide:g}"'
    return re.sub(r' width="[\d.]+" height="[\d.]+"', size, head, count=1) + ">" + rest


def _with_texts(raw: bytes, texts: Mapping[str, str]) -> bytes:
    """A PNG with texts in iTXt chunks right after its header; the picture itself needn't be decoded for it."""
    header = 8 + 25  # the signature and the IHDR chunk (PNG specification, 11.2.2)
    chunks = b"".join(
        _chunk(b"iTXt", keyword.encode("latin-1") + b"\0\0\0\0\0" + text.encode("utf-8", "backslashreplace"))
        for keyword, text in texts.items()
    )
    return raw[:header] + chunks + raw[header:]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def csv(frame: pd.DataFrame, provenance: Provenance) -> str:
    """A tidy table as CSV; model, revision, layer, head and error stand in columns of their own.

    Columns that the table has already (a table of all heads has layer and head) are left as they are.
    """
    origin = {
        "layer": provenance.layer,
        "head": provenance.head,
        "model": provenance.model,
        "revision": provenance.revision or "",
        "error": "" if provenance.error is None else provenance.error,
    }
    new = {name: value for name, value in origin.items() if value is not None and name not in frame}
    return frame.assign(**new).to_csv(index=False)


def parquet(frame: pd.DataFrame, provenance: Provenance | None = None) -> bytes:
    """A tidy table as Parquet; with a provenance, its JSON stands in the file's metadata under "provenance"."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if provenance is not None:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), "provenance": provenance.json()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def npz(arrays: Mapping[str, Any], provenance: Provenance) -> bytes:
    """Arrays or tensors as a compressed NPZ, the provenance as JSON under "provenance". No pickles: numpy.load reads it."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        **{name: np.asarray(array) for name, array in arrays.items()},
        provenance=np.array(provenance.json()),
    )
    return buffer.getvalue()
