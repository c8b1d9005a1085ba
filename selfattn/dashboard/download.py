"""Show the buttons "Copy link" and "Download"."""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.cache import cached_error
from selfattn.dashboard.encoder_picker import link_to
from selfattn.dashboard.figures import Page, current_look, say
from selfattn.dashboard.picture_process import drawn_elsewhere
from selfattn.dashboard.streamlit_internals import hold_file, stop_if_left, this_session, working_for
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.export import bundle, files, report
from selfattn.export.files import View
from selfattn.export.provenance import Provenance
from selfattn.panel import Look

WIDTHS = (300, 3000)  # units
SCALE = 2
SHARE = "Picture to share (1200 x 675)"
FOREIGN = re.compile("[^\0-\u04ff\u2000-\u22ff]")  # matches characters that a European font may lack
ENCODER = ("model", "other", "revision", "content", "digest")  # parameters of the address that name the encoder


def view_link(encoder: Encoder | None = None, /, **parameters: Any) -> str:
    """Return the page's address with this encoder and these parameters."""
    named = {} if encoder is None else link_to(encoder)
    # Leave out the parameters listed in ENCODER: they may name a different encoder.
    query = named | {key: value for key, value in parameters.items() if value not in (None, "") and key not in ENCODER}
    address = (st.context.url or "").split("?")[0]
    return f"{address}?{urlencode(query)}" if query else address


def file_button(label: str, make: Callable[[], str | bytes], file: str, kind: str, key: str) -> None:
    """Show a download button. The file is made after a click."""
    visitor = this_session()

    def made() -> bytes:
        # Streamlit calls this on another thread, without the visitor's session.
        with working_for(visitor), drawn_elsewhere(lambda: stop_if_left(visitor)):
            content = make()
        data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
        hold_file(data, kind, file)
        return data

    st.download_button(label, made, file, kind, on_click="ignore", key=key)


def _warn_of_missing_fonts(*drawn: Any) -> None:
    """Warn of characters that no font on this machine has."""
    foreign = "".join(sorted({*FOREIGN.findall(json.dumps(drawn, ensure_ascii=False, default=str))}))
    visitor = this_session()
    with drawn_elsewhere(lambda: stop_if_left(visitor)):
        lacking = files.without_font(foreign)
    if lacking:
        say(files.font_note(lacking))


def show_download(page: Page) -> None:
    """Show the buttons "Copy link" and "Download" beside the heading."""
    if page.links is None or not (page.panels or page.tables):
        return
    with page.links:
        # The script in browser_history.py copies the link.
        st.button("Copy link", key="copy_link", icon=":material/link:", type="tertiary")
        opened = st.popover(
            "Download", icon=":material/download:", key=session.DOWNLOAD, on_change="rerun", type="tertiary"
        )
    if not opened.open:
        return
    view = _view(page)
    with opened:
        name = st.selectbox("Figure", list(view.panels), key="download_figure")
        panel = view.panels[name]
        say(panel.finding or panel.alt)
        left, right = st.columns(2)
        width = left.number_input("Width", *WIDTHS, 1200, step=100, key="download_width")
        with right.container(height="stretch", vertical_alignment="bottom"):
            plain = st.toggle(
                "Plain",
                key="download_plain",
                help="A white background and no text above the figure, for print and slides.",
            )
        origin, look = view.origin(name), Look() if plain else view.look
        _show_buttons(
            bundle.safe_name(f"selfattn {origin.title}"),
            {
                "PNG": ("png", "image/png", lambda: files.png(panel.picture(look), origin, SCALE, width, plain)),
                "SVG": ("svg", "image/svg+xml", lambda: files.svg(panel.picture(look), origin, width, plain)),
                "CSV": ("csv", "text/csv", lambda: files.csv(panel.table, origin)),
                "Parquet": ("parquet", files.PARQUET, lambda: files.parquet(panel.table, origin)),
            },
        )
        _warn_of_missing_fonts(panel.picture(look), origin.title, origin.sentences)
        if share := panel.share:
            shown = view.provenance.of_figure("picture to share", one_head=False, sentences=("A", "B"))
            draw = lambda: files.png(share(Look()), shown, 1, plain=True)  # noqa: E731
            file_button(SHARE, draw, f"{view.name}-share.png", "image/png", "download_share")
        if st.toggle("Show the figure's numbers as a table", key="download_numbers"):
            st.dataframe(panel.table, hide_index=True, height=260)
        st.markdown("**The whole page**")
        _show_buttons(view.name, _whole(view, width))
        if page.python:
            st.text("Copy as Python: code that draws this figure in a notebook")
            st.code(page.python, language="python", wrap_lines=True)


def _whole(view: View, width: int) -> dict[str, tuple[str, str, Callable[[], str | bytes]]]:
    def weights() -> bytes:
        return files.npz({name: make() for name, make in view.arrays.items()}, view.provenance)

    arrays = {"Weights (NPZ)": ("npz", "application/octet-stream", weights)} if view.arrays else {}
    return arrays | {
        "Everything (ZIP)": ("zip", "application/zip", lambda: bundle.zipped(view, SCALE, width)),
        "Report (HTML)": ("html", "text/html", lambda: report.html(view, width)),
    }


def _show_buttons(name: str, makers: Mapping[str, tuple[str, str, Callable[[], str | bytes]]]) -> None:
    with st.container(horizontal=True, gap="small"):
        for label, (suffix, kind, make) in makers.items():
            file_button(label, make, f"{name}.{suffix}", kind, f"download_{suffix}")


def _view(page: Page) -> View:
    return View(
        name=bundle.safe_name(f"selfattn-{page.name}"),
        provenance=_provenance(page, view_link(getattr(page, "encoder", None), **dict(st.query_params))),
        panels=files.numbered(page.panels),
        more=page.tables,
        arrays=_weights(page),
        look=current_look(),
    )


def _provenance(page: Page, link: str) -> Provenance:
    if not hasattr(page, "encoder"):
        return Provenance(title=page.title, link=link)
    texts = _texts(page)
    if not hasattr(page, "head"):
        return Provenance.of(page.encoder, page.title, texts, link=link)
    title, (layer, head), error = f"{page.title}, {page.head}", page.head, None
    if page.encoder.recomputable and texts:
        error = max(cached_error(page.encoder, encoding.text, page.head) for encoding in texts.values())
    return Provenance.of(page.encoder, title, texts, layer=layer, head=head, error=error, link=link)


def _texts(page: Page) -> dict[str, Encoding]:
    first = getattr(page, "encoder", None)
    return {name: encoding for name, (encoder, encoding) in page.texts.items() if encoder is first}


def _weights(page: Page) -> dict[str, Callable[[], Any]]:
    """Return, for each sentence, a function that computes the chosen head's attention weights (n, n)."""
    if not hasattr(page, "head"):
        return {}
    return {name: partial(encoding.weights, *page.head) for name, encoding in _texts(page).items()}
