"""Show a stored figure until the encoder is loaded. `make demo` stores the figure."""

import json
import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import streamlit as st

from selfattn.dashboard.live import show_stored

STORED = files("selfattn") / "data" / "while_loading.json"
ROW = 60  # pixels: height of the live page's row of examples
SAME = 0.005  # shares that differ by less count as equal


def loaded() -> bool:
    """Return True if this server has imported torch and the pages' modules."""
    return "selfattn.dashboard.pickers" in sys.modules


def show_stored_figure() -> Any:
    """Show the figure in the file STORED, and return its container.

    Returns None if the link or the command line asks for another view.
    """
    if any(argument.startswith("--model") for argument in sys.argv):
        return None
    kept, asked = _kept(), st.query_params.to_dict()
    if not kept["content"].startswith(asked.pop("content", "")) or asked:
        return None
    place = st.empty()
    with place.container():
        st.title(f'Where does "{kept["data"]["word"]}" get its meaning?', anchor=False)
        st.space(ROW)
        show_stored("way", kept["data"])
        st.caption("This figure was computed earlier. Once the encoder is loaded, the page computes the figure again.")
    return place


def check_stored_figure(place: Any, record: Any) -> None:
    """Warn if the live figure differs from the stored figure."""
    now = next((panel.live.data for panel in record.panels if panel.live), None)
    if now is None or not _same(_kept()["data"], now):
        place.warning("The stored figure, shown while the encoder was loading, differs from the computed figure.")


def _kept() -> dict[str, Any]:
    return json.loads(STORED.read_text("utf-8"))


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if two figures have the same key and finding, and nearly the same `share` for each word."""
    if any(one[part] != other[part] for part in ("key", "finding")):
        return False
    shares = ([word["share"] or 0 for side in data["sides"] for word in side["words"]] for data in (one, other))
    return all(abs(share - its) < SAME for share, its in zip(*shares))
