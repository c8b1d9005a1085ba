"""Show a finished scan on the page "Senses"."""

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from pages.explore.senses.reports import open_pair
from selfattn.dashboard.cache import cached
from selfattn.dashboard.copy_as_python import folder_path, lines
from selfattn.dashboard.figures import say, show_error, show_panel, this_page
from selfattn.dashboard.permissions import allowed_scan_folder, for_visitors
from selfattn.dashboard.pickers import segmented
from selfattn.dashboard.typed_text import show_rejected
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.errors import TextError, brief
from selfattn.scan import Scan, ScanError, read_scan
from selfattn.settings import Settings
from selfattn.tidy_tables import named_heads
from selfattn.views import scanned as views


def show_scan(encoder: Encoder, head: Head) -> None:
    folder = st.text_input("Folder of the scan", key="scan", bind="query-params", placeholder="scan")
    st.caption("To scan a table, run `python -m selfattn.scan INPUT --output DIR --sources`.")
    if not folder.strip():
        return
    opened = name = folder.strip()
    try:
        opened = str(allowed_scan_folder(name))
        scan, means, sources, rows, rejected = _read(encoder, Path(opened))
    except (ScanError, TextError) as error:
        show_error(str(error).replace(opened, name))  # to hide the server's paths
        return
    if not scan.finished:
        st.warning("This scan isn't finished. The results cover only the finished parts.", icon=":material/warning:")
    counted = (
        f"{scan.n_rows:,} occurrences of words in {scan.n_texts:,} texts were measured, and "
        f"{scan.n_rejected:,} rows were rejected"
    )
    say(f"{counted}. Encoder: {for_visitors(scan.model, scan.model)}")
    if scan.n_rows == 0:
        return
    if sources is None:
        say(
            "This scan was made without --sources, so it has no results about hidden words. To get these results, run "
            "python -m selfattn.scan INPUT --output NEW_DIR --sources"
        )
    elif len(sources):
        _show_sources(encoder, sources)
    if str(head) not in set(named_heads(means)["name"]):
        head = scan.measured[0]
    measure = segmented("Mean of", views.MEASURES, key="scan_map")
    this_page().python = lines(
        "from selfattn import notebook\nfrom selfattn.scan import read_scan\nfrom selfattn.views.scanned import means",
        f"scan = read_scan({folder_path(opened)!r})",
        f"notebook.chart(means(scan.heads(), {measure!r}, '{head}', scan.n_rows))",
    )
    show_panel(views.means(means, measure, head, scan.n_rows))
    st.dataframe(rows, hide_index=True, height=240)
    show_rejected(rejected)


def _show_sources(encoder: Encoder, sources: pd.DataFrame) -> None:
    words = list(sources["word"].unique())
    word = st.selectbox("Word", words, key="scan_word", width=240) if len(words) > 1 else words[0]
    table = sources[sources["word"] == word].reset_index(drop=True)
    show_panel(views.sources(encoder, table), choose=partial(_open, table, word), states=("open",))


def _open(table: pd.DataFrame, word: str, state: str, at: Any) -> None:
    """Open the sentence of row `at` as A, and a different sentence as B."""
    if isinstance(at, int) and 0 <= at < len(table) and (pair := views.opened(table, at)):
        open_pair(*pair, "", word)


def _read(encoder: Encoder, folder: Path) -> tuple[Scan, pd.DataFrame, pd.DataFrame | None, pd.DataFrame, pd.DataFrame]:
    try:
        changed = tuple((folder / name).stat().st_mtime_ns for name in ("scan.json", "parts"))
    except (OSError, ValueError):
        changed = ()  # read_scan will raise the error

    def make(_: Progress) -> tuple[Scan, pd.DataFrame, pd.DataFrame | None, pd.DataFrame, pd.DataFrame]:
        scan = read_scan(folder)
        try:
            first = scan.frame(["row", "word", "start", "sense", "sentence"], limit=200)
            rejected = scan.rejects().head(Settings.read().max_rows)
            return scan, scan.heads(), scan.sources() if scan.has_sources else None, first, rejected
        except Exception as error:  # a damaged scan can raise any error
            known = isinstance(error, ScanError)
            raise error if known else ScanError(f"{folder} can't be read: {brief(error)}. Make a new scan.") from None

    return cached(encoder, ("scan", str(folder), changed), make)
