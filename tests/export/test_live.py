"""Live figures in a file: no script runs but the one that draws them, and no text of a spec becomes a part of the page."""

import base64
import hashlib
import json
import re

import pytest
import vl_convert

from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT
from selfattn.export import live, report
from selfattn.export.files import View
from selfattn.export.provenance import Provenance
from tests.export.test_report import Elements

HOSTILE = '</script><script>alert(1)</script><!-- <script> ]]> & &lt; " \\ \u2028 \x07 \ud800'
SHOWN = HOSTILE.replace("\x07", "\ufffd").replace("\ud800", "\ufffd")


@pytest.fixture
def view() -> View:
    spec = heatmap([[0.5, 0.5], [0.1, 0.9]], ["a", HOSTILE], LIGHT, title=HOSTILE)
    draw = {"figure": lambda: {**spec, "note": HOSTILE}, "still": lambda: spec}
    origin = Provenance(title="title", sentences={"A": HOSTILE})
    return View("name", origin, draw, {}, captions={"figure": HOSTILE}, live={"figure": draw["figure"]})


@pytest.fixture
def small(monkeypatch):
    """In place of the 900 kB that vl-convert makes."""
    short = 'const a="</script>", b=/<!--/, c="<SCRIPT>", d="é";{}'.format
    monkeypatch.setattr(vl_convert, "javascript_bundle", short)
    live.script.cache_clear()
    yield
    live.script.cache_clear()


def scripts(page: str) -> list[tuple[dict, str]]:
    """Each script element's attributes and content, as a browser finds them."""
    starts = [attributes for name, attributes in Elements(page).found if name == "script"]
    contents = re.findall(r"<script\b[^>]*>(.*?)</script\b", page, re.DOTALL | re.IGNORECASE)
    assert len(starts) == len(contents)
    return list(zip(starts, contents))


def policy(page: str) -> dict[str, str]:
    """The page's content policy: each directive and its sources."""
    found = {attributes.get("http-equiv"): attributes for _, attributes in Elements(page).found}
    content = found["Content-Security-Policy"]["content"]
    return dict(directive.strip().split(" ", 1) for directive in content.split(";"))


def test_a_spec_is_data_that_no_text_in_it_can_end():
    block = live.data({"mark": "bar", HOSTILE: [HOSTILE, 1.5, None]}, HOSTILE)
    ((attributes, content),) = scripts(block)
    assert attributes == {"type": "application/json"}  # a browser runs nothing of this type
    assert json.loads(content) == {"description": SHOWN, "mark": "bar", SHOWN: [SHOWN, 1.5, None]}
    assert not set("<>&") & set(content) and content.encode()


@pytest.mark.usefixtures("small")
def test_the_script_in_a_page_is_the_one_that_its_policy_names(view):
    page = report.html(view)
    (kind, spec), (attributes, run) = scripts(page)
    assert kind == {"type": "application/json"} and json.loads(spec)["note"] == SHOWN and attributes == {}
    digest = base64.b64encode(hashlib.sha256(run.encode()).digest()).decode()
    assert policy(page) == {
        "default-src": "'none'", "img-src": "data:", "style-src": "'unsafe-inline'", "script-src": f"'sha256-{digest}'"
    }  # fmt: skip
    assert "alert(1)" not in run and page.index(run) > page.rindex("</figure>")


@pytest.mark.usefixtures("small")
def test_the_script_cannot_end_before_its_end():
    """Spelled so that a string and a regular expression mean what they did."""
    assert live.script().startswith(r'const a="\x3c/script>", b=/\x3c!--/, c="\x3cSCRIPT>", d="é";')


@pytest.mark.slow
def test_what_vl_convert_bundles_goes_into_a_page_as_it_is():
    bundle = live.script()
    assert not re.search(r"</script|<script|<!--|\r|\0", bundle, re.IGNORECASE)
    assert 500_000 < len(bundle.encode()) < 1_200_000
    addresses = {found for found in re.findall(r"https?://([^/\"'`]+)", bundle)}
    assert addresses <= {"www.w3.org", "vega.github.io", "github.com"}  # names of formats, and where to read on


def test_the_picture_and_its_text_alternative_stay_for_where_nothing_runs(view):
    page = report.html(view, script=live.FILE)
    pictures = [attributes for name, attributes in Elements(page).found if name == "img"]
    assert [each["alt"] for each in pictures] == [SHOWN, "still"]
    assert all(each["src"].startswith("data:image/svg+xml") and "hidden" not in each for each in pictures)
    assert page.count('<div class="live">') == 1
