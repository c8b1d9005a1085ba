"""One button a page to take away what it shows: figures, their numbers, the weights, the whole in one file, and a link."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from selfattn.charts.drawn import drawn_frame
from selfattn.dashboard.encoder_picker import cached_error
from selfattn.dashboard.held_files import on_demand
from selfattn.dashboard.shown import Shown, end
from selfattn.encoders.encoder import Encoder
from selfattn.export import bundle, fonts, report
from selfattn.export import files as export
from selfattn.export.files import Provenance, View

WIDTHS = (300, 3000)  # units; a PNG has `scale` times as many pixels


def view_link(encoder: Encoder | None = None, /, **parameters: Any) -> str:
    """The address that opens exactly this view, the encoder included."""
    query = {} if encoder is None else {"model": encoder.name}
    query |= {key: value for key, value in parameters.items() if value not in (None, "")}
    address = (st.context.url or "").split("?")[0]
    return f"{address}?{urlencode(query)}" if query else address


def show_take_away() -> None:
    """The popover at the right of the page's heading. Nothing is rendered or sent before it is asked for."""
    shown = end()
    if shown.place is None or not (shown.figures or shown.view):
        return
    with shown.place:
        opened = st.popover("Take away", icon=":material/download:", key="take_away", on_change="rerun")
    if not opened.open:
        return
    view = _view(shown)
    with opened:
        name = st.selectbox("Figure", list(view.figures), key="take_figure")
        st.text(view.readings.get(name, name), width="stretch")
        left, right = st.columns(2)
        low, high = WIDTHS
        width = left.number_input("Width", low, high, 1200, step=100, key="take_width")
        scale = right.selectbox("Pixels a unit", [1, 2, 3, 4], 1, key="take_scale", help="PNG only: 2 prints finely.")
        table = view.tables.get(name) or (lambda: drawn_frame(view.figures[name]()))
        _show_buttons(
            view.name,
            {
                "PNG": ("png", "image/png", lambda: export.png(view.figures[name](), view.provenance, scale, width)),
                "SVG": ("svg", "image/svg+xml", lambda: export.svg(view.figures[name](), view.provenance, width)),
                "CSV": ("csv", "text/csv", lambda: export.csv(table(), view.provenance)),
                "Parquet": ("parquet", export.PARQUET, lambda: export.parquet(table(), view.provenance)),
            },
        )
        if st.toggle("Its numbers as a table", key="take_numbers"):
            st.dataframe(table(), hide_index=True, height=260)
        st.markdown("**The whole page**")
        _show_buttons(view.name, _whole(view, width, scale))
        if said := fonts.notice(_spelled(view.provenance)):
            st.text(said, width="stretch")
        # A lesson's numbers are not in its link; what an encoder shows is.
        st.text("A link that reopens this view:" if shown.encoder else "A link to this page:")
        st.code(view.provenance.link, language=None, wrap_lines=True)


def _whole(view: View, width: int, scale: int) -> dict[str, tuple[str, str, Callable[[], str | bytes]]]:
    makers = {
        "Weights (NPZ)": ("npz", "application/octet-stream", lambda: export.npz(_made(view.arrays), view.provenance)),
        "Everything (ZIP)": ("zip", "application/zip", lambda: bundle.zipped(view, scale, width)),
        "Report (HTML)": ("html", "text/html", lambda: report.html(view, width)),
    }
    if not view.arrays:
        del makers["Weights (NPZ)"]
    return makers


def _show_buttons(name: str, makers: Mapping[str, tuple[str, str, Callable[[], str | bytes]]]) -> None:
    with st.container(horizontal=True, gap="small"):
        for label, (suffix, kind, make) in makers.items():
            file = f"{name}.{suffix}"
            st.download_button(label, on_demand(make, kind, file), file, kind, on_click="ignore", key=f"take_{suffix}")


def _view(shown: Shown) -> View:
    """The page's own view and, after it, every figure that it has shown."""
    figures = {name: lambda figure=figure: figure.spec for name, figure in shown.figures.items()}
    tables = {name: figure.table for name, figure in shown.figures.items()}
    readings = {name: figure.reading for name, figure in shown.figures.items()}
    if shown.view is not None:
        own = shown.view
        arrays = own.arrays or _weights(shown)
        return View(
            own.name, own.provenance, {**own.figures, **figures}, {**own.tables, **tables}, arrays,
            {**readings, **own.readings},
        )  # fmt: skip
    name = bundle.safe_name(f"selfattn-{shown.title}").lower()
    return View(name, _provenance(shown), figures, tables, _weights(shown), readings)


def _provenance(shown: Shown) -> Provenance:
    title, link = shown.title, view_link(shown.encoder, **dict(st.query_params))
    if shown.encoder is None:
        return Provenance.of_kernel(title, link)
    texts = _texts(shown)
    layer, head = shown.head or (None, None)
    error = None
    if shown.head is not None:
        title = f"{title}, {shown.head}"
        if shown.encoder.recomputable and texts:
            error = max(cached_error(shown.encoder, encoding.text, layer, head) for encoding in texts.values())
    return Provenance.of(shown.encoder, title, texts, layer=layer, head=head, error=error, link=link)


def _texts(shown: Shown) -> dict[str, Any]:
    """The sentences that the page's own encoder has run; those of a second encoder are in its figures only."""
    return {name: encoding for name, (encoder, encoding) in shown.texts.items() if encoder is shown.encoder}


def _weights(shown: Shown) -> dict[str, Callable[[], Any]]:
    """The chosen head's whole map of each sentence."""
    if shown.head is None:
        return {}
    layer, head = shown.head
    return {name: lambda encoding=encoding: encoding.weights(layer, head) for name, encoding in _texts(shown).items()}


def _made(arrays: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    return {name: make() for name, make in arrays.items()}


def _spelled(provenance: Provenance) -> list[str]:
    """What a figure spells out: tokens, and words as they stand in the sentences."""
    words = [word for text in provenance.sentences.values() for word in text.split()]
    return [token for tokens in provenance.tokens.values() for token in tokens] + words
