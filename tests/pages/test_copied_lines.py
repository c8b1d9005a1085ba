"""Test that the lines of code under "Copy as Python" compute the page's numbers."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from selfattn.charts.vega import drawn_frame
from selfattn.dashboard import copy_as_python, figures, session
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import labelled_sentences
from selfattn.panel import Look
from selfattn.scan.__main__ import main as scan
from tests.encoders.test_pooling import embedder

from .conftest import at_address, load_asked

pytestmark = pytest.mark.slow

TWICE = {"a": "A bank is a bank.", "b": "The bank.", "c": "Our bank.", "word": "bank", "at_a": 2, "head": "L3 H7"}


@pytest.fixture
def copied(monkeypatch):
    """Return a function that opens a page and runs the lines under its "Copy as Python"."""
    records, end = [], figures.end_page
    monkeypatch.setattr(figures, "end_page", lambda: records.append(end()) or records[-1])

    def opened(page, query=None, **state):
        at = at_address(page, **(query or {}))
        for key, value in {"download": True, **state}.items():
            at.session_state[key] = value
        load_asked(at.run())
        assert not at.error
        lines = [code.value for code in at.code if "import notebook" in code.value or "load_encoder" in code.value]
        if not lines:
            return records[-1].panels, "", None
        *before, last = lines[0].splitlines()
        names = {}
        exec("\n".join(before), names)
        return records[-1].panels, lines[0], eval(last, names)

    return opened


def drawn(spec, column):
    """Return the sorted values of one column of a chart's data."""
    frame = spec if isinstance(spec, pd.DataFrame) else drawn_frame(spec if isinstance(spec, dict) else spec.to_dict())
    return np.sort(frame[column].dropna().to_numpy(float))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Save three tiny encoders and a scan."""
    root = tmp_path_factory.mktemp("folders")
    (root / "table.csv").write_text("sentence,word\nThe bank of the river.,bank\nA bank for a loan.,bank\n", "utf-8")
    assert scan([str(root / "table.csv"), "--output", str(root / "scan"), "--device", "cpu"]) == 0
    return {
        "gap": str(save_tiny(FAMILIES["RoBERTa"], root / "gap", 0, True)),
        "class": str(embedder(save_tiny(FAMILIES["BERT"], root / "class", classes=("BAD", "GOOD", "GOOD")))),
        "tag": str(save_tiny(FAMILIES["BERT"], root / "tag", tags=("O", "B-LOC"))),
        "scan": str(root / "scan"),
    }


@pytest.mark.parametrize(
    ("page", "query", "figure", "column"),
    [
        ("", {"way": "between the sentences"}, 0, "value"),
        ("all-heads", {**TWICE, "sentence": "B", "measure": "effect"}, 0, "effect"),
        ("all-heads", {"sentence": "A and B as one text", "head": "L3 H7", "measure": "itself"}, 0, "itself"),
        ("senses", {"source": "a finished scan", "scan": "scan", "scan_map": "entropy"}, 0, "entropy"),
        ("two-encoders", {"model": "gap", "head": "L0 H3", "a": "Rain fell on the \"old\" town."}, 1, "value"),
        ("two-encoders", {"head": "L1 H2", "head2": "L2 H1", "second": "gap"}, 1, "value"),
        ("predictions", {"asked": "Two sentences", "b": "It's a loan."}, 0, "opacity"),
        ("predictions", {"model": "class", "class": "GOOD (class 2)", "a": "The bank was muddy."}, 0, "opacity"),
        ("predictions", {"model": "class", "asked": "Query and document", "b": "It's a loan.", "document": "Mud."}, 0, "opacity"),
        ("predictions", {"model": "tag", "a": "The bank of the river.", "tagged": "river"}, 1, "opacity"),
        ("masked-words", {"model": "gap", "a": "The bank of the river.", "gap": "river"}, 0, "opacity"),
    ],
)  # fmt: skip
def test_copied_code_computes_same_numbers_as_page(page, query, figure, column, folders, copied):
    named = {key: folders.get(value, value) if key == "scan" else value for key, value in query.items()}
    for key, prefix in (("model", ""), ("second", "second_")):
        if key in named:
            named |= {key: "another ...", f"{prefix}other": folders[named[key]]}
    shown, _, made = copied(page, named)
    on_page, copies = drawn(shown[figure].picture(Look()), column), drawn(made, column)
    assert len(on_page) > 1
    assert all(np.isclose(copies, each, atol=1e-5).any() for each in on_page)


def test_copied_code_redraws_chart_of_attention_steps(copied):
    shown, _, made = copied("inside-a-head", TWICE)
    (kernel,) = (panel for panel in shown if panel.name == "kernel")
    drawn, copy = (spec["datasets"] for spec in (kernel.picture(Look()), made.to_dict()))
    assert all(copy[name] == drawn[name] for name in ("rects", "images", "right_plain")) and drawn["rects"]


def test_from_scratch_figure_has_no_code_to_copy(copied):
    shown, lines, _ = copied("from-scratch", {"stop": "causal-mask", "reveal": "yes"})
    assert shown and not lines


@pytest.mark.parametrize(("view", "figure", "n"), [("pronouns", -1, slice(2)), ("negation", 0, slice(24, 36))])
def test_copied_code_computes_attention_weights_of_lesson(view, figure, n, copied):
    shown, _, made = copied("pronouns-and-negation", view=view, **{f"{view}.shown": True})
    weights, own = drawn(made, "value"), shown[figure].table["weight"].dropna().to_numpy()[n]
    assert len(own) > 1 and all(np.isclose(weights, each, atol=1e-6).any() for each in own)


def test_copied_code_of_lesson_draws_all_heads(copied):
    _, lines, made = copied("pronouns-and-negation", view="heads", **{"many-heads.shown": True})
    assert "notebook.all_heads(encoder, \"The animal didn't cross" in lines and len(drawn(made, "entropy")) == 72


def test_copied_python_reads_uploaded_table(monkeypatch, copied):
    rows = labelled_sentences().query("word == 'bank'").head(20)
    read = pd.read_csv
    monkeypatch.setattr(pd, "read_csv", lambda file, **more: rows if file == "your_table.csv" else read(file, **more))
    shown, lines, made = copied("", **{session.TABLE_READ: ("id", rows, None, "digest")})
    assert lines.startswith("import pandas as pd\nfrom selfattn import load_encoder, notebook\n")
    assert 'senses = pd.read_csv("your_table.csv")  # your table' in lines
    assert drawn(made, "value") == pytest.approx(drawn(shown[0].picture(Look()), "value"), abs=1e-5)


@pytest.mark.parametrize(
    ("name", "revision", "base", "beyond", "named"),
    [
        ("owner/name", "abc123", "", False, "'owner/name', revision='abc123'"),
        ("owner/name", None, "", False, "'{here}/owner/name'"),  # without a revision, the name is a folder
        ("owner/name", None, "/srv/shelf", False, "'/srv/shelf/owner/name'"),
        ("owner/name", None, "/srv/shelf", True, "'./name'"),
        ("/srv/shelf/name", None, "/srv/shelf", True, "'./name'"),
    ],
)
def test_copied_lines_load_encoder_of_page(name, revision, base, beyond, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SELFATTN_MODEL_DIR", base)
    monkeypatch.setattr(copy_as_python, "beyond_localhost", lambda: beyond)
    other = SimpleNamespace(name=name, revision=revision, dtype="bfloat16")
    loaded = f"encoder = load_encoder({named.format(here=tmp_path.resolve())}, dtype='bfloat16')"
    assert copy_as_python.load(other).splitlines()[1] == loaded
