"""Test the static picture of one head's attention, step by step."""

import base64
import io
import math
import re
from itertools import combinations

import numpy as np
import pytest
from PIL import Image

from selfattn import numbers
from selfattn.charts.kernel_figure import NARROW, PALE, ROW, kernel_figure, raised, read
from selfattn.charts.labels import text_width
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.vega import palette
from tests.browser.kernel_data import VARIANTS, kernel_data
from tests.charts.scene import drawn

pytestmark = pytest.mark.slow

FITTING = ["bank", "one", "hidden", "terms", "75 tokens", "long words", "2 dimensions"]


def texts_of(spec):
    return [item["text"] for item in drawn(spec, "text")]


def rows_of(data):
    return [row for side in data["sides"] for row in [*side["rows"], *([side["rest"]] if side["rest"] else [])]]


def boxes(spec):
    """Return (text, left, top, right, bottom) of each text, with estimated sizes."""
    found = []
    for item in drawn(spec, "text"):
        wide = text_width(str(item["text"]), item["fontSize"], item.get("fontWeight") == 600)
        left = item["x"] - wide * {"left": 0, "center": 0.5, "right": 1}[item.get("align", "left")]
        found.append((item["text"], left, item["y"] - 0.75 * item["fontSize"], left + wide, item["y"]))
    return found


@pytest.mark.parametrize("name", FITTING)
@pytest.mark.parametrize("width", [None, 500])
def test_picture_prints_every_number(name, width):
    data = VARIANTS[name]
    texts = texts_of(kernel_figure(data, LIGHT, width))
    for row in rows_of(data):
        assert row["text"] in texts
        for text in row["cells"].values():
            assert text in texts
            texts.remove(text)
    for side in data["sides"]:
        for column, text in side["sums"].items():
            assert f"{'Σ' if column in ('exponential', 'weight') else 'max'} {text}" in texts
        lit = max(side["rows"], key=lambda row: float(row["fine"]))
        written = " ".join(texts)
        assert set(data["findings"][data["sides"].index(side)].split(" ")) <= set(written.split(" "))
        for _, step in lit["steps"]:
            assert all(part in written for part in step.split(" "))
    titles = [raised(column["title"]) for column in data["columns"] if width is None or column["kind"] != "strip"]
    assert {word for title in titles for word in title.split(" ")} <= set(written.split(" "))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_bars_and_strips_show_values_in_data(theme):
    data = VARIANTS["bank"]
    spec = kernel_figure(data, theme)
    rects, rooms = spec["datasets"]["rects"], []
    for column in data["columns"]:
        if column["kind"] == "strip":
            continue
        low, high = column["ends"]
        bars = [rect for rect in rects if rect.get("column") == column["id"]]
        values = [read(row["cells"][column["id"]]) for row in rows_of(data)]
        assert [bar["value"] for bar in bars] == values
        largest = max(bars, key=lambda bar: abs(bar["value"]))
        scale = (largest["x2"] - largest["x"]) / abs(largest["value"])
        for bar in bars:
            assert bar["x2"] - bar["x"] == pytest.approx(max(abs(bar["value"]) * scale, 1), abs=0.05)
            assert bar["color"] == theme.signed[-1 if bar["value"] >= 0 else 0]
        texts = (text for rows in spec["datasets"].values() for text in rows if "text" in text)
        beside = next(text for text in texts if text.get("column") == column["id"])
        assert min(bar["x"] for bar in bars) == pytest.approx(beside["x"] + 8, abs=0.05)  # bars start after the number
        rooms.append(scale * (high - low) + text_width("0" * column["digits"], beside["size"], bold=True))
        largest = [max(side["rows"], key=lambda row: float(row["fine"])) for side in data["sides"]]
        lit = [column["id"] == "weight" or row in largest for row in rows_of(data)]
        assert [bar["opacity"] for bar in bars] == [1 if each else PALE for each in lit]
    assert rooms == pytest.approx([rooms[0]] * 4, abs=0.5)  # all columns are equally wide: a number and a bar
    images = spec["datasets"]["images"]
    assert len(images) == 4 * len(data["sides"])  # query, query x key, weight x value, context
    side = data["sides"][0]
    for image, strips, kind in (
        (images[0], [side["query"]["values"]], "vectors"),
        (images[1], [row["products"] for row in side["rows"]], "products"),
        (images[2], [row["handed"] for row in side["rows"]], "handed"),
        (images[3], [side["context"]], "handed"),
    ):
        values = np.array([[int(part) for part in strip.split(",")] for strip in strips]) / data["largest"][kind]
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(image["url"].split(",")[1]))))
        middles = pixels[ROW // 2 :: ROW, 3::8]
        assert middles == pytest.approx(127.5 + 127.5 * values, abs=0.51)
        assert image["height"] == ROW * len(strips)
    assert palette(theme.signed)[:3] == [int(theme.signed[0][i : i + 2], 16) for i in (1, 3, 5)]


def test_row_of_largest_weight_is_highlighted():
    data = VARIANTS["bank"]
    spec = kernel_figure(data, LIGHT)
    lit = [rect["at"] for rect in spec["datasets"]["rects"] if "at" in rect]
    assert lit == [max(side["rows"], key=lambda row: float(row["fine"]))["at"] for side in data["sides"]]


@pytest.mark.parametrize("name", FITTING)
@pytest.mark.parametrize("width", [None, 400])
def test_texts_neither_overlap_nor_leave_figure(name, width):
    spec = kernel_figure(VARIANTS[name], LIGHT, width)
    found = boxes(spec)
    inside = (width or 1100) + 17
    assert [text for text, left, _, right, _ in found if left < 0 or right > inside] == []
    overlapping = [
        (one[0], other[0])
        for one, other in combinations(found, 2)
        if min(one[3], other[3]) - max(one[1], other[1]) > 1 and min(one[4], other[4]) - max(one[2], other[2]) > 1
    ]
    assert overlapping == []


@pytest.mark.parametrize("d", [2, 4, 5])
def test_vectors_of_at_most_four_numbers_are_printed(d):
    data = kernel_data(d=d)
    texts = texts_of(kernel_figure(data, LIGHT))
    query = [numbers.decimal(int(part) / 10**4, 4) for part in data["sides"][0]["query"]["values"].split(",")]
    assert [text for text in texts if re.fullmatch(r"−?\d+\.\d{4}", text)] == (query * 2 if d <= 4 else [])


def test_printed_numbers_are_parsed():
    assert [read(text) for text in ("<0.0001", "−1.50", "−∞", "0.25")] == [0, -1.5, -math.inf, 0.25]


def test_narrow_picture_shows_no_vectors():
    assert kernel_figure(VARIANTS["bank"], LIGHT, NARROW - 1)["datasets"]["images"] == []
