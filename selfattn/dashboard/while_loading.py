"""The first example's pictures as they were stored, for a visitor who comes while torch and the encoder are being loaded.

They are checked against the live ones as soon as these are there, and a difference is said (docs/while_loading.py stores them).
"""

import json
import sys
from importlib.resources import files
from typing import Any

import streamlit as st

STORED = files("selfattn") / "data" / "while_loading.json"
PICTURES = ("which words, through which heads",)
CLOSE = 1e-3  # by how much numbers of other processors and libraries may differ: less than can be seen
NEXT = 3  # and by how much those that travel as rows of whole numbers: "44,16,-3"


def loaded() -> bool:
    """Whether this server has what the pages need: then they are as quick as what is stored."""
    return "selfattn.dashboard.pickers" in sys.modules


def show_stored_pictures() -> Any:
    """The stored pictures, in the place that comes back; None where the visitor asked for others, or needn't wait."""
    if loaded() or any(argument.startswith("--model") for argument in sys.argv):
        return None
    kept, asked = json.loads(STORED.read_text("utf-8")), st.query_params.to_dict()
    if not kept["weights"].startswith(asked.pop("digest", "")) or asked:
        return None
    place = st.empty()
    with place.container():
        st.subheader('Where does "bank" get its meaning?', anchor=False)
        for reading, spec in kept["pictures"][_look()]:
            st.text(reading, width="stretch")
            st.vega_lite_chart(spec, theme=None, width="content", alt=reading)
        st.caption("Stored pictures of the first example. The encoder is being loaded; then they are computed anew.")
    return place


def check_stored_pictures(place: Any, record: Any) -> None:
    """Say where a page's record isn't what was stored: other weights, other sentences, or another picture."""
    kept = json.loads(STORED.read_text("utf-8"))
    now = {**identity(record), "pictures": pictures(record)}
    if not _same(now, {**kept, "pictures": kept["pictures"][_look()]}):
        place.warning("The pictures that stood here while the encoder was loaded are not those that are computed now.")


def identity(record: Any) -> dict[str, Any]:
    """What the pictures are made of: the digest of the weights, and the sentences."""
    texts = {name: encoding.text for name, (_, encoding) in record.texts.items()}
    return {"weights": record.encoder.digest, "sentences": texts}


def pictures(record: Any) -> list:
    """Reading and spec of those of a page's figures that are stored."""
    drawn = [figure for name, figure in record.figures.items() if name.split(". ", 1)[1] in PICTURES]
    return [[figure.caption, json.loads(json.dumps(figure.draw(), default=float))] for figure in drawn]


def _look() -> str:
    return "dark" if st.context.theme.type == "dark" else "light"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= CLOSE
    if isinstance(one, str) and isinstance(other, str) and one != other:
        rows = [each.split(",") for each in (one, other)]
        try:
            numbers = [[float(part) if part else None for part in row] for row in rows]
        except ValueError:
            return False
        return len(rows[0]) == len(rows[1]) and all(
            a == b or (a is not None and b is not None and abs(a - b) <= NEXT) for a, b in zip(*numbers)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other
