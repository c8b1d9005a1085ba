"""Test the figure that is shown while torch loads."""

import pytest
from playwright.sync_api import expect

from benchmarks.server import ROOT, start_server
from tests.browser.conftest import open_page, wait_until_idle, watch

pytestmark = pytest.mark.browser
APP = """
import streamlit as st
from selfattn.dashboard.while_loading import show_stored_figure
st.session_state["runs"] = st.session_state.get("runs", 0) + 1
show_stored_figure()
st.text(f"run {st.session_state['runs']}")
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("app")
    (folder / "app.py").write_text(APP)
    process, address = start_server(folder=folder, PYTHONPATH=str(ROOT), STREAMLIT_BROWSER_GATHER_USAGE_STATS="false")
    yield address
    process.terminate()
    process.wait(10)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_clicks_do_not_rerun_page(browser, address, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    trouble = watch(page)
    open_page(page, address)
    river = page.get_by_role("button", name="river")
    expect(river).to_be_visible()
    ink = river.evaluate("button => getComputedStyle(button).color.match(/[0-9]+/g).map(Number)")
    assert (min(ink) > 200) == (scheme == "dark") and (max(ink) < 100) == (scheme == "light")
    for target, state in (
        (river, "aria-pressed"),
        (page.get_by_role("gridcell", name="head 3 of layer 3"), "aria-selected"),
    ):
        if state == "aria-selected":
            page.locator(".heads summary").click()
        target.click()
        expect(target).to_have_attribute(state, "true")
    wait_until_idle(page)
    page.wait_for_timeout(500)
    expect(page.get_by_text("run 1", exact=True)).to_be_visible()
    assert trouble == []
    context.close()
