"""The senses page through Streamlit's own test driver: the labelled set, uploads good and bad, a scan, and stopping."""

import hashlib
import json
from functools import partial
from types import SimpleNamespace

import pandas as pd
import pytest

from pages.explore.senses import finished_scan, which_word
from pages.explore.senses import tables_and_reports as view
from selfattn import load_encoder
from selfattn.captions import which_word as word_captions
from selfattn.dashboard import compute_again, session
from selfattn.dashboard.cache import encoder_key
from selfattn.examples import labelled_sentences
from selfattn.scan import read_scan
from selfattn.scan.__main__ import main as scan
from selfattn.senses import separation
from selfattn.stored_reports import stored
from tests.pages.conftest import open_page
from tests.pages.pictures import charts

pytestmark = pytest.mark.slow

PAGE, MAIN = "pages/explore/senses/page.py", "pages/explore/two_sentences/page.py"
GOOD = [
    ("The bank of the river was muddy.", "bank", "water"),
    ("Reeds grew along the bank.", "bank", "water"),
    ("The bank approved the loan.", "bank", "money"),
    ("She works at a bank.", "bank", "money"),
]


def table(rows, columns=("sentence", "word", "sense")):
    return pd.DataFrame(rows, columns=list(columns)).to_csv(index=False).encode()


def some(n, *words):
    """n of the labelled sentences of each sense of these words: the encoder has nothing stored about them."""
    few = labelled_sentences()
    return few[few["word"].isin(words)].groupby(["word", "sense"]).head(n)


@pytest.fixture
def few(monkeypatch):
    """A few labelled sentences and shuffles, nothing stored: quick."""
    monkeypatch.setattr(view, "separation", partial(separation, shuffles=50))
    few = some(4, "bank", "bat")
    monkeypatch.setattr(view, "labelled", lambda: few)
    monkeypatch.setattr(compute_again, "stored", lambda *_: None)
    return few


@pytest.fixture
def tick(monkeypatch):
    """Tick the row of this number in the tables whose key begins so: the test driver can't."""
    dataframe = view.st.dataframe

    def ticked(number, begins):
        def shown(frame, **named):
            event, key = dataframe(frame, **named), str(named.get("key"))
            assert "/" not in key, "the browser is told of the scan's folder"
            rows = [min(number, len(frame) - 1)] if key.startswith(begins) else []
            return SimpleNamespace(selection=SimpleNamespace(rows=rows)) if "on_select" in named else event

        monkeypatch.setattr(view.st, "dataframe", shown)

    return ticked


def kept_from(module, name, monkeypatch):
    """What the page has this function make, as a list that fills."""
    made, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **more: made.append(function(*given, **more)) or made[-1])
    return made


def texts(at):
    return "\n".join(element.value for element in at.get("text"))


def listed(at, column):
    return next(frame.value for frame in at.dataframe if column in frame.value)


def upload(at, name, data):
    at.get("file_uploader")[0].upload(name, data, "text/csv")
    return at.run()


def test_the_built_in_set_opens_from_what_is_stored_with_its_date_and_can_be_computed_again(monkeypatch):
    computed, kept = [], stored("separation", load_encoder(), labelled_sentences())
    monkeypatch.setattr(which_word, "hidden_words", lambda *given, **more: pytest.fail("computed"))
    monkeypatch.setattr(view, "separation", lambda *given, **more: computed.append(given[1]) or kept.report)
    at = open_page(PAGE)
    assert any(f"Computed on {kept.date}" in text.value for text in at.text)
    assert not computed
    at.button(key="again separation").click().run()
    assert [table["word"].nunique() for table in computed] == [1, 32]  # the chosen word first
    assert "Over 32 words" in texts(at)
    assert not any("Computed on" in text.value for text in at.text)


def test_the_chosen_words_sentences_come_first():
    words = listed(open_page(PAGE, sense_word="bat"), "leading word")["word"]
    assert words.iloc[:24].eq("bat").all() and not words.iloc[24:].eq("bat").any()


def test_what_one_word_needs_is_computed_first_and_the_chosen_head_and_word_decide(few, monkeypatch, encoder):
    asked = []

    def counted(encoder, table, **named):
        asked.append(table["word"].nunique())
        return separation(encoder, table, shuffles=1, **named)

    monkeypatch.setattr(view, "separation", counted)
    at = open_page(PAGE, head="L3 H7", sense_word="bat")
    assert asked == [1, 2] and "Over 2 words and 16 sentences" in texts(at) and "Over 1 word" not in texts(at)
    sentences = separation(encoder, few, shuffles=1, floor=False).sentences(3, 7)
    assert f"L3 H7 gets the sense right in {(sentences['score'] == 1).sum()} of 16 sentences" in texts(at)
    own, shown = sentences.query("word == 'bat'"), listed(at, "nearest sense")
    assert shown["nearest sense"].to_dict() == own["nearest"].to_dict()  # by the row in the table
    assert (shown["sense"] != shown["nearest sense"]).tolist() == sorted(own["score"] < 1, reverse=True)


def test_a_ticked_row_is_sentence_a_beside_one_of_another_sense(few, tick, monkeypatch):
    tick(1, "rows ")
    few = few[few["word"] == "bat"]
    monkeypatch.setattr(view, "labelled", lambda: few)
    at = open_page(PAGE, head="L0 H3", sense_word="bat")
    row = listed(at, "nearest sense").index[1]
    at = at.switch_page(MAIN).run()
    a, b, control = (at.text_input(key=key).value for key in "abc")
    sense = few.query("word == 'bat'").set_index("sentence")["sense"]
    assert a == few["sentence"][row] != control and sense[b] != sense[a] == sense[control]
    assert at.selectbox(key="word").value.casefold() == "bat" and at.session_state["word_chosen"]


def test_a_ticked_sentence_opens_the_main_view_with_its_leading_word(encoder, tick):
    tick(300, "hidden in")
    at = open_page(PAGE)
    row = listed(at, "leading word").iloc[300]
    assert row["word"] != "bank" and word_captions.shaded(True, "bank", 24, 3) in texts(at)
    drawn = next(each.records for chart in charts(at) for each in chart if "shade" in each.records)
    words = stored("hidden_words", encoder, labelled_sentences()).report.words
    shares = words[words["row"] == row.name].set_index("text")["share"].to_dict()
    assert drawn.dropna(subset="share").set_index("text")["share"].to_dict() == pytest.approx(shares, abs=1e-6)
    at = at.switch_page(MAIN).run()
    assert at.text_input(key="a").value == row["sentence"]
    first, _ = json.loads(at.get("bidi_component")[0].proto.json)["sides"]
    assert next(word["text"] for word in first["words"] if word["at"] == first["leader"]) == row["leading word"]


def test_of_a_visitors_own_sentences_a_button_asks_which_word_shows_its_progress_and_stops(few, monkeypatch):
    own, made = some(4, "bank"), kept_from(which_word, "hidden_words", monkeypatch)
    monkeypatch.setattr(view, "labelled", lambda: own)
    at = open_page(PAGE)
    assert at.button(key="ask_hidden").label == "Ask this of 8 sentences" and not made
    assert "Over 1 word and 8 sentences" in texts(at)  # the other panels stand
    at = at.button(key="ask_hidden").click().run()
    said = word_captions.one_word(made[0])
    assert len(made) == 1 and len(listed(at, "leading word")) == 8 and said in texts(at)
    at.session_state[session.STOPPED] = (encoder_key(load_encoder()), ("hidden words", "labelled"))
    at = at.run()
    assert "Stopped." in texts(at) and "Over 1 word and 8 sentences" in texts(at)
    assert said in texts(at.button(key="ask_hidden").click().run()) and len(made) == 1


def test_the_page_says_why_no_word_or_head_can_be_asked_for(few, checkpoint, monkeypatch):
    monkeypatch.setattr(view, "labelled", lambda: some(3, "bank"))
    at = open_page(PAGE)
    assert "No word can be asked for over these sentences: 'bank' has 3 usable sentences in the sense" in texts(at)
    assert "at least 4 are needed." in texts(at)
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(checkpoint("XLNet")))
    at = open_page(PAGE)
    assert "the word's vector separates the senses in" in texts(at)
    assert any("only where their outputs can be read: a linear layer" in element.value for element in at.info)
    assert "No word can be hidden in this encoder: " in texts(at)
    assert "ask_hidden" not in [button.key for button in at.button]


def test_an_upload_with_senses_runs_stops_and_lists_its_bad_rows(few):
    at = open_page(PAGE, source="table")
    rows = [*GOOD, ("No such word.", "bank", "money"), ("$x$ :red[bank] <b>", "bank", "money")]
    data = table(rows) + b"too,many,columns,here\n"
    key = (encoder_key(load_encoder()), ("senses", hashlib.sha256(b".csv" + data).hexdigest()))
    at.session_state[session.STOPPED] = key
    at = upload(at, "mine.csv", data)
    assert "Stopped." in texts(at)
    at = at.button(key="run again").click().run()
    assert "Over 1 word and 5 sentences" in texts(at)
    rejected = pd.concat([frame.value for frame in at.dataframe if "reason" in frame.value])
    assert rejected["line"].tolist() == [8, 6]
    assert rejected["reason"].str.contains("columns|not a word").all()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("mine.csv", b"text,token\na,b\n", "expected the columns"),
        ("mine.csv", table(GOOD[:2]), "None of the 2"),
        ("mine.csv", table([row[:2] for row in GOOD], ("sentence", "word")), "First reason: The sense is missing"),
        ("mine.parquet", b"PAR1", "ending in .csv, .tsv, .jsonl, .ndjson, got .parquet. Save it as CSV, or run"),
    ],
)
def test_a_table_of_no_use_is_refused_in_words(name, data, message):
    assert message in upload(open_page(PAGE, source="table"), name, data).error[0].value.replace("\\", "")


def test_a_word_of_a_corpus_and_what_it_takes_its_meaning_from_opens_the_main_view(tmp_path, monkeypatch, tick):
    (tmp_path / "table.csv").write_bytes(table([*GOOD, ("A bat flew out of the cave.", "bat", "animal")]))
    command = [str(tmp_path / "table.csv"), "--output", str(tmp_path / "scan"), "--device", "cpu", "--sources"]
    assert scan(command) == 0
    sources = read_scan(tmp_path / "scan").sources()
    own = sources[sources["word"] == "bank"].reset_index(drop=True)
    tick(1, "sources ")
    at = open_page(PAGE, source="scan", scan=str(tmp_path / "scan"))
    assert "5 occurrences in 5 texts, 0 rejected" in texts(at) and "Largest mean special share" in texts(at)
    assert at.selectbox(key="scan_word").options == ["bank", "bat"]
    shown = at.dataframe[0].value
    assert shown[["hidden word", "n", "sentence"]].values.tolist() == own[["source", "n", "sentence"]].values.tolist()
    assert shown["share"].tolist() == pytest.approx(own["share"].tolist()) and len(own) > 1
    assert finished_scan.in_corpus(own) in texts(at)
    a, b = own["sentence"][1], own["sentence"][0]
    assert f"A: {a}\nB: {b}" in texts(at)
    with monkeypatch.context() as patched:
        patched.setattr(finished_scan, "read_scan", lambda folder: pytest.fail("read again at a click"))
        at = at.selectbox(key="scan_word").set_value("bat").run()
    assert "In no other sentence does another word move it farthest" in texts(at)
    main = at.selectbox(key="scan_word").set_value("bank").run().switch_page(MAIN).run()
    assert [main.text_input(key=key).value for key in "abc"] == [a, b, ""]


def test_a_scan_without_sources_says_how_to_have_them_and_a_folder_without_a_scan_is_refused(tmp_path):
    (tmp_path / "table.csv").write_bytes(table(GOOD))
    assert scan([str(tmp_path / "table.csv"), "--output", str(tmp_path / "scan"), "--device", "cpu"]) == 0
    at = open_page(PAGE, source="scan", scan=str(tmp_path / "scan"))
    assert "isn't in this scan. Make a new one" in texts(at)
    at.text_input(key="scan").set_value(str(tmp_path / "absent")).run()
    assert "holds no scan" in at.error[0].value
