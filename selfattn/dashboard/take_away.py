"""One button to take a view away: the figure as PNG and SVG, the numbers as CSV, and a link that reopens the view."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from selfattn import export
from selfattn.encoder import Encoder


def view_link(encoder: Encoder, **parameters: Any) -> str:
    """The address that opens exactly this view, the encoder included."""
    query = {"model": encoder.name, **{key: value for key, value in parameters.items() if value not in (None, "")}}
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(query)}"


def show_take_away(
    name: str, spec: Callable[[], dict], frame: Callable[[], pd.DataFrame], provenance: export.Provenance
) -> None:
    """The popover with the downloads. Nothing is rendered before it is asked for."""
    with st.popover("Take away", icon=":material/download:"):
        png, svg, csv = st.columns(3)
        options = {"on_click": "ignore", "width": "stretch"}
        png.download_button("PNG", lambda: export.png(spec(), provenance), f"{name}.png", "image/png", **options)
        svg.download_button("SVG", lambda: export.svg(spec(), provenance), f"{name}.svg", "image/svg+xml", **options)
        csv.download_button("CSV", lambda: export.csv(frame(), provenance), f"{name}.csv", "text/csv", **options)
        st.text("A link that reopens this view:")
        st.code(provenance.link, language=None, wrap_lines=True)
