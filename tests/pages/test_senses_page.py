"""Test the page "Senses"."""

import hashlib
import json
from dataclasses import replace
from functools import partial

import pandas as pd
import pyarrow.parquet as pq
import pytest

from pages.explore.senses import reports as view
from selfattn import load_encoder, senses, stored_reports
from selfattn.dashboard import figures, reports, session
from selfattn.dashboard.cache import encoder_key
from selfattn.examples import labelled_sentences
from selfattn.scan import read_scan
from selfattn.scan.__main__ import main as scan
from selfattn.stored_reports import stored
from selfattn.views import scanned
from selfattn.views.senses import one_word, opened
from tests.pages.conftest import open_page
from tests.senses.conftest import tiny_table

pytestmark = pytest.mark.slow

PAGE = "pages/explore/senses/page.py"
GOOD = [
    ("The bank of the river was muddy.", "bank", "water"),
    ("Reeds grew along the bank.", "bank", "water"),
    ("The bank approved the loan.", "bank", "money"),
    ("She works at a bank.", "bank", "money"),
]


def table(rows, columns=("sentence", "word", "sense")):
    return pd.DataFrame(rows, columns=list(columns)).to_csv(index=False).encode()


def some(n, *words):
    """Return n labelled sentences for each sense of these words."""
    few = labelled_sentences()
    return few[few["word"].isin(words)].groupby(["word", "sense"]).head(n)


@pytest.fixture
def few(nothing_computed, monkeypatch):
    monkeypatch.setattr(senses, "separation", partial(senses.separation, shuffles=50))
    few = some(4, "bank", "bat")
    monkeypatch.setattr(view, "labelled", lambda: few)
    monkeypatch.setattr(reports, "stored", lambda *_: None)
    return few


@pytest.fixture
def clicked(monkeypatch):
    """Return a function that clicks on sentence n."""
    show, clicks = figures.show_live, []

    def shown(live, key, choose, *states):
        show(live, key, choose, *states)
        if states == ("open",) and clicks:
            choose("open", clicks.pop())

    monkeypatch.setattr(figures, "show_live", shown)
    return clicks.append


def kept_from(module, name, monkeypatch):
    """Collect the results of the module's function `name` in the returned list."""
    made, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **more: made.append(function(*given, **more)) or made[-1])
    return made


def page_text(at):
    elements = (*at.get("text"), *at.markdown, *at.info)
    return "\n".join(element.value.replace("\\", "") for element in elements)


def rows(at):
    return json.loads(at.get("bidi_component")[0].proto.json)["rows"]


def upload(at, name, data):
    at.get("file_uploader")[0].upload(name, data, "text/csv")
    return at.run()


def test_labelled_sentences_have_stored_reports(monkeypatch):
    kept = stored("separation", load_encoder(), labelled_sentences())
    monkeypatch.setattr(stored_reports, "measured", lambda *given, **more: pytest.fail("the report was computed"))
    monkeypatch.setattr(senses, "separation", lambda *given, **more: pytest.fail("the report was computed"))
    at = open_page(PAGE, sense_word="bat")
    assert f"computed on {kept.date}" in page_text(at)
    assert len(rows(at)) == 24 and all("bat" in [word["text"] for word in row["words"]] for row in rows(at))
    at.session_state["separation"] = True
    assert "the word's vector tells the senses apart in 94 of 100" in page_text(at.run())


@pytest.mark.parametrize("click", [1, 24, "x", -1])
def test_click_opens_sentence_in_main_view(encoder, clicked, click):
    at = open_page(PAGE)
    clicked(click)
    at = at.run().run()
    if click != 1:  # there is no such row
        assert "opened" not in at.session_state
        return
    frame = labelled_sentences()
    report = stored("hidden_words", encoder, frame).report
    row = opened(report, frame, "bank").iloc[1]
    a, b, control = (at.text_input(key=key).value for key in "abc")
    sense = frame[frame["word"] == "bank"].set_index("sentence")["sense"]
    assert a == row["sentence"] != control and sense[b] != sense[a] == sense[control]
    first, _ = json.loads(at.get("bidi_component")[0].proto.json)["sides"]
    assert next(word["text"] for word in first["words"] if word["at"] == first["leader"]) == row["first"]


def test_measurement_can_be_stopped(few, monkeypatch):
    made, whole = [], stored("hidden_words", load_encoder(), labelled_sentences()).report
    own = replace(whole, words=whole.words[whole.words["row"].isin(few.index)])
    monkeypatch.setattr(stored_reports, "measured", lambda encoder, progress: made.append(encoder) or own)
    at = open_page(PAGE)
    assert at.button(key="ask_hidden").label == "Measure this encoder" and not made
    assert "tells the senses apart" not in page_text(at)  # computed only when the visitor asks
    at = at.button(key="ask_hidden").click().run()
    finding = one_word({"": own}).finding
    assert len(made) == 1 and len(rows(at)) == 8 and finding in page_text(at)
    at.session_state[session.STOPPED] = (encoder_key(load_encoder()), ("hidden words", "labelled"))
    at = at.run()
    assert "Stopped." in page_text(at) and finding not in page_text(at)
    assert finding in page_text(at.button(key="ask_hidden").click().run()) and len(made) == 1


def test_missing_stored_report_is_looked_up_again(nothing_computed, encoder, monkeypatch):
    found = [None, "report"]
    monkeypatch.setattr(reports, "stored", lambda *_: found.pop(0))
    assert [reports.stored_report(senses.HiddenWordsReport, encoder) for _ in range(3)] == [None, "report", "report"]


def test_page_says_why_no_word_can_be_hidden(few, checkpoint, monkeypatch):
    monkeypatch.setattr(view, "labelled", lambda: some(3, "bank"))
    at = open_page(PAGE)
    assert "These sentences can't be used for hiding words: 'bank' has 3 usable sentences in the sense" in page_text(at)
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(checkpoint("XLNet")))
    at = open_page(PAGE, separation=True)
    assert "tells the senses apart" in page_text(at) and "No word can be hidden in this encoder: " in page_text(at)
    assert "because selfattn can't read the heads' outputs: the output matrix" in page_text(at)
    assert "ask_hidden" not in [button.key for button in at.button]


def test_bad_rows_of_upload_are_listed(few, checkpoint, encoder_of, monkeypatch):
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(checkpoint("BERT")))
    made = kept_from(senses, "hidden_words", monkeypatch)
    at = open_page(PAGE, source="table")
    bad = [("No such word.", "bank", "money"), ("$x$ :red[bank] <b> is on it", "bank", "money")]
    good = tiny_table("water", "money", words=("bank",))
    data = good.to_csv(index=False).encode() + table(bad).split(b"\n", 1)[1] + b"too,many,columns,here\n"
    key = (encoder_key(encoder_of("BERT")), ("senses", hashlib.sha256(b".csv" + data).hexdigest()))
    at.session_state[session.STOPPED] = key
    at = upload(at, "mine.csv", data)
    assert "Stopped." in page_text(at)
    at = at.button(key="run again").click().run()
    assert "The results are for only 1 word." in page_text(at)
    rejected = pd.concat([frame.value for frame in at.dataframe if "reason" in frame.value])
    assert rejected["line"].tolist() == [13, 11] and rejected["reason"].str.contains("columns|not a word").all()
    assert at.button(key="ask_hidden").label == "Measure 10 sentences"
    at = at.button(key="ask_hidden").click().run()
    assert len(made) == 1 and one_word({"": made[0]}).finding in page_text(at) and len(rows(at)) == 10


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("mine.csv", b"text,token\na,b\n", "expected the columns"),
        ("mine.csv", b"sentence,word,sense\n", "The table has no rows. Add rows."),
        (
            "mine.csv",
            table(GOOD[:1]).splitlines()[0] + b"\na,b\n",
            "None of the 1 rows can be used. First reason: This row",
        ),
        ("mine.csv", table(GOOD[:2]), "None of the 2"),
        ("mine.csv", table([row[:2] for row in GOOD], ("sentence", "word")), "First reason: The sense is missing"),
        (
            "mine.parquet",
            b"PAR1",
            "ending in .csv, .tsv, .jsonl, .ndjson, got .parquet. Save the table as CSV, or scan",
        ),
    ],
)
def test_unusable_tables_are_refused(name, data, message):
    assert message in upload(open_page(PAGE, source="table"), name, data).error[0].value.replace("\\", "")


def test_click_on_scanned_sentence_opens_main_view(tmp_path, monkeypatch, clicked):
    (tmp_path / "table.csv").write_bytes(table([*GOOD, ("A bat flew out of the cave.", "bat", "animal")]))
    command = [str(tmp_path / "table.csv"), "--output", str(tmp_path / "scan"), "--device", "cpu", "--sources"]
    assert scan(command) == 0
    sources = read_scan(tmp_path / "scan").sources()
    own = sources[sources["word"] == "bank"].reset_index(drop=True)
    at = open_page(PAGE, source="scan", scan=str(tmp_path / "scan"))
    assert "5 occurrences of words in 5 texts were measured, and 0 rows were rejected" in page_text(
        at
    ) and "has the largest mean special share" in page_text(at)
    assert at.selectbox(key="scan_word").options == ["bank", "bat"]
    assert scanned.sources(load_encoder(), own).finding in page_text(at) and len(rows(at)) == len(own) > 1
    with monkeypatch.context() as patched:
        patched.setattr(
            "pages.explore.senses.finished_scan.read_scan", lambda folder: pytest.fail("a click read the scan again")
        )
        at = at.selectbox(key="scan_word").set_value("bat").run()
    assert "All rows have the same sentence" in page_text(at)
    clicked(1)
    at = at.selectbox(key="scan_word").set_value("bank").run().run()
    assert [at.text_input(key=key).value for key in "abc"] == [own["sentence"][1], own["sentence"][0], ""]


@pytest.mark.parametrize("damaged", ["parts/part-000000.parquet", "rejects/part-000000.csv"])
def test_damaged_scan_is_refused(tmp_path, damaged):
    (tmp_path / "table.csv").write_bytes(table([*GOOD, ("No such word.", "bank", "money")]))
    command = [str(tmp_path / "table.csv"), "--output", str(tmp_path / "scan"), "--device", "cpu", "--max-rejects", "1"]
    assert scan(command) == 0
    file = tmp_path / "scan" / damaged
    data = bytearray(file.read_bytes())
    data[-1 if file.suffix == ".csv" else pq.read_metadata(file).row_group(0).column(3).data_page_offset] = 0xFF
    file.write_bytes(data)
    at = open_page(PAGE, source="scan", scan=str(tmp_path / "scan"))
    assert "can't be read" in at.error[0].value.replace("\\", "")


def test_missing_scan_is_reported(tmp_path):
    (tmp_path / "table.csv").write_bytes(table(GOOD))
    assert scan([str(tmp_path / "table.csv"), "--output", str(tmp_path / "scan"), "--device", "cpu"]) == 0
    at = open_page(PAGE, source="scan", scan=str(tmp_path / "scan"))
    assert "This scan was made without --sources, so it has no results about hidden words." in page_text(at)
    at.text_input(key="scan").set_value(str(tmp_path / "absent")).run()
    assert "holds no scan" in at.error[0].value
