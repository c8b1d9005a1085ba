"""List every page's views, and collect what each view shows. A view is a set of a visitor's choices."""

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import streamlit as st
import torch
import transformers
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages.learn.from_scratch.lesson_pages import STOPS
from selfattn.analysis.measures import MEASURES
from selfattn.dashboard import cache as kept
from selfattn.dashboard import figures
from selfattn.dashboard.navigation import ENTRIES
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.panel import Look
from tests.as_shown.record import Lines, figure, table, texts
from tests.pages.conftest import APP, load_asked

View = dict[str, Any]  # session keys and values; "query": URL parameters; "click": a button

OWN: View = {
    "a": "The old riverbanks were muddy.", "b": "She photographed riverbanks yesterday.", "c": "Wide riverbanks flooded.",
    "example": None, "word": "riverbanks", "head": "L3 H7",
}  # fmt: skip
TALE = "The old bank of the river was muddy, and we sat there with the boat until the rain came; "
LONG: View = OWN | {
    "a": TALE + "then, when the wind had turned and the sun was low, the bank was cold, so we rowed home along the bank.",
    "b": TALE + "but the bank in the town, which had lent us the money for it, wanted all of it back before the end of May.",
    "c": "", "word": "bank", "head": "L5 H2", "at_a": 2, "at_b": 2,
}  # fmt: skip
# The word has similar vectors in A and B. There is no control sentence.
NEAR: View = OWN | {"a": "The muddy bank.", "b": "The muddy bank!", "c": "", "word": "bank"}
STOP_FIELDS: dict[str, View] = {
    "one-vector": {"layer": 2},
    "soft-lookup": {"query": "1, -0.5", "t": 0.3},
    "projections": {"example": "raschka", "journey": "0.1, -0.2, 0.3", "seed": 7},
    "dot-product": {"example": "a and b", "a": "1, 2", "b": "2, -3"},
    "magnitude": {"example": "the source's", "query": "2, 1"},
    "scaling": {"d_k": 32, "sentence": "She opened an account at the bank."},
    "three-words": {"example": "good, not, the", "query": "2, 0", "more": 2.0, "others": 50},
    "causal-mask": {"source": "real", "sentence": "One two three.", "head": "L2 H5"},
    "padding-mask": {"sentence": "One two three.", "extra": 5, "head": "L2 H5"},
    "mix": {"sentence": "loan"},
    "geometry": {"query of “it”": "1, 3"},
    "residual": {"sentence": "loan"},
    "twelve-tokens": {"causal 0": True},
    "kernel": {"example": "it"},
    "learned": {"target": "street", "steps": 7, "rate": 0.3},
    "order": {"words": "dogs chase cats in vain", "positions": True},
    "not-symmetric": {"example": "a real head", "sentence": "The crane spread its wings.", "head": "L2 H5"},
    "drawn-numbers": {},
    "hide-a-word": {"sentence": "loan", "hidden": 2},
    "real-head": {},
}


FOLDERS = TemporaryDirectory()


@cache
def folder(family: str) -> str:
    return str(save_tiny(FAMILIES[family], Path(FOLDERS.name) / family, masked_head=True))


def views(address: str) -> dict[str, View]:
    """Return the page's views, by name. A view sets choices, such as the sentences."""
    default, own, long = ({name: view} for name, view in (("default", {}), ("own", OWN), ("long", LONG)))
    match address:
        case "":
            choices = [{"view": "own", "hide": True}, {"view": "difference", "words": False}]
            every = default | own | long | {"near": NEAR} | _each(own, choices)
            return {name: view | {"layers": True} for name, view in every.items()}
        case "inside-a-head":
            changes = [{"causal": True, "temperature": 0.5}, {"unscaled": True}]
            return default | own | long | _each(own | long, changes)
        case "all-heads":
            choices = [{"measure": name} for name in MEASURES] + [{"sentence": "B"}, {"sentence": "both"}]
            return default | own | long | _each(own, choices)
        case "senses":
            return default | {"own": {"head": "L5 H10", "sense_word": "bat"}}
        case "two-encoders" | "predictions":
            tiny = {
                "model": "another ...",
                "other": folder("BERT"),
                "a": "The bank of the river was muddy.",
                "head": "L1 H2",
            }
            tiny |= {
                "second": "another ...",
                "second_other": folder("RoBERTa"),
                "head2": "L0 H3",
                "gap": 4,
                "target": 2,
            }
            return default | own | {"tiny": tiny}
        case "from-scratch":
            shown = {slug: {"query": {"stop": slug, "reveal": "yes"}} for slug in STOPS}
            typed = {slug: {f"{slug}.{key}": value for key, value in STOP_FIELDS[slug].items()} for slug in STOPS}
            return shown | {f"{slug}, typed": view | typed[slug] for slug, view in shown.items()}
        case "train-a-tiny-one":
            return default | {"trained": {"tiny.epochs": 2, "click": "tiny.train"}}
        case "pronouns-and-negation":
            choices = [{"pronouns.shown": True}, {"view": "negation", "negation.shown": True}]
            return _each(default, [*choices, {"view": "heads", "many-heads.shown": True}])
        case "models-and-proof":
            return default | {"proof": {"click": "run_proof"}}
        case "what-it-cannot-tell":
            return default | own
    return default  # fmt: skip


def _each(bases: dict[str, View], choices: list[View]) -> dict[str, View]:
    return {
        ", ".join([name, *(f"{key} {value}" for key, value in choice.items())]): base | choice
        for name, base in bases.items()
        for choice in choices
    }


def forget() -> None:
    kept._results.forget(lambda key: True)
    st.cache_data.clear()


def shown(address: str) -> dict[str, dict[str, Lines]]:
    """Open a page in each state of `views`. Return what the page shows, keyed by the state's name."""
    return {name: _shown(address, dict(view)) for name, view in views(address).items()}


def _shown(address: str, view: View) -> dict[str, Lines]:
    records: list[figures.Page] = []
    end = figures.end_page
    at = AppTest.from_file(str(APP), default_timeout=120)
    at._page_hash = calc_hash(address) if address else ""
    at.query_params.update(view.pop("query", {}))
    click = view.pop("click", "")
    for key, value in view.items():
        at.session_state[key] = value
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(figures, "end_page", lambda: records.append(end()) or records[-1])
        load_asked(at.run())
        if click:
            at.button(key=click).click().run()
    assert not at.exception, at.exception[0].message
    record = records[-1] if records else figures.Page()  # pages that end with a message leave no record
    captions = {text for each in record.panels for text in (f"**{figures.literal(each.finding)}**", each.note)}
    said = [text for text in _said(at) if text not in captions]
    items = {"says": texts(said)}
    for number, each in enumerate(record.panels, start=1):
        said = "\n".join(dict.fromkeys(filter(None, (each.finding, each.alt, each.note))))
        items[f"figure {number}"] = figure(each.name, said, each.table, each.picture(Look()))
    shown = {str(number): table(frame.value) for number, frame in enumerate(at.dataframe, start=1)}
    others = {name: panel.tables[name] for panel in record.panels for name in list(panel.tables)[1:]}
    others |= {name: make() for name, make in record.tables.items()}
    shown |= {f"download {name}": table(frame) for name, frame in others.items()}
    return items | ({"tables": shown} if shown else {})


def _said(at: AppTest) -> list[str]:
    """Return the page's plain texts, and those captions, messages and Markdown texts that contain a number."""
    others = [element.value for kind in (at.caption, at.markdown, at.info, at.success, at.error) for element in kind]
    texts = [paragraph for element in at.text for paragraph in element.value.split("\n\n")]
    texts += [text for text in others if re.search(r"\d", text) and "](" not in text and text[0] != "|"]
    here = re.compile("|".join(map(re.escape, (FOLDERS.name, torch.__version__, transformers.__version__))))
    return [here.sub("HERE", text) for text in texts]


RECORDS = {address or "start": lambda address=address: shown(address) for address in ENTRIES}
