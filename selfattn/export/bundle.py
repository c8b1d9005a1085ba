"""A whole view as one ZIP: figures, tables, arrays, a report, a README, and the provenance of it all as JSON."""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from selfattn.export import files, report
from selfattn.export.files import View


def zipped(view: View, scale: float = 2.0, width: float | None = None) -> bytes:
    """The view as a ZIP; PNGs with `scale` pixels a unit, pictures `width` units wide (None: as drawn)."""
    parts = dict(_parts(view, scale, width))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"README.txt": _readme(view, parts), **parts}.items():
            data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
            archive.writestr(name, data)
    return buffer.getvalue()


def _parts(view: View, scale: float, width: float | None) -> Iterator[tuple[str, str | bytes]]:
    drawn: dict[str, dict[str, Any]] = {name: spec() for name, spec in view.figures.items()}
    frames = {name: make() for name, make in view.tables.items()}
    yield "provenance.json", view.provenance.json()
    for name, spec in drawn.items():
        yield f"figures/{safe_name(name)}.png", files.png(spec, view.origin(name), scale, width)
        yield f"figures/{safe_name(name)}.svg", files.svg(spec, view.origin(name), width)
    for name, frame in frames.items():
        yield f"tables/{safe_name(name)}.csv", files.csv(frame, view.origin(name))
    if view.arrays:
        yield "weights.npz", files.npz({name: make() for name, make in view.arrays.items()}, view.provenance)
    figures = {name: lambda spec=spec: spec for name, spec in drawn.items()}
    tables = {name: lambda frame=frame: frame for name, frame in frames.items()}
    yield "report.html", report.html(replace(view, figures=figures, tables=tables), width)


def safe_name(name: str) -> str:
    """A name that is a plain file name on every system: letters, digits, "-" and "_"."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "unnamed"


def _readme(view: View, names: Iterable[str]) -> str:
    sentences = "\n".join(f"  {name}: {text}" for name, text in view.provenance.sentences.items())
    captions = "\n".join(f"  {name}: {caption}" for name, caption in view.captions.items())
    weights = 'weights.npz opens with numpy.load; its entry "provenance" is the same JSON as provenance.json. '
    return f"""{view.provenance.title}

{view.provenance.line()}

Sentences
{sentences or "  (none: this view computes with numbers of its own)"}

What is to be seen
{captions or "  (no caption)"}

Files
{chr(10).join(f"  {name}" for name in names)}

Rows are queries (the token that attends), columns keys (the token attended to); positions, layers and heads count from 0.
{weights if view.arrays else ""}report.html opens in any browser, offline. The page can be opened again at
  {view.provenance.link}

Attention is not explanation: these are the weights that the model used, not why it decides.
"""
