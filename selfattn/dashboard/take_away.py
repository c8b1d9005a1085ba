"""One button to take a view away: figures, numbers, the whole of it in one file, and a link that reopens it."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from selfattn import bundle, export, fonts, report
from selfattn.dashboard.downloads import on_demand
from selfattn.encoder import Encoder
from selfattn.export import Provenance, View

WIDTHS = (300, 3000)  # units; a PNG has `scale` times as many pixels


def view_link(encoder: Encoder, **parameters: Any) -> str:
    """The address that opens exactly this view, the encoder included."""
    query = {"model": encoder.name, **{key: value for key, value in parameters.items() if value not in (None, "")}}
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(query)}"


def show_take_away(
    name: str,
    spec: Callable[[], dict[str, Any]],
    frame: Callable[[], pd.DataFrame],
    provenance: Provenance,
    *,
    figures: Mapping[str, Callable[[], dict[str, Any]]] | None = None,
    tables: Mapping[str, Callable[[], pd.DataFrame]] | None = None,
    arrays: Mapping[str, Callable[[], Any]] | None = None,
    readings: Mapping[str, str] | None = None,
) -> None:
    """The popover with the downloads. Nothing is rendered before it is asked for.

    name: the files' stem. spec, frame: the figure behind PNG and SVG, the table behind CSV. figures, tables: what the
    ZIP and the report hold beside these two ("figure" and "table" there). arrays: what the NPZ holds, e.g. the weights.
    readings: a figure's reading, by its name.
    """
    view = View(
        name,
        provenance,
        {"figure": spec, **(figures or {})},
        {"table": frame, **(tables or {})},
        arrays or {},
        readings or {},
    )
    with st.popover("Take away", icon=":material/download:"):
        left, right = st.columns(2)
        low, high = WIDTHS
        width = left.number_input("Width", low, high, 1200, step=100, key="take_width")
        scale = right.selectbox("Pixels a unit", [1, 2, 3, 4], 1, key="take_scale", help="PNG only: 2 prints finely.")
        _show_buttons(view, width, scale)
        if said := fonts.notice(_spelled(provenance)):
            st.text(said, width="stretch")
        st.text("A link that reopens this view:")
        st.code(provenance.link, language=None, wrap_lines=True)


def _show_buttons(view: View, width: int, scale: int) -> None:
    origin = view.provenance
    makers = {
        "PNG": ("png", "image/png", lambda: export.png(view.figures["figure"](), origin, scale, width)),
        "SVG": ("svg", "image/svg+xml", lambda: export.svg(view.figures["figure"](), origin, width)),
        "CSV": ("csv", "text/csv", lambda: export.csv(view.tables["table"](), origin)),
        "NPZ": ("npz", "application/octet-stream", lambda: export.npz(_made(view.arrays), origin)),
        "Everything (ZIP)": ("zip", "application/zip", lambda: bundle.zipped(view, scale, width)),
        "Report (HTML)": ("html", "text/html", lambda: report.html(view, width)),
    }
    if not view.arrays:
        del makers["NPZ"]
    with st.container(horizontal=True, gap="small"):
        for label, (suffix, kind, make) in makers.items():
            file = f"{view.name}.{suffix}"
            st.download_button(label, on_demand(make, kind, file), file, kind, on_click="ignore", key=f"take_{suffix}")


def _made(arrays: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    return {name: make() for name, make in arrays.items()}


def _spelled(provenance: Provenance) -> list[str]:
    """What a figure spells out: tokens, and words as they stand in the sentences."""
    words = [word for text in provenance.sentences.values() for word in text.split()]
    return [token for tokens in provenance.tokens.values() for token in tokens] + words
