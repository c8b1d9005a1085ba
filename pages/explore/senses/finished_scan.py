"""The Senses page's source "a finished scan": the results of a corpus scan that was run on the server."""

from pathlib import Path

import pandas as pd
import streamlit as st

from pages.explore.senses.tables_and_reports import open_pair, pick_row, show_map
from selfattn import numbers
from selfattn.dashboard import session
from selfattn.dashboard.copy_as_python import folder_path, lines
from selfattn.dashboard.figures import say, show_error, this_page
from selfattn.dashboard.permissions import allowed_scan_folder, for_visitors
from selfattn.dashboard.pickers import segmented
from selfattn.dashboard.typed_text import show_rejected
from selfattn.encoders.capture import Head
from selfattn.encoders.errors import TextError
from selfattn.scan import Scan, ScanError, read_scan
from selfattn.settings import Settings
from selfattn.tidy_tables import named_heads


def show_scan(head: Head) -> None:
    """Show the summary of a finished scan, read from its folder on the server."""
    folder = st.text_input("Folder of the scan", key="scan", bind="query-params", placeholder="scan")
    st.caption("Made with `python -m selfattn.scan INPUT --output DIR --sources`, for tables of any size.")
    if not folder.strip():
        return
    opened = name = folder.strip()
    try:
        opened = str(allowed_scan_folder(name))
        scan, means, sources = _scan_once(Path(opened))
    except (ScanError, TextError) as error:
        show_error(str(error).replace(opened, name))  # hide the server's paths
        return
    if not scan.finished:
        st.warning(
            "This scan isn't finished: what follows is about the parts that are there.", icon=":material/warning:"
        )
    counted = f"{scan.n_rows:,} occurrences in {scan.n_texts:,} texts, {scan.n_rejected:,} rejected rows"
    say(f"{counted}; {for_visitors(scan.model, scan.model)}")
    if scan.n_rows == 0:
        return
    if sources is None:
        say(
            "What the word takes its meaning from isn't in this scan. Make a new one that has it: "
            "python -m selfattn.scan INPUT --output NEW_DIR --sources"
        )
    elif len(sources):
        st.markdown("**What the word takes its meaning from**")
        _show_sources(sources)
    table = named_heads(means)
    if str(head) not in set(table["name"]):
        head = scan.measured[0]
    measure = segmented("Mean of", ["special_share", "entropy", "top_weight"], key="scan_map")
    this_page().python = lines(
        "from selfattn import notebook\nfrom selfattn.scan import read_scan",
        f"scan = read_scan({folder_path(opened)!r})",
        f"notebook.scanned(scan, {measure!r}, chosen='{head}')",
    )
    most = table.loc[table[measure].idxmax()]
    reading = f"Largest mean {measure.replace('_', ' ')}: {most['name']} ({most[measure]:.2f}), over {scan.n_rows:,} occurrences."
    show_map(table, measure, "weights", head, reading, measure.replace("_", " "))
    st.dataframe(scan.frame(["row", "word", "start", "sense", "sentence"], limit=200), hide_index=True, height=240)
    if scan.n_rejected:
        show_rejected(scan.rejects().head(Settings.read().max_rows))


def _show_sources(sources: pd.DataFrame) -> None:
    """Show a word's sources by count; a selected row opens its sentence beside one with another source."""
    words = list(sources["word"].unique())
    word = st.selectbox("Word", words, key="scan_word", width=240) if len(words) > 1 else words[0]
    own = sources[sources["word"] == word].reset_index(drop=True)
    say(in_corpus(own))
    shown, number = own.drop(columns="word").head(Settings.read().max_rows), st.column_config.NumberColumn
    columns = {"share": number("share of all", format="percent"), "move": number("mean move", format="%.3f")}
    # The browser sees a widget's key, so hash the path: it is the operator's secret.
    read = hash(str(session.SCAN_READ.get()[0]))
    row = pick_row(shown.rename(columns={"source": "hidden word"}), f"sources {word} {read}", column_config=columns)
    if row is None:
        st.caption("Select a row to open its sentence in the other views, beside one of another hidden word.")
        return
    a, others = own["sentence"][row], own["sentence"].drop(index=row)
    others = others[others != a]
    if others.empty:
        say("In no other sentence does another word move it farthest, so there is none to open beside it.")
        return
    open_pair(a, others.iloc[0], "", word)


def _scan_once(folder: Path) -> tuple[Scan, pd.DataFrame, pd.DataFrame | None]:
    """Return the scan, its heads' means and its sources. Keep them until the folder changes: they read every part.

    Raises ScanError.
    """
    try:
        changed = [(folder / name).stat().st_mtime_ns for name in ("scan.json", "parts")]
    except (OSError, ValueError):
        changed = []  # read_scan raises the error
    kept = session.SCAN_READ.get()
    if not changed or kept[0] != (folder, changed):
        scan = read_scan(folder)
        kept = (folder, changed), scan, scan.heads(), scan.sources() if scan.has_sources else None
        session.SCAN_READ.set(kept)
    return kept[1:]


def in_corpus(sources: pd.DataFrame) -> str:
    """Name the words that one word takes its meaning from in a corpus. sources: its rows of `Scan.sources`, at least one."""
    first, n = sources.iloc[0], round(sources["n"].iloc[0] / sources["share"].iloc[0])
    beside = [f'"{row.source}" in {numbers.count(row.n)}' for row in sources[1:3].itertuples()]
    return (
        f'Of {numbers.count(n)} times "{first["word"]}", hiding "{first["source"]}" moves it farthest in '
        f"{', '.join([numbers.count(first['n']), *beside])}; then it moves {numbers.decimal(first['move'], 3)} on average (1 − "
        "cosine, which has no direction: it is about the vector, not the sense)."
    )
