"""Run pages through app.py, as the server does."""

import functools
import sys
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

from selfattn.dashboard import cache, encoder_picker, queue
from selfattn.dashboard.navigation import ENTRIES
from selfattn.encoders.sources import BUNDLED_NAME

APP = Path(__file__).parents[2] / "app.py"
queue.HEAD_START = 0  # seconds: no browser needs time to draw

# Without this cache, each AppTest would search all packages for components, which takes 0.3 s.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)
# Without this shared cache, each AppTest would compile its page again, which takes 10 to 60 ms.
_compiled = ScriptCache()
app_test.ScriptCache = local_script_runner.ScriptCache = lambda: _compiled


_of_the_first_page: list = []  # (encoder, results)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Before each test, clear the cache, but keep the encoders and the start page's results."""
    cache._results.forget(lambda key: True)
    for encoder, results in _of_the_first_page:
        if any(each is encoder for each in encoder_picker._encoders.values):
            cache._results._store.update(results)
    st.cache_data.clear()


@pytest.fixture(scope="session", autouse=True)
def first_page() -> None:
    """Compute the start page once for all tests."""
    open_link()
    (encoder,) = (each for each in encoder_picker._encoders.values if each.name == BUNDLED_NAME)
    _of_the_first_page.append((encoder, dict(cache._results._store)))


@pytest.fixture
def nothing_computed(first_page: None) -> None:
    """Clear all cached results, including those of the start page."""
    cache._results.forget(lambda key: True)


@pytest.fixture(scope="package", autouse=True)
def every_run_ends_well():
    """Fail if any run of a page raises an exception."""
    run = AppTest._run

    def checked(self: AppTest, *arguments: object, **more: object) -> AppTest:
        at = run(self, *arguments, **more)
        assert not at.exception, at.exception[0].message
        return at

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(AppTest, "_run", checked)
        yield


def pages() -> list[str]:
    """Return the path of every page's source file."""
    return [entry.path for entry in ENTRIES.values()]


def at_address(page: str = "", **query: str) -> AppTest:
    """Return the page at an address, before its first run."""
    at = AppTest.from_file(str(APP), default_timeout=180)
    at._page_hash = calc_hash(page) if page else ""
    at.query_params.update(query)
    return at


def open_link(page: str = "", **query: str) -> AppTest:
    """Open a link. If the page asks before it loads an encoder, agree."""
    return load_asked(at_address(page, **query).run())


def load_asked(at: AppTest) -> AppTest:
    while asking := [button for button in at.button if button.key in ("load_model", "load_second")]:
        at = asking[0].click().run()
    return at


def open_page(path: str, **chosen: str) -> AppTest:
    """Run the page whose source file is `path`. chosen: values to set in the session first."""
    (address,) = (entry.address for entry in ENTRIES.values() if entry.path == path)
    at = at_address(address)
    for key, value in chosen.items():
        at.session_state[key] = value
    return at.run()


def words(at: AppTest) -> str:
    """Return all texts of the page."""
    return "\n".join(element.value for element in [*at.text, *at.markdown]).replace("\\", "")


@pytest.fixture
def main_view() -> AppTest:
    return open_link()


@pytest.fixture
def started_with(monkeypatch):
    """Return a function that sets the dashboard's option `--model` to an encoder."""
    return lambda model: monkeypatch.setattr(sys, "argv", ["app.py", *(["--model", str(model)] if model else [])])
