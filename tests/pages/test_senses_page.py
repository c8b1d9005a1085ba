"""The senses page through Streamlit's own test driver: the labelled set, uploads good and bad, a scan, and stopping."""

import hashlib
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.explore.senses import tables_and_reports as view
from selfattn import load_encoder, senses
from selfattn.dashboard import cache
from selfattn.dashboard.cache import Cache, bytes_of, encoder_key
from selfattn.scan.__main__ import main as scan
from selfattn.scan.tables import InputError
from selfattn.senses import separation

pytestmark = pytest.mark.slow

APP = Path(__file__).parents[2] / "app.py"
PAGE = "pages/explore/senses/page.py"
GOOD = [
    ("The bank of the river was muddy.", "bank", "water"),
    ("Reeds grew along the bank.", "bank", "water"),
    ("The bank approved the loan.", "bank", "money"),
    ("She works at a bank.", "bank", "money"),
]


def table(rows, columns=("sentence", "word", "sense")):
    return pd.DataFrame(rows, columns=list(columns)).to_csv(index=False).encode()


@pytest.fixture
def at(monkeypatch):
    # A few of the labelled words are enough to see the page, and quick.
    few = view.labelled_sentences()
    few = few[few["word"].isin(["bank", "bat", "spring"])]
    monkeypatch.setattr(view, "labelled_sentences", lambda: few)
    view.labelled.clear()
    monkeypatch.setattr(cache, "_results", Cache(2**28, bytes_of))
    yield AppTest.from_file(str(APP), default_timeout=120).run().switch_page(PAGE).run()
    view.labelled.clear()


def texts(at):
    assert not at.exception, at.exception[0].message
    return "\n".join(element.value for element in at.get("text"))


def _set(at, key, value):
    at.session_state[key] = value
    return at.run()


def test_the_labelled_set_is_there_at_once_with_its_baselines_in_words(at):
    shown = texts(at)
    assert "Over 3 words and 72 sentences" in shown
    assert "equal weights" in shown
    assert "own value alone" in shown
    assert "shuffled labels" in shown
    assert "another choice may" in shown  # three words are few, and the page says so
    assert len(at.get("vega_lite_chart")) == 3


def test_the_chosen_head_decides_the_sentences(at, encoder):
    report = separation(encoder, view.labelled(), shuffles=1, floor=False)
    right = {head: int((report.sentences(*head)["score"] == 1).sum()) for head in ((0, 0), (3, 7))}
    assert right[0, 0] != right[3, 7]
    for (layer, head), count in right.items():
        assert f"L{layer} H{head} gets the sense right in {count} of 72 sentences" in texts(
            _set(at, "head", f"L{layer} H{head}")
        )


def test_an_upload_with_senses_runs_and_lists_its_bad_rows(at):
    at = _set(at, "source", view.TABLE)
    assert "What the table looks like" in [expander.label for expander in at.expander]
    rows = [*GOOD, ("No such word.", "bank", "money"), ("$x$ :red[bank] <b>", "bank", "money")]
    data = table(rows) + b"too,many,columns,here\n"
    at.get("file_uploader")[0].upload("mine.csv", data, "text/csv")
    at.run()
    shown = texts(at)
    assert "Over 1 word and 5 sentences" in shown
    rejected = pd.concat([frame.value for frame in at.dataframe if "reason" in frame.value])
    assert rejected["line"].tolist() == [8, 6]
    assert rejected["reason"].str.contains("columns|not a word").all()


def test_an_upload_without_senses_gives_clusters_and_calls_them_so(at):
    at = _set(at, "source", view.TABLE)
    at.get("file_uploader")[0].upload("mine.csv", table([row[:2] for row in GOOD], ("sentence", "word")), "text/csv")
    assert "clusters, not senses" in texts(at.run())


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"text,token\na,b\n", "expected the columns"), (b"", "expected the columns"), (table(GOOD[:2]), "None of the 2")],
)
def test_a_table_of_no_use_is_refused_in_words(at, data, message):
    at = _set(at, "source", view.TABLE)
    at.get("file_uploader")[0].upload("mine.csv", data, "text/csv")
    at.run()
    assert not at.exception
    assert message in at.error[0].value.replace("\\", "")


def test_a_scan_is_opened_once_and_a_folder_without_one_refused(at, tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_bytes(table(GOOD))
    assert scan([str(tmp_path / "table.csv"), "--output", str(tmp_path / "scan"), "--device", "cpu"]) == 0
    at = _set(at, "source", view.SCAN)
    at.text_input(key="scan").set_value(str(tmp_path / "scan")).run()
    shown = texts(at)
    assert "4 occurrences, 0 rejected" in shown
    assert "Largest mean special share" in shown
    with monkeypatch.context() as patched:
        patched.setattr(view, "read_scan", lambda folder: pytest.fail("read again at a click"))
        assert "4 occurrences" in texts(at.run())
    at.text_input(key="scan").set_value(str(tmp_path / "absent")).run()
    assert "holds no scan" in at.error[0].value


def test_a_stopped_computation_says_so_and_can_be_run_again(at):
    at = _set(at, "source", view.TABLE)
    at.get("file_uploader")[0].upload("mine.csv", table(GOOD), "text/csv")
    at.session_state["stopped"] = (encoder_key(load_encoder()), ("senses", hashlib.sha256(table(GOOD)).hexdigest()))
    at.run()
    assert "Stopped." in texts(at)
    next(button for button in at.button if button.label == "Run it again").click().run()
    assert "Over 1 word and 4 sentences" in texts(at)


def test_a_table_beyond_the_operators_limit_names_the_number(monkeypatch):
    monkeypatch.setenv("SELFATTN_MAX_ROWS", "3")
    with pytest.raises(ValueError, match="more rows than this server takes, which is 3"):
        view.read_table(table(GOOD), ".csv")


def test_parquet_reads_like_csv(tmp_path):
    frame = pd.DataFrame(GOOD, columns=["sentence", "word", "sense"])
    frame.to_parquet(tmp_path / "t.parquet")
    good, broken = view.read_table((tmp_path / "t.parquet").read_bytes(), ".parquet")
    assert good[["sentence", "word", "sense"]].equals(frame)
    assert broken.empty
    with pytest.raises(InputError, match=r"^The table can't be read"):
        view.read_table(b"no parquet", ".parquet")


def test_a_table_is_read_and_counted_once_not_at_each_click(at, monkeypatch):
    counted = []

    def count(module, name):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, **k: (counted.append(name), original(*a, **k))[1])

    for module, name in ((view, "read_table"), (senses, "separation"), (view, "check_rows")):
        count(module, name)
    at = _set(at, "source", view.TABLE)
    at.get("file_uploader")[0].upload("mine.csv", table(GOOD[:2]), "text/csv")
    for _ in range(3):
        at.run()
        assert "None of the 2" in at.error[0].value
        assert [len(frame.value) for frame in at.dataframe] == [2]
    assert counted == ["read_table", "separation", "check_rows"]
