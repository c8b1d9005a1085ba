"""Pages run through app.py, as a visitor meets them."""

import functools
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

from selfattn.dashboard import answer, cache
from selfattn.dashboard.navigation import ENTRIES

APP = Path(__file__).parents[2] / "app.py"

# Each new AppTest reads the metadata of every installed package, for components: 0.3 s, and always the same.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)
# Each run of an AppTest compiles app.py and the page anew, 10 to 60 ms; a server keeps what it has compiled.
_compiled = ScriptCache()
app_test.ScriptCache = local_script_runner.ScriptCache = lambda: _compiled


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """No test passes by what an earlier one had the dashboard compute; the loaded encoders stay."""
    cache._results.forget(lambda key: True)
    st.cache_data.clear()


@pytest.fixture(autouse=True)
def heads_by_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The main view's heads stay by gradient, as beside other visitors: to run them takes half of a page's time."""
    monkeypatch.setattr(answer, "alone", lambda: False)


@pytest.fixture(scope="package", autouse=True)
def every_run_ends_well():
    """No run of a page, in any of these tests, may end in an exception."""
    run = AppTest._run

    def checked(self: AppTest, *arguments: object, **more: object) -> AppTest:
        at = run(self, *arguments, **more)
        assert not at.exception, at.exception[0].message
        return at

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(AppTest, "_run", checked)
        yield


def pages() -> list[str]:
    """The files of all pages, as `AppTest.switch_page` takes them."""
    return [entry.path for entry in ENTRIES.values()]


def at_address(page: str = "", **query: str) -> AppTest:
    """A link to the page at this address, with this in its query, not yet opened."""
    at = AppTest.from_file(str(APP), default_timeout=180)
    at._page_hash = calc_hash(page) if page else ""
    at.query_params.update(query)
    return at


def open_link(page: str = "", **query: str) -> AppTest:
    """What that link opens, with each encoder loaded that the page asks about first."""
    return load_asked(at_address(page, **query).run())


def load_asked(at: AppTest) -> AppTest:
    """Press "Load it" for each encoder that the page asks about."""
    while asking := [button for button in at.button if button.key in ("load_model", "load_second")]:
        at = asking[0].click().run()
    return at


def open_page(path: str, **chosen: str) -> AppTest:
    """A page of `pages()` as its own address opens it, with these in its pickers, run once."""
    (address,) = (entry.address for entry in ENTRIES.values() if entry.path == path)
    at = at_address(address)
    for key, value in chosen.items():
        at.session_state[key] = value
    return at.run()


def words(at: AppTest) -> str:
    """All that the page says, captions included."""
    return "\n".join(element.value for element in [*at.text, *at.markdown]).replace("\\", "")


@pytest.fixture
def main_view() -> AppTest:
    """The default page, run once."""
    return open_link()
