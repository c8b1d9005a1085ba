"""The first example's pictures as they were stored, for a visitor who comes while torch and the encoder are being loaded.

What they are of, and say, is checked as soon as the live ones are there, and a difference is said (docs/while_loading.py stores
them; the tests hold their numbers).
"""

import json
import sys
from importlib.resources import files
from typing import Any

import streamlit as st

STORED = files("selfattn") / "data" / "while_loading.json"
PICTURES = ("which words, through which heads",)


def loaded() -> bool:
    """Whether this server has what the pages need: then they are as quick as what is stored."""
    return "selfattn.dashboard.pickers" in sys.modules


def show_stored_pictures() -> Any:
    """The stored pictures, in the place that comes back; None where the visitor asked for others, or needn't wait."""
    if loaded() or any(argument.startswith("--model") for argument in sys.argv):
        return None
    kept, asked = json.loads(STORED.read_text("utf-8")), st.query_params.to_dict()
    if not kept["content"].startswith(asked.pop("content", "")) or asked:
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
    """Say where a page's record isn't what was stored: another encoder, other sentences, or another caption."""
    kept = json.loads(STORED.read_text("utf-8"))
    readings = [reading for reading, _ in kept.pop("pictures")[_look()]]
    if kept != identity(record) or readings != [figure.caption for figure in figures(record)]:
        place.warning("The pictures that stood here while the encoder was loaded are not those that are computed now.")


def identity(record: Any) -> dict[str, Any]:
    """What the pictures are made of: the encoder's content, and the sentences."""
    texts = {name: encoding.text for name, (_, encoding) in record.texts.items()}
    return {"content": record.encoder.content, "sentences": texts}


def figures(record: Any) -> list:
    """Those of a page's figures that are stored."""
    return [figure for name, figure in record.figures.items() if name.split(". ", 1)[1] in PICTURES]


def _look() -> str:
    return "dark" if st.context.theme.type == "dark" else "light"
