"""Test the parts and the escaped texts of the HTML report."""

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT
from selfattn.export import report
from selfattn.export.files import View
from selfattn.export.provenance import Provenance
from tests.small_panel import panel_of, view_of

HOSTILE = "<img src=x onerror=alert(1)> \" ' & $$x$$ **b** {{7*7}} \x07"


class Elements(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def view(encoder) -> View:
    texts, facts = {"A": encoder.encode(HOSTILE)}, {"layer": 3, "head": 7, "error": 2e-7}
    origin = Provenance.of(encoder, HOSTILE, texts, link="javascript:alert(1)", **facts)
    spec = heatmap(np.eye(2), ["a", HOSTILE], LIGHT)
    table = pd.DataFrame({"token": [HOSTILE] * 150, "weight": [0.123456] * 100 + [0.5] * 50})
    return view_of(origin, panel_of(spec, table, finding=HOSTILE, alt=HOSTILE, note=HOSTILE))


def test_report_escapes_texts(view):
    elements = Elements(report.html(view))
    names = [name for name, _ in elements.found]
    assert "script" not in names
    assert names.count("img") == 1  # only the figure
    assert not [key for _, attributes in elements.found for key in attributes if key.startswith("on")]
    addresses = [a[key] for _, a in elements.found for key in ("src", "href") if key in a]
    assert len(addresses) == 2
    assert all(address.startswith("data:") for address in addresses)
    assert HOSTILE.replace("\x07", "\ufffd") in elements.text


def test_index_entry_escapes_texts():
    elements, shown = Elements(report.entry(HOSTILE, HOSTILE, [HOSTILE], HOSTILE)), HOSTILE.replace("\x07", "\ufffd")
    assert [name for name, _ in elements.found] == ["h2", "a", "p", "bdi", "p"]
    assert dict(elements.found)["a"] == {"href": shown} and elements.text == shown * 3


def test_report_shows_first_hundred_rows(view):
    page = report.html(view)
    elements = Elements(page)
    assert dict(elements.found)["img"]["alt"].startswith("<img src=x")
    assert "150 rows, of which the first 100 are shown" in elements.text
    assert page.count("<td>0.1235</td>") == 100 and "<td>0.5" not in page
    whole = base64.b64decode(re.search(r"data:text/csv;charset=utf-8;base64,([^\"]+)", page)[1]).decode()
    assert whole.count("0.123456") == 100 and whole.count("0.5") == 50


def test_table_of_hundred_rows_is_complete(view):
    small = view_of(view.provenance, panel_of({}, pd.DataFrame({"weight": [0.5] * 100})))
    assert "of which" not in "".join(report._tables(small))


def test_report_says_that_largest_difference_was_not_measured(view):
    origin = replace(view.provenance, revision="", error=None)
    shown = report._origin(view_of(origin, panel_of({}, pd.DataFrame({"weight": [0.5]}))))
    assert shown["revision"] == "none: loaded from a folder" and shown[
        "largest difference between recomputed attention weights and the model's own"
    ] == (origin.check() or "not measured on this page")


@pytest.mark.slow
def test_report_has_provenance(view, encoder):
    page = report.html(view)
    rows = {"encoder": encoder.name, "layer": 3, "head": 7, "ran on": "cpu, float32"}
    rows |= {
        "largest difference between recomputed attention weights and the model&#x27;s own": "0.0000002",
        "sha256 of the weights": encoder.digest,
    }
    rows["sha256 of weights, configuration and tokeniser"] = encoder.content
    assert all(f"<tr><td>{name}</td><td>{value}</td></tr>" in page for name, value in rows.items())
