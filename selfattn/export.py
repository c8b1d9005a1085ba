"""Charts and data to files, each with its provenance: PNG, SVG, CSV."""

import io
import json
import platform
from dataclasses import asdict, dataclass, field
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd
import vl_convert as vlc
from PIL import Image
from PIL.PngImagePlugin import PngInfo

PPI = 144


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
    layer: int
    head: int
    error: float | None  # largest difference between the kernel's weights and the model's own; None where shown only
    link: str
    versions: dict[str, str] = field(default_factory=lambda: dict(versions()))

    def line(self) -> str:
        """One line for the foot of a figure."""
        revision = f" @ {self.revision[:7]}" if self.revision else ""
        error = (
            "shown, not recomputed" if self.error is None else f"largest difference to the model's own {self.error:.0e}"
        )
        return f"{self.model}{revision}, layer {self.layer}, head {self.head}, {self.dtype} on {self.device}; {error}"

    def json(self) -> str:
        """Everything, as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)


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
    subtitle = [*(f"{name}: {text}" for name, text in provenance.sentences.items()), provenance.line()]
    return {**spec, "title": {"text": provenance.title, "subtitle": subtitle, "offset": 16, "anchor": "start"}}


def png(spec: dict[str, Any], provenance: Provenance, scale: float = 2.0) -> bytes:
    """The chart as PNG, `scale` pixels a unit, with the provenance in the picture and in its metadata."""
    raw = vlc.vegalite_to_png(titled(spec, provenance), scale=scale, ppi=PPI, allowed_base_urls=[])
    notes = PngInfo()
    notes.add_itxt("Title", provenance.title)
    notes.add_itxt("Software", "selfattn")
    notes.add_itxt("Source", provenance.link)
    notes.add_itxt("provenance", provenance.json())
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(raw)) as picture:
        picture.save(buffer, format="PNG", pnginfo=notes, dpi=(PPI, PPI))
    return buffer.getvalue()


def svg(spec: dict[str, Any], provenance: Provenance) -> str:
    """The chart as SVG, with the provenance in the picture and as its <metadata>."""
    drawn = vlc.vegalite_to_svg(titled(spec, provenance), allowed_base_urls=[])
    head, rest = drawn.split(">", 1)
    return f"{head}><metadata>{escape(provenance.json())}</metadata>{rest}"


def csv(frame: pd.DataFrame, provenance: Provenance) -> str:
    """A tidy table as CSV; model, revision, layer, head and error stand in columns of their own."""
    return frame.assign(
        layer=provenance.layer,
        head=provenance.head,
        model=provenance.model,
        revision=provenance.revision or "",
        error="" if provenance.error is None else provenance.error,
    ).to_csv(index=False)
