"""The table of a word's row: hidden words, long sentences, nothing cut off at two widths; its places: test_places.py."""

import math
import re

import pandas as pd
import pytest
import torch
from vl_convert import vegalite_to_svg

from selfattn import Hide, attend
from selfattn.charts.code_view import kernel_lines
from selfattn.charts.kernel_row import MOST, kernel_row, most_weight
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.vega import updatable
from selfattn.tidy_tables import row_frame
from tests.charts.scene import drawn, texts

TEXTS = {"A": ("We sat on the bank of the river.", "river"), "B": ("We went to the bank for a loan.", "loan")}
WIDTHS = {1100: 806, 400: 342}  # a window, and the pixels that it leaves a figure


def rows_of(encoder, hidden=False, texts=TEXTS):
    tables = []
    for name, (text, other) in texts.items():
        word = encoder.encode(text).places("bank")[0]
        keys = encoder.encode(text).places(other)[0].positions
        encoding = encoder.encode(text, hidden=[Hide(word.positions, keys)] if hidden else ())
        tables.append(row_frame(encoding.trace(0, 10, word.rows), word.positions, encoding, name))
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(scope="module")
def rows(encoder):
    return rows_of(encoder)


@pytest.mark.slow
@pytest.mark.parametrize(("window", "width"), WIDTHS.items())
def test_it_is_no_wider_than_the_window_leaves_and_every_text_stands_inside(encoder, window, width):
    long = {"A": (f"{TEXTS['A'][0][:-1]}, {'and the boats, the reeds and an internationalization ' * 5}.", "river")}
    for table in (rows_of(encoder), rows_of(encoder, hidden=True), rows_of(encoder, texts=long | {"B": TEXTS["B"]})):
        spec = kernel_row(table, LIGHT)
        spec["params"][0] = {"name": "window_width", "value": window}
        svg = vegalite_to_svg(spec)
        assert float(re.search(r'width="([\d.]+)"', svg)[1]) <= width
        assert "…" not in svg


def test_a_hidden_word_is_masked_to_minus_infinity_and_its_weight_goes_to_the_others(encoder, rows):
    hidden = rows_of(encoder, hidden=True)
    at = hidden.index[hidden["text"] == "river"][0]
    assert hidden.loc[at, "masked"] == -math.inf and hidden.loc[at, "weight"] == 0 == hidden.loc[at, "share"]
    assert hidden.loc[at, "score"] == pytest.approx(rows.loc[at, "score"], abs=1e-5)
    others = (hidden["sentence"] == "A") & (hidden.index != at)
    grown = (hidden["weight"] / rows["weight"])[others]
    assert grown.to_numpy() == pytest.approx(1 / (1 - rows.loc[at, "weight"]), rel=1e-4)
    spec = kernel_row(hidden, DARK)
    assert texts(spec).count("−∞") == 2
    assert len([item for item in drawn(spec, "rule") if item.get("opacity") == 1]) == 2


def test_of_a_long_sentence_the_words_of_the_largest_weights_and_the_word_itself(rows):
    first = rows[rows["sentence"] == "A"]
    long = pd.concat([first.assign(place=first["place"] + 20 * n) for n in range(4)])
    long = pd.concat([long.assign(chosen=False), rows[rows["sentence"] == "B"]], ignore_index=True)
    long.loc[1, "chosen"] = True
    rows_of_a = long[long["sentence"] == "A"].to_dict("records")
    kept = most_weight(rows_of_a)
    assert len(kept) == MOST and kept == [row for row in rows_of_a if row in kept]
    left = [row["weight"] for row in rows_of_a if row not in kept]
    assert rows_of_a[1] in kept and max(left) <= min(row["weight"] for row in kept if not row["chosen"])
    spec = kernel_row(long, LIGHT)
    said = " ".join(spec["concat"][0]["title"]["text"])
    assert said == "Of 44 words and special tokens in A the 24 with the largest weights: the files hold them all."
    assert "title" not in kernel_row(rows, LIGHT)["concat"][0]


def test_of_another_head_only_the_records_differ(encoder, rows):
    other = rows.assign(score=rows["score"] * 2, masked=rows["masked"] * 3)
    one, two = updatable(kernel_row(rows, LIGHT), "one"), updatable(kernel_row(other, LIGHT), "two")
    assert one.pop("datasets") != two.pop("datasets") and one == two
    hidden = updatable(kernel_row(rows_of(encoder, hidden=True), LIGHT), "three")
    hidden.pop("datasets")
    assert hidden == one


def test_the_kernels_ten_lines_run_and_make_the_weights():
    lines = kernel_lines()
    assert len(lines) == 10
    query, key, value = torch.rand(3, 2), torch.rand(4, 2), torch.rand(4, 2)
    names = {"query": query, "key": key, "value": value, "mask": None, "scale": None, "terms": ()}
    exec("import math, torch\nfrom selfattn.kernel import add_mask\n" + "\n".join(lines.values()), names)
    assert torch.equal(names["context"], attend(query, key, value).context)
