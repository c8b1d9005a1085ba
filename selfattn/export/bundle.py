"""Write a page's figures, tables and weights as one ZIP."""

import io
import re
import zipfile

from selfattn.export import files, report
from selfattn.export.files import View


def zipped(view: View, scale: float, width: float | None) -> bytes:
    """Return the page's figures, tables and weights as a ZIP. scale, width: as for `files.png`."""
    parts: dict[str, str | bytes] = {"provenance.json": view.provenance.json(), "report.html": report.html(view, width)}
    for name, spec in view.pictures.items():
        parts[f"figures/{safe_name(name)}.png"] = files.png(spec, view.origin(name), scale, width)
        parts[f"figures/{safe_name(name)}.svg"] = files.svg(spec, view.origin(name), width)
    for name, (make, origin) in view.tables.items():
        parts[f"tables/{safe_name(name)}.csv"] = files.csv(make(), origin)
    if view.arrays:
        parts["weights.npz"] = files.npz({name: make() for name, make in view.arrays.items()}, view.provenance)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
            archive.writestr(name, data)
    return buffer.getvalue()


def safe_name(name: str) -> str:
    """Return a file name that every system accepts."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "unnamed"
