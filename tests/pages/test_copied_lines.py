"""Copy as Python: the lines under Download run as they stand, and make the numbers that the page draws."""

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from selfattn import notebook
from selfattn.charts.vega import drawn_frame
from selfattn.dashboard import figures, session
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.numbers import change

from .conftest import APP

pytestmark = pytest.mark.slow

TEXTS = ", ".join(map(repr, PAIRS[0].sentences[:2]))
CONTROL = repr(PAIRS[0].control)
TWICE = {"example": None, "a": "A bank is a bank.", "b": "The bank.", "c": "Our bank.", "word": "bank", "at_a": 2}


@pytest.fixture
def copied(monkeypatch):
    """Open a page with widgets set: the page, the record of its figures, the copied lines, and what their last one makes."""
    records, end = [], figures.end_page
    monkeypatch.setattr(figures, "end_page", lambda: records.append(end()) or records[-1])
    monkeypatch.setattr(notebook, "_chart", lambda spec: spec)  # as an Altair chart it takes seconds

    def opened(page, **state):
        at = AppTest.from_file(str(APP), default_timeout=180)
        at._page_hash = calc_hash(page) if page else ""
        for key, value in {"download": True, **state}.items():
            at.session_state[key] = value
        at.run()
        assert not at.error
        (lines,) = [code.value for code in at.code if "load_encoder" in code.value]
        *before, last = lines.splitlines()
        names = {}
        exec("\n".join(before), names)
        made = eval(last, names)
        return at, records[-1], last, made

    return opened


def drawn(spec, column):
    """The numbers in a column of what is drawn, sorted."""
    frame = spec if isinstance(spec, pd.DataFrame) else drawn_frame(spec if isinstance(spec, dict) else spec.to_dict())
    return np.sort(frame[column].dropna().to_numpy(float))


@pytest.mark.parametrize(
    ("page", "state", "figure", "column", "last"),
    [
        ("", {}, 0, "share", f"hidden_words(encoder, {TEXTS}, {CONTROL}, 'bank', senses=labelled_sentences())"),
        ("", {"way": "sentences"}, 0, "share", f"hidden_words(encoder, {TEXTS}, {CONTROL}, 'bank')"),
        ("all-heads", {**TWICE, "head": "L3 H7", "sentence": "B", "measure": "effect"}, 0, "effect",
         "all_heads(encoder, 'A bank is a bank.', second='The bank.', control='Our bank.', word='bank', at=(2, 1), maps_of='B', "
         "measure='effect', chosen='L3 H7')"),
        ("all-heads", {"head": "L3 H7", "sentence": "B", "measure": "itself"}, 0, "itself",
         f"all_heads(encoder, {TEXTS.replace(', ', ', second=', 1)}, control={CONTROL}, word='bank', maps_of='B', "
         "measure='itself', chosen='L3 H7')"),
        ("all-heads", {"head": "L3 H7", "sentence": "both", "measure": "itself"}, 0, "itself",
         f"all_heads(encoder, {TEXTS.replace(', ', ', pair=', 1)}, measure='itself', chosen='L3 H7')"),
        ("senses", {"sense_word": "bat", "head": "L0 H4"}, -1, "share",
         "brought_in(report, 'bat', chosen='L0 H4')"),
        ("two-encoders", {"head": "L0 H4"}, 0, "distance",
         f"counterparts(first, second, {PAIRS[0].first!r}, chosen='L0 H4')"),
        ("predictions", {"asked": "similarity"}, 0, "effect", "explained_words(found)"),
    ],
)  # fmt: skip
def test_the_copied_lines_draw_the_numbers_of_the_page(page, state, figure, column, last, copied):
    _, record, line, made = copied(page, **state)
    assert line == last
    shown = list(record.figures.values())
    on_page = drawn(shown[figure].draw(), column)
    assert len(on_page) > 1 and drawn(made, column) == pytest.approx(on_page, abs=1e-5)


def test_inside_a_heads_lines_name_its_words_and_head(copied):
    _, _, line, _ = copied("inside-a-head", head="L3 H7")
    assert line == f"steps(encoder, {TEXTS}, 'bank', layer=3, head=7)"


@pytest.mark.parametrize(("view", "figure", "n"), [("pronouns", -1, 2), ("negation", 1, 12)])
def test_those_of_pronouns_and_negation_hold_the_drawn_weights(view, figure, n, copied):
    _, record, _, made = copied("pronouns-and-negation", view=view, **{f"{view}.shown": True})
    weights, own = drawn(made, "value"), list(record.figures.values())[figure].table()["weight"].to_numpy()[:n]
    assert len(own) > 1 and all(np.isclose(weights, each, atol=1e-6).any() for each in own)


def test_many_heads_lines_are_all_heads_of_its_sentence(copied):
    _, _, line, made = copied("pronouns-and-negation", view="heads", **{"many-heads.shown": True})
    assert line.startswith("all_heads(encoder, \"The animal didn't cross") and len(drawn(made, "entropy")) == 72


def test_a_gaps_lines_load_the_folder_from_anywhere(copied, tmp_path):
    folder = save_tiny(FAMILIES["BERT"], tmp_path / "tiny", 0, True)
    _, record, _, made = copied("predictions", model="another ...", other=str(folder), asked="gap")
    assert drawn(made, "effect") == pytest.approx(drawn(next(iter(record.figures.values())).draw(), "effect"), abs=1e-5)


def test_that_of_what_it_cannot_tell_is_summed_on_the_page(copied):
    at, _, line, made = copied("what-it-cannot-tell")
    assert line == f"removals(encoder, {TEXTS}, 'bank')"
    total = change(drawn(made, "effect").sum())
    assert any(f"add up to {total};" in text.value for text in at.text)


def test_own_labels_are_a_file_to_fill_in(monkeypatch, copied):
    rows = labelled_sentences().query("word == 'bank'").head(20)
    read = pd.read_csv
    monkeypatch.setattr(pd, "read_csv", lambda file, **more: rows if file == "your_table.csv" else read(file, **more))
    own = {session.TABLE_READ: ("id", rows, None, "digest")}
    at, record, line, made = copied("", **own)
    assert line == f"hidden_words(encoder, {TEXTS}, {CONTROL}, 'bank', senses=pd.read_csv(\"your_table.csv\"))"
    assert "your own table" in next(code.value for code in at.code if "load_encoder" in code.value)
    assert drawn(made, "share") == pytest.approx(drawn(next(iter(record.figures.values())).draw(), "share"), abs=1e-5)
