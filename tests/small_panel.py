"""Make small Panel and View objects for tests."""

import pandas as pd

from selfattn.charts.vega import Spec
from selfattn.export.files import View
from selfattn.export.provenance import Provenance
from selfattn.panel import Panel


def panel_of(spec: Spec, table: pd.DataFrame | None = None, *, name: str = "figure", **parts) -> Panel:
    words = {"finding": "A finding.", "alt": "A picture."} | parts
    tables = {"its numbers": pd.DataFrame({"x": [1]}) if table is None else table}
    return Panel(name=name, picture=lambda look: spec, tables=tables, **words)


def view_of(origin: Provenance, *panels: Panel, **parts) -> View:
    return View("name", origin, {panel.name: panel for panel in panels}, **parts)
