"""The senses page through Streamlit's own test driver: the labelled set, uploads good and bad, a scan, and stopping."""

import hashlib
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pandas as pd
import pytest

from pages.explore.senses import finished_scan, swaps
from pages.explore.senses import tables_and_reports as view
from selfattn import Head, load_encoder
from selfattn.captions import hidden_words
from selfattn.captions import senses as captions
from selfattn.captions.vectors import NOISE, OF_SWAPS
from selfattn.dashboard import compute_again
from selfattn.dashboard.cache import encoder_key
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import labelled_sentences
from selfattn.numbers import plain
from selfattn.scan import read_scan
from selfattn.scan.__main__ import main as scan
from selfattn.senses import interchange, removal, separation, swapping
from selfattn.senses.swapping import ALL
from selfattn.stored_reports import stored
from tests.pages.conftest import open_page
from tests.pages.pictures import charts, lines, mark

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


@pytest.fixture
def few(monkeypatch):
    """A few of the labelled sentences, shuffles and resamples are enough to see the page, and quick."""
    monkeypatch.setattr(view, "separation", partial(separation, shuffles=50))
    monkeypatch.setattr(swapping, "RESAMPLES", 20)
    monkeypatch.setattr(swapping, "SHUFFLES", 20)
    few = labelled_sentences()
    few = few[few["word"].isin(["bank", "bat"])].groupby(["word", "sense"]).head(4)
    monkeypatch.setattr(view, "labelled", lambda: few)
    monkeypatch.setattr(compute_again, "stored", lambda *_: None)


@pytest.fixture
def at(few):
    return open_page(PAGE)


@pytest.fixture
def whole(monkeypatch, encoder):
    """The page over the whole built-in set, its stored swaps changed by what is handed in."""

    def opened(**changes):
        names = ("separation", "swaps", "leading_heads")
        kept = {name: stored(name, encoder, labelled_sentences()) for name in names}
        swapped = replace(kept["swaps"].report, **changes)
        kept["swaps"] = replace(kept["swaps"], report=swapped)
        monkeypatch.setattr(compute_again, "stored", lambda name, *_: kept.get(name))
        at = open_page(PAGE)
        return at, swapped

    return opened


def texts(at):
    return "\n".join(element.value for element in at.get("text"))


def _set(at, key, value):
    at.session_state[key] = value
    return at.run()


def test_the_labelled_set_is_there_at_once(at):
    assert "Over 2 words and 16 sentences" in texts(at) and len(at.get("vega_lite_chart")) == 5


def test_the_built_in_set_opens_from_what_is_stored_with_its_date_and_can_be_computed_again(whole, monkeypatch):
    computed = []
    monkeypatch.setattr(view, "separation", lambda *given, **more: computed.append("separation") or kept.report)
    monkeypatch.setattr(swaps, "swapped_heads", lambda *given, **more: computed.append("swaps") or swapped)
    monkeypatch.setattr(swaps, "interchange", lambda *given, **more: computed.append("one word") or swapped)
    at, swapped = whole()
    kept = stored("separation", load_encoder(), labelled_sentences())
    assert f"Over 32 words and {len(kept.report.items)} sentences" in texts(at)
    assert any(f"Computed on {kept.date}" in text.value for text in at.text)
    assert not computed
    at.button(key="again separation").click().run()
    assert computed == ["separation", "one word", "separation", "swaps"]  # of the chosen word first
    assert "Over 32 words" in texts(at)
    assert not any("Computed on" in text.value for text in at.text)


def test_what_one_word_needs_is_computed_first(few, monkeypatch):
    asked = []

    def counted(encoder, table, **named):
        asked.append(table["word"].nunique())
        return separation(encoder, table, shuffles=1, **named)

    monkeypatch.setattr(view, "separation", counted)
    shown = texts(open_page(PAGE))
    assert asked == [1, 2] and "Over 2 words and 16 sentences" in shown and "Over 1 word" not in shown


def test_the_maps_are_the_shares_over_all_words_and_in_the_chosen_one(whole):
    at, report = whole()
    at = _set(_set(at, "head", "L0 H10"), "sense_word", "board")
    for chart, word in zip(charts(at), (ALL, "board")):
        rows = report.heads[report.heads["word"] == word]
        cells = mark(chart, "rect")
        assert cells.field("color") == "share"
        assert cells.records["share"].tolist() == pytest.approx(rows["share"].tolist(), abs=1e-6)


def test_the_leading_heads_swapped_together_are_drawn_beside_random_ones_and_those_of_other_words(whole, encoder):
    at, _ = whole()
    shares = stored("leading_heads", encoder, labelled_sentences()).report.shares
    chart = next(chart for chart in charts(at) if any(each.kind == "line" for each in chart))
    means = shares.groupby("k")[["leading", "others", "random"]].mean()
    named = means.rename(columns={"others": "of the other words"})
    assert lines(chart) == {name: pytest.approx(named[name].to_dict(), abs=1e-6) for name in named}
    assert mark(chart, "rule").values("y") == [1.0]


def test_a_word_whose_gap_is_small_has_no_shares_and_the_reason(whole, encoder):
    gaps = stored("swaps", encoder, labelled_sentences()).report.gaps
    at, _ = whole(gaps=gaps.assign(gap=gaps["gap"].where(gaps["word"] != "bank", 0.021)))
    assert 'The senses of "bank" lie 0.021 apart, under 0.03. So no head' in texts(at)
    assert 'In "bank" head' not in texts(at)
    n = len(at.get("vega_lite_chart"))
    at = _set(at, "sense_word", "board")
    assert 'In "board" head' in texts(at) and len(at.get("vega_lite_chart")) == n + 1


def test_effects_under_the_noise_of_a_precision_are_drawn_as_0(whole, encoder, monkeypatch):
    few = labelled_sentences().query("word in ('bank', 'bat')").groupby(["word", "sense"]).head(2)
    removed = removal(encoder, few)
    monkeypatch.setattr("pages.explore.senses.separation.removal", lambda *given, **more: removed)
    monkeypatch.setitem(NOISE, "float32", 0.01)
    at, swapped = whole()
    at = _set(_set(_set(at, "sense_word", "bat"), "measure_removal", True), "effects", "different")
    shown = texts(at)
    for chart, word in zip(charts(at), (ALL, "bat")):
        floor = 0.01 * OF_SWAPS / swapped.gaps.set_index("word")["gap"][word]
        shares = swapped.heads.loc[swapped.heads["word"] == word, "share"]
        expected = shares.where(shares.abs() >= floor, 0.0)
        assert mark(chart, "rect").records["share"].tolist() == pytest.approx(expected.tolist(), abs=1e-6)
        assert f"by up to {plain(float(f'{floor:.2g}'))}: {(expected == 0).sum()} of 72 heads lie under that" in shown
    effects = removed.heads["different"]
    expected = effects.where(effects.abs() >= 0.003, 0.0)
    drawn = next(m for chart in charts(at) for m in chart if m.channels.get("color", {}).get("field") == "different")
    assert drawn.values("color") == pytest.approx(expected.tolist(), abs=1e-6)
    assert f"by up to 0.003: {(expected == 0).sum()} of 72 heads lie under that" in shown


def test_the_tokens_that_hand_it_over_are_those_of_the_chosen_sentence_and_head(at, encoder, monkeypatch):
    frame = view.labelled()
    row = frame.index[frame["word"] == "bat"][1]
    monkeypatch.setattr(
        "pages.explore.senses.separation.show_sentences", lambda *given: row
    )  # the test driver can't select a row
    at = _set(_set(at, "sense_word", "bat"), "head", "L0 H3")
    found = interchange(encoder, frame[frame["word"] == "bat"]).sources.query(
        "row == @row and layer == 0 and head == 3"
    )
    assert captions.sources(found, "bat", Head(0, 3)) in texts(at)
    drawn = next(mark(chart, "bar") for chart in charts(at) if any(each.kind == "bar" for each in chart))
    assert drawn.values("x") == pytest.approx(found["share"].tolist(), abs=1e-5)
    assert drawn.labels("y") == found["text"].tolist()


def test_a_ticked_row_is_sentence_a_of_the_main_view_beside_one_of_another_sense(at, monkeypatch):
    dataframe = view.st.dataframe

    def ticked(frame, **named):  # the test driver can't tick a row
        event = dataframe(frame, **named)
        return SimpleNamespace(selection=SimpleNamespace(rows=[1])) if "on_select" in named else event

    monkeypatch.setattr(view.st, "dataframe", ticked)
    at = _set(at, "sense_word", "bat")
    second = at.dataframe[0].value.iloc[1]
    assert f"A: {second['sentence']}\nB: " in texts(at)
    links = [link.proto.label for link in at.get("page_link")]
    assert "The word in two sentences" in links and "Inside a head" in links
    at = at.switch_page("pages/explore/two_sentences/page.py").run()
    assert at.session_state["word_chosen"]
    a, b, control = (at.text_input(key=key).value for key in "abc")
    sense = view.labelled().query("word == 'bat'").set_index("sentence")["sense"]
    assert a == second["sentence"] != control
    assert sense[b] != sense[a] == sense[control]
    assert 'Where does "bat" get its meaning?' in [heading.value for heading in at.subheader]


def test_an_encoder_that_is_shown_only_says_what_is_missing(few, tmp_path, monkeypatch):
    folder = save_tiny(FAMILIES["XLNet"], tmp_path)
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(folder))
    at = open_page(PAGE)
    assert "the word's vector separates the senses in" in texts(at)
    assert any("can't be swapped in this encoder" in element.value for element in at.info)


def test_the_chosen_head_and_word_decide_the_sentences(at, encoder):
    report = separation(encoder, view.labelled(), shuffles=1, floor=False)
    right = {head: int((report.sentences(*head)["score"] == 1).sum()) for head in ((0, 0), (3, 7))}
    assert right[0, 0] != right[3, 7]
    for (layer, head), count in right.items():
        at = _set(at, "head", f"L{layer} H{head}")
        assert f"L{layer} H{head} gets the sense right in {count} of 16 sentences" in texts(at)
    listed = _set(at, "sense_word", "bat").dataframe[0].value
    of_bat = report.sentences(3, 7).query("word == 'bat'")
    assert listed["nearest sense"].to_dict() == of_bat["nearest"].to_dict()  # by the row in the table
    assert (listed["sense"] != listed["nearest sense"]).tolist() == sorted(of_bat["score"] < 1, reverse=True)


def test_an_upload_with_senses_runs_and_lists_its_bad_rows(few):
    at = open_page(PAGE, source="table")
    assert "What the table looks like" in [expander.label for expander in at.expander]
    rows = [*GOOD, ("No such word.", "bank", "money"), ("$x$ :red[bank] <b>", "bank", "money")]
    data = table(rows) + b"too,many,columns,here\n"
    at.get("file_uploader")[0].upload("mine.csv", data, "text/csv")
    at.run()
    shown = texts(at)
    assert "Over 1 word and 5 sentences" in shown
    assert "can't be swapped over these sentences" in shown and "at least 4 are needed" in shown
    rejected = pd.concat([frame.value for frame in at.dataframe if "reason" in frame.value])
    assert rejected["line"].tolist() == [8, 6]
    assert rejected["reason"].str.contains("columns|not a word").all()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"text,token\na,b\n", "expected the columns"),
        (b"", "expected the columns"),
        (table(GOOD[:2]), "None of the 2"),
        (table([row[:2] for row in GOOD], ("sentence", "word")), "First reason: The sense is missing"),
    ],
)
def test_a_table_of_no_use_is_refused_in_words(data, message):
    at = open_page(PAGE, source="table")
    at.get("file_uploader")[0].upload("mine.csv", data, "text/csv")
    at.run()
    assert message in at.error[0].value.replace("\\", "")


@pytest.mark.parametrize("more", [[], pytest.param(["--sources"], marks=pytest.mark.slow)])
def test_a_scan_is_opened_once_and_a_folder_without_one_refused(tmp_path, monkeypatch, more):
    (tmp_path / "table.csv").write_bytes(table(GOOD))
    assert scan([str(tmp_path / "table.csv"), "--output", str(tmp_path / "scan"), "--device", "cpu", *more]) == 0
    at = open_page(PAGE, source="scan")
    at.text_input(key="scan").set_value(str(tmp_path / "scan")).run()
    shown = texts(at)
    assert "4 occurrences in 4 texts, 0 rejected" in shown
    assert "Largest mean special share" in shown
    assert ("isn't in this scan. Make a new one" in shown) == (not more)
    with monkeypatch.context() as patched:
        patched.setattr(finished_scan, "read_scan", lambda folder: pytest.fail("read again at a click"))
        assert "4 occurrences" in texts(at.run())
    at.text_input(key="scan").set_value(str(tmp_path / "absent")).run()
    assert "holds no scan" in at.error[0].value


def test_a_word_of_a_corpus_and_what_it_takes_its_meaning_from_opens_the_main_view(tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_bytes(table([*GOOD, ("A bat flew out of the cave.", "bat", "animal")]))
    command = [str(tmp_path / "table.csv"), "--output", str(tmp_path / "scan"), "--device", "cpu", "--sources"]
    assert scan(command) == 0
    sources = read_scan(tmp_path / "scan").sources()
    own = sources[sources["word"] == "bank"].reset_index(drop=True)
    dataframe = finished_scan.st.dataframe

    def ticked(frame, **named):  # the test driver can't tick a row
        assert str(tmp_path) not in named.get("key", ""), "the browser is told of it"
        event = dataframe(frame, **named)
        row = min(1, len(frame) - 1)
        return SimpleNamespace(selection=SimpleNamespace(rows=[row])) if "on_select" in named else event

    monkeypatch.setattr(finished_scan.st, "dataframe", ticked)
    at = open_page(PAGE, source="scan")
    at.text_input(key="scan").set_value(str(tmp_path / "scan")).run()
    assert at.selectbox(key="scan_word").options == ["bank", "bat"]
    shown = at.dataframe[0].value
    assert shown[["hidden word", "n", "sentence"]].values.tolist() == own[["source", "n", "sentence"]].values.tolist()
    assert shown["share"].tolist() == pytest.approx(own["share"].tolist()) and len(own) > 1
    assert hidden_words.in_corpus(own) in texts(at)
    a, b = own["sentence"][1], own["sentence"][0]
    assert f"A: {a}\nB: {b}" in texts(at)
    main = at.switch_page("pages/explore/two_sentences/page.py").run()
    assert [main.text_input(key=key).value for key in "abc"] == [a, b, ""]
    assert 'Where does "bank" get its meaning?' in [heading.value for heading in main.subheader]
    alone = open_page(PAGE, source="scan", scan=str(tmp_path / "scan"))
    alone = alone.selectbox(key="scan_word").set_value("bat").run()
    assert "In no other sentence does another word move it farthest" in texts(alone)


def test_a_stopped_computation_says_so_and_can_be_run_again(few):
    at = open_page(PAGE, source="table")
    at.get("file_uploader")[0].upload("mine.csv", table(GOOD), "text/csv")
    at.session_state["stopped"] = (encoder_key(load_encoder()), ("senses", hashlib.sha256(table(GOOD)).hexdigest()))
    at.run()
    assert "Stopped." in texts(at)
    at.button(key="run again").click().run()
    assert "Over 1 word and 4 sentences" in texts(at)


def test_a_table_beyond_the_operators_limit_names_the_number(monkeypatch):
    monkeypatch.setenv("SELFATTN_MAX_ROWS", "3")
    with pytest.raises(ValueError, match="more rows than this server takes, which is 3"):
        view.read_table(table(GOOD), ".csv")


def test_json_lines_read_like_csv_and_parquet_is_refused_with_the_remedy(tmp_path):
    frame = pd.DataFrame(GOOD, columns=["sentence", "word", "sense"])
    good, broken = view.read_table(frame.to_json(orient="records", lines=True).encode(), ".jsonl")
    assert good[["sentence", "word", "sense"]].equals(frame)
    assert broken.empty
    good, broken = view.read_table(b'{"sentence": "\\ud800 bank", "word": "bank"}', ".jsonl")
    assert good.empty and broken["sentence"].tolist() == ["? bank"] and broken["reason"].notna().all()
    frame.to_parquet(tmp_path / "t.parquet")
    at = open_page(PAGE, source="table")
    at.get("file_uploader")[0].upload("mine.parquet", (tmp_path / "t.parquet").read_bytes(), "").run()
    said = at.error[0].value.replace("\\", "")
    assert "Expected a table ending in .csv, .jsonl, .ndjson, got .parquet. Save it as CSV, or run" in said
