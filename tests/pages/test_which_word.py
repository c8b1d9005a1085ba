"""The senses page's first panel: stored it opens at once, else a button asks; a row opens the main view with its word hidden."""

from types import SimpleNamespace

import pandas as pd
import pytest

from pages.explore.senses import tables_and_reports as view
from pages.explore.senses import which_word
from selfattn import load_encoder
from selfattn.captions import which_word as captions
from selfattn.dashboard import compute_again, session
from selfattn.dashboard.cache import encoder_key
from selfattn.examples import labelled_sentences
from selfattn.senses import hidden_words
from selfattn.stored_reports import stored
from tests.pages.conftest import open_page
from tests.pages.pictures import charts

pytestmark = pytest.mark.slow

PAGE = "pages/explore/senses/page.py"


@pytest.fixture(scope="module")
def report(encoder):
    return stored("hidden_words", encoder, labelled_sentences()).report


@pytest.fixture
def few(monkeypatch):
    """Four sentences of each sense of "bank": the encoder has nothing stored about them."""
    few = labelled_sentences()
    few = few[few["word"] == "bank"].groupby("sense").head(4)
    monkeypatch.setattr(view, "labelled", lambda: few)
    monkeypatch.setattr(compute_again, "stored", lambda *_: None)
    return few


def texts(at):
    return "\n".join(element.value for element in at.get("text"))


def table(at):
    return next(frame.value for frame in at.dataframe if "leading word" in frame.value)


def points(at, column):
    """Of the first chart with these labels."""
    dots = (each for chart in charts(at) for each in chart if each.kind == "point" and "label" in each.records)
    return [dict(zip(each.records["label"], each.records[column])) for each in dots]


def test_the_built_in_set_opens_with_it_computing_nothing(report, monkeypatch):
    monkeypatch.setattr(which_word, "hidden_words", lambda *given, **more: pytest.fail("computed"))
    at = open_page(PAGE)
    assert "ask_hidden" not in [button.key for button in at.button]
    _, agreement = points(at, "value")
    assert agreement == pytest.approx(report.agreement.set_index("way")["agreement"].to_dict())
    rows = table(at)
    assert len(rows) == 768 and rows["word"].iloc[:24].eq("bank").all() and not rows["word"].iloc[24:].eq("bank").any()
    for own in (rows.iloc[:24], rows.iloc[24:]):
        assert own["of the way"].is_monotonic_decreasing
    first = report.words[report.words["row"] == rows.index[0]]
    best = first.loc[first["share"].idxmax()]
    assert (rows["leading word"].iloc[0], rows["of the way"].iloc[0]) == (best["text"], 100 * best["share"])


def test_another_word_is_first_where_it_is_chosen(report):
    at = open_page(PAGE, sense_word="star")
    assert table(at)["word"].iloc[:24].eq("star").all()
    assert captions.in_word(report, "star") in texts(at)
    drawn = [each.records for chart in charts(at) for each in chart if "shade" in each.records]
    assert drawn[0].groupby("sentence")["text"].agg(" ".join).str.contains("star", case=False).all()


def test_elsewhere_a_button_asks_shows_its_progress_and_stops(few, monkeypatch, encoder):
    asked = []
    monkeypatch.setattr(which_word, "hidden_words", lambda *of, **more: asked.append(of) or hidden_words(*of, **more))
    at = open_page(PAGE)
    assert at.button(key="ask_hidden").label == "Ask this of 8 sentences" and not asked
    assert "Over 1 word and 8 sentences" in texts(at)  # the other panels stand
    at = at.button(key="ask_hidden").click().run()
    assert len(asked) == 1 and len(table(at)) == 8
    live = hidden_words(encoder, few)
    assert captions.one_word(live) in texts(at) and points(at, "value")[0]["all words"] == pytest.approx(
        live.of().loc["as it is", "accuracy"]
    )
    assert len(at.run().dataframe) and len(asked) == 1
    at.session_state[session.STOPPED] = (encoder_key(load_encoder()), ("hidden words", "labelled"))
    at = at.run()
    assert "Stopped." in texts(at) and "Over 1 word and 8 sentences" in texts(at)
    at = at.button(key="ask_hidden").click().run()
    assert captions.one_word(live) in texts(at)


def test_too_few_rows_say_what_is_missing(few, monkeypatch):
    three = few.groupby("sense").head(3)
    monkeypatch.setattr(view, "labelled", lambda: three)
    at = open_page(PAGE)
    assert "No word can be asked for over these sentences: 'bank' has 3 usable sentences in the sense" in texts(at)
    assert "at least 4 are needed." in texts(at) and "ask_hidden" not in [button.key for button in at.button]


def test_where_nothing_can_be_hidden_it_says_why(few, checkpoint, monkeypatch):
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(checkpoint("XLNet")))
    at = open_page(PAGE)
    line = next(text for text in texts(at).splitlines() if text.startswith("No word can be hidden in this encoder: "))
    assert line.endswith("Choose another one to see it.")
    assert "ask_hidden" not in [button.key for button in at.button]


def test_a_ticked_row_opens_the_main_view_with_its_word_hidden(report, monkeypatch):
    dataframe = which_word.st.dataframe

    def ticked(frame, **named):  # the test driver can't tick a row
        event = dataframe(frame, **named)
        rows = [300] if str(named.get("key", "")).startswith("hidden in") else []
        return SimpleNamespace(selection=SimpleNamespace(rows=rows)) if "on_select" in named else event

    monkeypatch.setattr(which_word.st, "dataframe", ticked)
    at = open_page(PAGE)
    row = table(at).iloc[300]
    assert row["word"] != "bank" and captions.shaded(True, "bank", 24, 3) in texts(at)
    drawn = next(each.records for chart in charts(at) for each in chart if "shade" in each.records)
    shares = report.words[report.words["row"] == row.name].set_index("text")["share"]
    assert drawn.dropna(subset="share").set_index("text")["share"].to_dict() == pytest.approx(
        shares.to_dict(), abs=1e-6
    )
    at = at.switch_page("pages/explore/two_sentences/page.py").run()
    sense = labelled_sentences().query("word == @row.word").set_index("sentence")["sense"]
    a, b, control = (at.text_input(key=key).value for key in "abc")
    assert a == row["sentence"] != control and sense[b] != sense[a] == sense[control]
    _, hidden = at.session_state[session.FIGURE]
    words = [word for word in load_encoder().tokenize(a).words if word.text.casefold() != row["word"]]
    assert words[hidden["hide_a"]].label == row["leading word"]


def test_its_tables_are_offered(report, monkeypatch):
    offered = []
    monkeypatch.setattr(
        "selfattn.dashboard.figures.end_page", lambda end=which_word.this_page: offered.append(end()) or end()
    )
    open_page(PAGE)
    tables = offered[-1].tables
    for name in ("words", "accuracy", "agreement", "between", "rejected"):
        pd.testing.assert_frame_equal(tables[f"{name}, hidden words"](), getattr(report, name))
