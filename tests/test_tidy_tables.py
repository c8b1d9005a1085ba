"""Test the tables of results, and CSV files."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import torch

from selfattn.kernel import attend
from selfattn.tidy_tables import (
    context_share,
    csv_text,
    explained_heads_frame,
    explained_words_frame,
    heads_frame,
    hidden_curves_frame,
    hidden_heads_frame,
    hidden_words_frame,
    leading_words_frame,
    named_heads,
    sources_frame,
    unescaped,
    weights_frame,
)
from tests.small_hidden_pair import BY_HEAD, EXACT, hidden_pair_of
from tests.small_reports import explained


def test_weights_frame_keeps_repeated_tokens():
    frame = weights_frame(torch.tensor([[0.25, 0.75], [0.5, 0.5]]), ["the", "the"])
    assert frame.to_dict("list") == {
        "query_pos": [0, 0, 1, 1], "key_pos": [0, 1, 0, 1], "query": ["the"] * 4, "key": ["the"] * 4,
        "weight": [0.25, 0.75, 0.5, 0.5],
    }  # fmt: skip


@pytest.mark.parametrize("positions", [[2], [1, 2]])
def test_context_share_projects_weighted_value_on_context(positions):
    """The context of a word of several tokens is the mean of its tokens' contexts."""
    torch.manual_seed(1)
    trace = attend(*torch.randn(3, 4, 5))
    shares, context = context_share(trace, positions), sum(trace.context[at] for at in positions) / len(positions)
    for j in range(4):
        part = sum(trace.weights[at, j] for at in positions) / len(positions) * trace.value[j]
        assert shares[j].item() == pytest.approx(float(part @ context / (context @ context)), abs=1e-5)


def test_leading_words_frame_sorts_by_share():
    shares = {
        "row": [7, 7, 7, 3],
        "word": "bank",
        "text": ["of", "river", "muddy", "loan"],
        "share": [0.1, 0.5, 0.5, 0.2],
    }
    frame = pd.DataFrame({"sense": ["money", "water"], "sentence": ["A bank loan", "The muddy river"]}, index=[3, 7])
    found = leading_words_frame(SimpleNamespace(named=pd.DataFrame(shares)), frame)
    assert found.index.tolist() == [7, 3] and found["sense"].tolist() == ["water", "money"]
    assert found[["first", "share"]].to_dict("list") == {"first": ["river", "loan"], "share": [0.5, 0.2]}
    assert found.loc[7, ["second", "next"]].tolist() == ["muddy", 0.5] and found.loc[3, ["second", "next"]].isna().all()


def test_sources_frame_counts_how_often_each_source_leads():
    rows = [
        ("Bank", ["River", "of"], [0.2, 0.9], "s1"), ("bank", ["river"], [0.4], "s2"), ("bank", ["river"], [0.3], "s3"),
        ("bank", ["loan"], [0.5], "s4"), ("bank", [], [], "s5"), ("bat", ["cave"], [0.0], "s6"),
    ]  # fmt: skip
    names = ("word", "sources", "source_moves", "sentence")
    tables = [
        SimpleNamespace(to_pylist=lambda part=part: [dict(zip(names, row)) for row in part])
        for part in (rows[:2], rows[2:])
    ]
    assert sources_frame(tables).to_numpy().tolist() == [
        ["bank", "river", 3, 0.6, pytest.approx(0.3), "s2"], ["bank", "loan", 1, 0.2, 0.5, "s4"], ["bat", "cave", 1, 1, 0, "s6"],
    ]  # fmt: skip


def test_heads_frame_names_each_head():
    frame = heads_frame(effect=torch.arange(72.0).reshape(6, 12), control=-torch.arange(72.0).reshape(6, 12))
    line = frame[frame["name"] == "L3 H7"].iloc[0]
    assert (line["layer"], line["head"], line["effect"], line["control"]) == (3, 7, 43, -43)
    assert "unmeasured" not in named_heads(frame.drop(columns="name").assign(unmeasured=float("nan")))


def test_explanation_tables_list_words_and_heads(encoder):
    sentence, target = encoder.tokenize("The [MASK] of it"), SimpleNamespace(positions=(2,))
    found = explained((0.1, 0.2), named=("The", "it"))
    heads = explained_heads_frame(found)
    assert heads["effect"].tolist() == torch.tensor([0.5, -0.3, 0.05, 0.1]).tolist()
    assert heads["how"].tolist() == ["by gradient", "exact", "by gradient", "exact"]
    words = explained_words_frame({"said": replace(found, sentence=sentence, words=sentence.words[::2], target=target)})
    assert words["text"].tolist() == ["The", "[MASK]", "of", "it"] and words["said"].tolist() == ["said"] * 4
    assert words["kind"].tolist() == ["word", "chosen", "word", "word"]
    assert words["gap"].tolist() == [False, True, True, True]
    assert words["effect"].tolist() == pytest.approx([0.1, float("nan"), float("nan"), 0.2], nan_ok=True)


def test_tables_have_no_effects_if_sentences_have_one_word():
    nothing = {"words": ((), ()), "share": (torch.zeros(0),) * 2, "by_head": (torch.zeros(0, 2, 3),) * 2}
    pair = hidden_pair_of(top=(None, None), **nothing)
    assert hidden_curves_frame(pair)["curve"].unique().tolist() == ["as they are"] and hidden_heads_frame(pair).empty


def test_tables_have_effects_of_hiding_each_word():
    """The full stop has the largest share, but `leads` is never True for punctuation."""
    words = hidden_words_frame(hidden_pair_of())
    assert list(words) == ["sentence", "place", "text", "share", "chosen", "leads", "punctuation"]
    assert words["text"].tolist() == ["the", "bank", "of", "the", "river", ".", "A", "huge", "bank", "."]
    nan = float("nan")
    shares = [0.1, nan, 0.2, -0.026, 0.5, 0.9, 0.25, nan, nan, 0.0]
    assert words["share"].tolist() == pytest.approx(shares, nan_ok=True)
    assert words.index[words["chosen"]].tolist() == [1, 8] and words.index[words["leads"]].tolist() == [4, 6]
    assert words.index[words["punctuation"]].tolist() == [5, 9]
    heads = hidden_heads_frame(hidden_pair_of(), EXACT)
    assert list(heads) == ["sentence", "place", "text", "layer", "head", "name", "share", "how"] and len(heads) == 8 * 6
    for (sentence, place), lines in heads.groupby(["sentence", "place"]):
        number = {"A": {1: 0, 3: 1, 4: 2, 5: 3, 6: 4}, "B": {1: 0, 2: 1, 4: 2}}[sentence][place]
        expected = EXACT.get((sentence, place), BY_HEAD["AB".index(sentence)][number])
        assert lines["share"].tolist() == pytest.approx(expected.flatten().tolist())
        assert set(lines["how"]) == {"exact" if (sentence, place) in EXACT else "by gradient"}
    assert heads[["layer", "head", "name"]].iloc[[4, 10]].to_numpy().tolist() == [[1, 1, "L1 H1"]] * 2
    curves = hidden_curves_frame(hidden_pair_of())
    assert curves["curve"].tolist() == ["as they are"] * 3 + ['"river" and "A" hidden'] * 3
    assert curves["similarity"].tolist() == pytest.approx([at / 72 for at in (0, 1, 2, 51, 52, 53)])
    assert curves["depth"].tolist() == [0, 1, 2] * 2 and curves["stage"].tolist()[:2] == ["embedding", "after L0"]
    assert hidden_curves_frame(hidden_pair_of(top=(None, 0)))["curve"].tolist()[3:] == ['"A" hidden'] * 3


FORMULAS = [
    "=HYPERLINK(1)", "+1", "-1", "-", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\nbank", " =1", "\u00a0 +1", "\0=1", "\ufeff=1",
    "\uff1d1", "\uff0b1", "\uff0d1", "\uff20SUM(A1)", "\n\uff1d1", "\ufe66\u200b1", "'=1", "''=1", "'\n=1",
]  # fmt: skip
PLAIN = ["bank", "a-b", "1 = 1", "'tis", "", "bank\r=1+1", "bank\n=1+1", 'a "b", c', "\r\n".join("ab"), "\u2212 1"]


def read_back(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_csv_escapes_only_formulas():
    texts = [*FORMULAS, *PLAIN]
    frame = pd.DataFrame({"=name": texts, "n": [-0.5] * len(texts), "mixed": [-1, "-1", None, 2.5, *texts[4:]]})
    header, *rows = read_back(csv_text(frame))
    assert header == ["'=name", "n", "mixed"]
    assert [row[0] for row in rows] == [f"'{text}" for text in FORMULAS] + PLAIN
    assert [unescaped(row[0]) for row in rows] == texts
    assert {row[1] for row in rows} == {"-0.5"}  # numbers aren't escaped
    assert [row[2] for row in rows[:4]] == ["-1", "'-1", "", "2.5"]
    assert read_back(csv_text(frame, header=False)) == rows


ROOT = Path(__file__).parents[1]


def test_only_module_tidy_tables_writes_csv_files():
    """Stored reports are exempt: only the project reads them."""
    writer = re.compile(r"\b(to_csv|csv\.writer|DictWriter|savetxt|write_csv)\b")
    paths = [*(ROOT / "selfattn").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]
    writes = {str(path.relative_to(ROOT)) for path in paths if writer.search(path.read_text("utf-8"))}
    assert writes == {"selfattn/tidy_tables.py", "selfattn/stored_reports.py"}
