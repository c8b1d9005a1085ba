"""Test that exported data never becomes markup or script."""

import base64
import hashlib
import json
import re
from types import SimpleNamespace

import pytest

from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT
from selfattn.export import component_page, report
from selfattn.export.provenance import Provenance
from selfattn.panel import Live
from tests.browser import kernel_data
from tests.browser.way_data import VARIANTS
from tests.export.test_report import Elements
from tests.small_panel import panel_of, view_of

HOSTILE = '</script><script>alert(1)</script><!-- <script> ]]> & &lt; " \\ \u2028 \x07 \ud800'


@pytest.fixture
def components(monkeypatch, tmp_path):
    for name, text in {
        "base.js": "const shared = 1;",
        "base.css": ".shared {}",
        "one.js": "export default function one() {}",
        "one_more.js": "const more = 1;",
        "one.css": ".one {}",
        "two.js": "export default function two() {}",
        "two.css": ".two {}",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(component_page, "FOLDER", tmp_path)
    for cached in (component_page.javascript, component_page.stylesheet):
        cached.cache_clear()
    yield
    for cached in (component_page.javascript, component_page.stylesheet):
        cached.cache_clear()


def scripts(page: str) -> list[tuple[dict, str]]:
    starts = [attributes for name, attributes in Elements(page).found if name == "script"]
    contents = re.findall(r"<script\b[^>]*>(.*?)</script\b", page, re.DOTALL | re.IGNORECASE)
    assert len(starts) == len(contents)
    return list(zip(starts, contents))


def policy(page: str) -> dict[str, str]:
    found = {attributes.get("http-equiv"): attributes for _, attributes in Elements(page).found}
    content = found["Content-Security-Policy"]["content"]
    return dict(directive.strip().split(" ", 1) for directive in content.split(";"))


def source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def live(component: str, data: dict) -> SimpleNamespace:
    return SimpleNamespace(component=component, data=data)


def test_hostile_data_never_becomes_markup():
    data = {HOSTILE: [HOSTILE, 1.5, None]}
    ((attributes, block),) = scripts(component_page.place(live("one", data), ""))
    assert attributes == {"type": "application/json"}  # a browser runs no script of this type
    assert json.loads(block) == data
    assert "<" not in block and block.isascii()


def test_html_page_has_no_dashboard_links():
    data = {"beyond": {"text": "More", "link": {"text": "there", "href": "senses"}}, "way": None}
    ((_, block),) = scripts(component_page.place(live("one", data), ""))
    assert json.loads(block) == {"beyond": {"text": "More"}, "way": None}


@pytest.mark.usefixtures("components")
def test_content_security_policy_allows_each_script():
    parts = [component_page.place(live(name, {}), "") for name in ("two", "one", "two")]
    page = report.document("Title", parts, ["two", "one"])
    *blocks, one, two = scripts(page)
    assert [attributes["type"] for attributes, _ in blocks] == ["application/json"] * 3
    assert one[0] == two[0] == {"type": "module"}
    assert one[1].startswith("const shared = 1;\nconst more = 1;\nexport default function one() {}\n")
    assert two[1].startswith("const shared = 1;\nexport default function two() {}\n")
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    assert style == report.STYLE + ".shared {}\n.one {}\n.two {}"
    assert policy(page) == {
        "default-src": "'none'", "img-src": "data: blob:", "style-src": source(style), "base-uri": "'none'",
        "script-src": f"{source(one[1])} {source(two[1])}", "form-action": "'none'",
    }  # fmt: skip


def test_page_without_components_has_no_script():
    page = report.document(HOSTILE.replace("\ud800", ""), [])
    assert scripts(page) == [] and policy(page)["script-src"] == "'none'"
    assert policy(page)["style-src"] == source(report.STYLE)


@pytest.mark.usefixtures("components")
def test_report_shows_picture_if_no_script_runs():
    spec = heatmap([[0.5, 0.5], [0.1, 0.9]], ["a", HOSTILE], LIGHT)
    origin = Provenance(title="title", sentences={"A": HOSTILE})
    moving = panel_of(spec, alt="figure", live=live("one", {"said": HOSTILE}), method=f"First.\n\n{HOSTILE}")
    page = report.html(view_of(origin, moving, panel_of(spec, name="still", alt="still")))
    (_, block), (kind, _) = scripts(page)
    assert json.loads(block) == {"said": HOSTILE} and kind == {"type": "module"}
    without = re.findall(r"<noscript>(.*?)</noscript>", page, re.DOTALL)
    assert ['alt="figure"' in each for each in without] == [True]
    assert page.count("<details>") == 1
    assert '<summary>How this was measured</summary><p class="quiet">First.</p><p class="quiet">&lt;/script' in page
    assert re.findall(r'<img src="data:image/svg\+xml[^"]+" alt="(\w+)">', page) == ["figure", "still"]


@pytest.mark.parametrize(
    ("component", "data"),
    [*(("way", data) for data in VARIANTS.values()), *(("kernel", data) for data in kernel_data.VARIANTS.values())],
)
def test_data_of_browser_tests_match_schema(component, data):
    Live(component, data)


@pytest.mark.parametrize("component", ["way", "kernel", "shaded", "similar"])
def test_script_contains_each_file_once(component):
    text = component_page.javascript(component)
    assert text.count("export default") == 1
    parts = [component_page.FOLDER / "base.js", *component_page.FOLDER.glob(f"{component}*.js")]
    assert len(parts) == {"way": 5, "kernel": 5, "shaded": 2, "similar": 2}[component]
    for file in parts:
        declared = re.findall(r"^(?:export default )?(?:function|class) .*$", file.read_text("utf-8"), re.MULTILINE)
        assert declared and [text.count(line) for line in declared] == [1] * len(declared)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\b|new Function", text)
    assert "/*" not in text and not re.search(r"^[ \t]", text, re.MULTILINE)
    assert component_page.stylesheet(component).startswith(".selfattn {\n--ink: ")
    files = [*component_page.FOLDER.glob("*.js"), *component_page.FOLDER.glob("*.css")]
    lines = {file.name: len(file.read_text("utf-8").splitlines()) for file in files}
    assert {"base.js", "base.css", "way.js", "way.css", "kernel.js", "kernel.css"} <= lines.keys()
    assert max(lines.values()) < 450
