"""A component's page as text; tests/browser/test_way.py opens it."""

import base64
import hashlib
import json
import re

import jsonschema
import pytest

from selfattn.export.component_page import FOLDER, component_html, javascript, stylesheet
from tests.browser.way_data import VARIANTS, way_data


@pytest.mark.parametrize("name", VARIANTS)
def test_fixtures_follow_the_schema(name):
    schema = json.loads((FOLDER / "way.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(VARIANTS[name])


def test_page_is_small():
    assert len(component_html("way", VARIANTS["bank"], "bank").encode()) < 80_000


def test_policy_allows_the_page_alone():
    page = component_html("way", VARIANTS["bank"], "bank")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    for part in (r"<style>(.*?)</style>", r'<script type="module">(.*?)</script>'):
        digest = hashlib.sha256(re.search(part, page, re.S)[1].encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_data_cannot_leave_its_block():
    data = way_data(("A bank </script><!-- <script> here.", "Another bank."))
    page = component_html("way", data, "<b>")
    assert json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1]) == data
    assert "<title>&lt;b&gt;</title>" in page
    assert page.count("</script>") == 2


def test_files_are_joined_once():
    text = javascript("way")
    assert text.count("export default") == 1
    for file in FOLDER.glob("*.js"):
        assert text.count(file.read_text("utf-8")) == 1
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\b|new Function", text)
    assert stylesheet("way").startswith((FOLDER / "base.css").read_text("utf-8"))


def test_files_stay_short():
    lines = {
        file.name: len(file.read_text("utf-8").splitlines())
        for file in FOLDER.glob("*.[jc]s*")
        if file.suffix != ".json"
    }
    assert {"base.js", "base.css", "way.js", "way.css"} <= lines.keys()
    assert max(lines.values()) < 450
