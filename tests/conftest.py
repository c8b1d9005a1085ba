"""Fixtures for all tests. They import selfattn only when they run, so that tests without an encoder start fast."""

import functools
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no test may use the network by accident
os.environ.setdefault("OMP_NUM_THREADS", "1")  # test processes and servers share the cores

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run browser tests and files with slow tests first, so that all processes end together.

    A busy machine can lose a click, so a failed browser test runs again.
    """
    slow = {item.path for item in items if "slow" in item.keywords}
    items.sort(key=lambda item: ("browser" not in item.nodeid, item.path not in slow))
    for item in items:
        if "browser" in item.keywords:
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    from xdist.scheduler import LoadFileScheduling

    class BrowserInOne(LoadFileScheduling):
        """Run the tests of a file in one process, and the browser tests of all files in one process."""

        def _split_scope(self, nodeid: str) -> str:
            return "browser" if "browser" in nodeid else super()._split_scope(nodeid)

    return BrowserInOne(config, log)


@pytest.fixture(scope="session")
def encoder():
    from selfattn import load_encoder

    return load_encoder(device="cpu")


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """Return a function from a family ("BERT") to the folder of a tiny model."""
    from selfattn.encoders.families import FAMILIES, save_tiny

    @functools.cache
    def folder(name: str):
        return save_tiny(FAMILIES[name], tmp_path_factory.mktemp("checkpoints") / FAMILIES[name].model_type)

    return folder


@pytest.fixture(scope="session")
def encoder_of(checkpoint):
    """Return a function from a family ("BERT") to a tiny encoder."""
    from selfattn import load_encoder

    @functools.cache
    def encoder(name: str):
        return load_encoder(str(checkpoint(name)))

    return encoder


@pytest.fixture(scope="session")
def overflowing(tmp_path_factory):
    """Return the folder of a tiny BERT that gives NaN for "loan"."""
    from safetensors.torch import load_file, save_file

    from selfattn.encoders.families import FAMILIES, save_tiny, wordpiece_tokenizer

    folder = save_tiny(FAMILIES["BERT"], tmp_path_factory.mktemp("overflowing") / "tiny")
    weights = load_file(folder / "model.safetensors")
    table = next(table for name, table in weights.items() if name.endswith("word_embeddings.weight"))
    table[wordpiece_tokenizer().convert_tokens_to_ids("loan"), ::2] = 3e38
    table[wordpiece_tokenizer().convert_tokens_to_ids("loan"), 1::2] = -3e38
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Start an offline dashboard, and return its address."""
    from benchmarks.server import start_server

    folder = str(tmp_path_factory.getbasetemp())
    process, address = start_server(SELFATTN_MODEL_DIR=folder, SELFATTN_SCAN_DIR=folder, SELFATTN_OFFLINE="1")
    yield address
    process.terminate()
    process.wait(10)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import ARGUMENTS
    from tests.browser.find_chromium import find

    path = find()
    if path is None:
        assert os.environ.get("CI") != "true", "CI needs a Chromium, but find() found none."
        pytest.skip("no Chromium on this machine, and none could be installed")
    with sync_playwright() as playwright:
        # If all pages share one process, Chromium compiles Streamlit's scripts only once.
        launched = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS, "--process-per-site"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def window(browser):
    """Return a browser window that all tests share, because a new window compiles Streamlit's scripts again."""
    opened = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    opened.new_page()  # keeps the window open
    yield opened
    opened.close()


@pytest.fixture
def page(window, request: pytest.FixtureRequest):
    """Return a new browser page. The test fails if the page has errors or sends requests to other machines."""
    from tests.browser.conftest import watch

    if "server" in request.fixturenames and window.pages[0].url == "about:blank":
        # An open page of the server keeps Chromium's process, and with it the compiled scripts, alive.
        window.pages[0].goto(f"{request.getfixturevalue('server')}/_stcore/health")
    opened = window.new_page()
    trouble = watch(opened)
    yield opened
    if opened.url.startswith("http"):
        opened.evaluate("localStorage.clear()")
    for each in window.pages[1:]:
        each.close()
    window.set_offline(False)
    window.clear_permissions()
    assert not trouble, trouble
