"""Copy as Python: the lines under Download run as they stand, and make the numbers that the page draws; so does its link."""

import json
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest

from selfattn import notebook
from selfattn.charts.vega import drawn_frame
from selfattn.dashboard import download, figures, session
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import labelled_sentences
from selfattn.scan.__main__ import main as scan
from tests.encoders.test_pooling import embedder

from .conftest import at_address, load_asked

pytestmark = pytest.mark.slow

TWICE = {"a": "A bank is a bank.", "b": "The bank.", "c": "Our bank.", "word": "bank", "at_a": 2, "head": "L3 H7"}


@pytest.fixture
def copied(monkeypatch):
    """Open a page with widgets set: the page, the record of its figures, the copied lines, and what their last one makes."""
    records, end = [], figures.end_page
    monkeypatch.setattr(figures, "end_page", lambda: records.append(end()) or records[-1])
    monkeypatch.setattr(notebook, "_chart", lambda spec: spec)  # as an Altair chart it takes seconds

    def opened(page, query=None, **state):
        at = at_address(page, **(query or {}))
        for key, value in {"download": True, **state}.items():
            at.session_state[key] = value
        load_asked(at.run())
        assert not at.error
        (lines,) = [code.value for code in at.code if "from selfattn.notebook import" in code.value]
        *before, last = lines.splitlines()
        names = {}
        exec("\n".join(before), names)
        return at, list(records[-1].figures.values()), last, eval(last, names)

    return opened


def drawn(spec, column):
    """The numbers in a column of what is drawn, sorted."""
    frame = spec if isinstance(spec, pd.DataFrame) else drawn_frame(spec if isinstance(spec, dict) else spec.to_dict())
    return np.sort(frame[column].dropna().to_numpy(float))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """What users have: a tiny checkpoint with a masked-language head, a classifier and a sentence embedder, and a scan."""
    root = tmp_path_factory.mktemp("folders")
    (root / "table.csv").write_text("sentence,word\nThe bank of the river.,bank\nA bank for a loan.,bank\n", "utf-8")
    assert scan([str(root / "table.csv"), "--output", str(root / "scan"), "--device", "cpu"]) == 0
    return {
        "gap": str(save_tiny(FAMILIES["RoBERTa"], root / "gap", 0, True)),
        "class": str(embedder(save_tiny(FAMILIES["BERT"], root / "class", classes=("BAD", "GOOD", "GOOD")))),
        "scan": str(root / "scan"),
    }


@pytest.mark.parametrize(
    ("page", "query", "figure", "column"),
    [
        ("", {"way": "between the sentences"}, 0, "share"),
        ("all-heads", {**TWICE, "sentence": "B", "measure": "effect"}, 0, "effect"),
        ("all-heads", {"sentence": "A and B as one text", "head": "L3 H7", "measure": "itself"}, 0, "itself"),
        ("all-heads", {"tab": "Lines from the word", "overlaid": ["L0 H1", "average of L2", "rollout"]}, 0, "v"),
        ("senses", {"source": "a finished scan", "scan": "scan", "scan_map": "entropy"}, 0, "entropy"),
        ("two-encoders", {"head": "L0 H4", "a": "Rain fell on the \"old\" town."}, 0, "distance"),
        ("two-encoders", {"head": "L1 H2", "head2": "L2 H1", "second": "gap"}, 2, "value"),
        ("predictions", {"asked": "Two sentences", "b": "It's a loan."}, 0, "effect"),
        ("predictions", {"model": "class", "class": "GOOD (3)", "a": "The bank was muddy."}, 0, "effect"),
        ("masked-words", {"model": "gap", "a": "The bank of the river.", "gap": "river"}, 0, "effect"),
    ],
)  # fmt: skip
def test_a_link_draws_what_its_page_and_its_copied_lines_draw(page, query, figure, column, folders, copied):
    named = {key: folders.get(value, value) if key == "scan" else value for key, value in query.items()}
    for key, prefix in (("model", ""), ("second", "second_")):
        if key in named:
            named |= {key: "another ...", f"{prefix}other": folders[named[key]]}
    _, shown, _, made = copied(page, named)
    linked = notebook.from_link(f"http://localhost:8501/{page}?{urlencode(named, doseq=True)}")
    plain = [each if isinstance(each, dict) else each.to_dict() for each in (linked, made)]
    assert plain[0] == plain[1]
    on_page, numbers = drawn(shown[figure].draw(), column), drawn(made, column)
    assert len(on_page) > 1
    assert all(np.isclose(numbers, each, atol=1e-5).any() for each in on_page)


def test_a_figure_without_lines_of_its_own_is_copied_with_its_numbers_unless_they_are_too_many(copied, monkeypatch):
    _, shown, line, made = copied("from-scratch", {"stop": "causal-mask", "reveal": "yes"})
    assert line.startswith("chart({") and made.to_dict() == json.loads(json.dumps(shown[0].draw()))
    assert "vega" in made.to_html()
    monkeypatch.setattr(download, "MOST_COPIED", 100)
    at = at_address("before-attention")
    at.session_state["download"] = True
    at.run()
    assert not at.code and any("too many numbers to copy" in text.value for text in at.text)


@pytest.mark.parametrize(("view", "figure", "n"), [("pronouns", -1, 2), ("negation", 1, 12)])
def test_those_of_pronouns_and_negation_hold_the_drawn_weights(view, figure, n, copied):
    _, shown, _, made = copied("pronouns-and-negation", view=view, **{f"{view}.shown": True})
    weights, own = drawn(made, "value"), shown[figure].table()["weight"].to_numpy()[:n]
    assert len(own) > 1 and all(np.isclose(weights, each, atol=1e-6).any() for each in own)


def test_many_heads_lines_are_all_heads_of_its_sentence(copied):
    _, _, line, made = copied("pronouns-and-negation", view="heads", **{"many-heads.shown": True})
    assert line.startswith("all_heads(encoder, \"The animal didn't cross") and len(drawn(made, "entropy")) == 72


def test_own_labels_are_a_file_to_fill_in(monkeypatch, copied):
    rows = labelled_sentences().query("word == 'bank'").head(20)
    read = pd.read_csv
    monkeypatch.setattr(pd, "read_csv", lambda file, **more: rows if file == "your_table.csv" else read(file, **more))
    at, shown, line, made = copied("", **{session.TABLE_READ: ("id", rows, None, "digest")})
    assert line.endswith("'bank', senses=pd.read_csv(\"your_table.csv\"))")
    assert "your own table" in next(code.value for code in at.code if "load_encoder" in code.value)
    assert drawn(made, "share") == pytest.approx(drawn(shown[0].draw(), "share"), abs=1e-5)
