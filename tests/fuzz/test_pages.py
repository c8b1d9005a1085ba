"""Test that generated texts, tables and scans never break a page."""

import shutil

import pytest
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from selfattn.examples import labelled_sentences
from selfattn.scan.job import Job, run
from tests.fuzz.hostile import MARKUP, sentences, texts
from tests.fuzz.test_tables import csvs, lines_of_json
from tests.pages.conftest import APP, at_address, pages

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", pages())
def test_typed_texts_cause_no_traceback(path, generated):
    app = AppTest.from_file(str(APP), default_timeout=120).run().switch_page(path).run()
    assert not app.exception
    if not app.text_input and not app.text_area:
        return

    def typed(text):
        text = text.encode("utf-8", "ignore").decode()  # a browser can't send lone surrogates
        for widget in (*app.text_input, *app.text_area):
            if widget.key not in ("other", "revision"):  # test_browser.py generates names of encoders
                widget.set_value(text)
        app.run()
        assert not app.exception, app.exception[0].message
        interpreted = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info, *app.success]
        for element in interpreted:
            assert not [markup for markup in MARKUP if markup in text and markup in element.value], element.value

    generated(1, 40, sentences() | texts(), typed)


@pytest.mark.parametrize(("suffix", "tables"), [("csv", csvs()), ("jsonl", lines_of_json())])
def test_table_is_shown_or_refused(suffix, tables, generated):
    at = at_address("senses", source="your own table").run()

    def uploaded(data):
        at.get("file_uploader")[0].set_value((f"mine.{suffix}", data, "text/csv")).run()
        assert not at.exception, at.exception[0].message

    generated(3, 60, tables, uploaded)


def test_damaged_scan_is_shown_or_refused(tmp_path, generated):
    labelled_sentences()[:8].assign(word="bank").to_csv(tmp_path / "table.csv", index=False)
    run(Job(str(tmp_path / "table.csv"), str(tmp_path / "good"), device="cpu", sources=True))

    def opened(damage):
        place, byte, name = damage
        folder = tmp_path / name
        shutil.rmtree(folder, ignore_errors=True)
        files = [file for file in shutil.copytree(tmp_path / "good", folder).rglob("*") if file.is_file()]
        file = sorted(files)[place % len(files)]
        data = bytearray(file.read_bytes())
        data[place % len(data)] = byte
        file.write_bytes(data)
        at = at_address("senses", source="a finished scan", scan=str(folder)).run()
        assert not at.exception, at.exception[0].message

    damages = st.tuples(st.integers(0, 10**6), st.integers(0, 255), st.sampled_from(["a", "b"]))
    generated(4, 100, damages, opened)
