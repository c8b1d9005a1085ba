"""Test the kernel figure's still picture: it shows the component's numbers, and no text is cut off or overlaps."""

import base64
import io
import re
from itertools import combinations

import numpy as np
import pytest
from PIL import Image

from selfattn.charts.kernel_figure import NARROW, ROW, kernel_figure, raised, read
from selfattn.charts.labels import text_width
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.vega import palette
from tests.browser.kernel_data import VARIANTS
from tests.charts.scene import drawn

pytestmark = pytest.mark.slow

FITTING = ["bank", "one", "hidden", "terms", "75 tokens", "long words", "2 dimensions"]


def texts_of(spec):
    return [item["text"] for item in drawn(spec, "text")]


def rows_of(data):
    return [row for side in data["sides"] for row in [*side["rows"], *([side["rest"]] if side["rest"] else [])]]


def boxes(spec):
    """Return (text, left, top, right, bottom) for each text, estimated from the widths of its letters."""
    found = []
    for item in drawn(spec, "text"):
        wide = text_width(str(item["text"]), item["fontSize"], item.get("fontWeight") == 600)
        left = item["x"] - wide * {"left": 0, "center": 0.5, "right": 1}[item.get("align", "left")]
        found.append((item["text"], left, item["y"] - 0.75 * item["fontSize"], left + wide, item["y"]))
    return found


@pytest.mark.parametrize("name", FITTING)
@pytest.mark.parametrize("width", [None, 500])
def test_every_number_comes_from_the_data(name, width):
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
def test_bars_and_strips_come_from_the_data(theme):
    data = VARIANTS["bank"]
    spec = kernel_figure(data, theme)
    rects = spec["datasets"]["rects"]
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
        assert scale * (high - low) < 400
    images = spec["datasets"]["images"]
    assert len(images) == 4 * len(data["sides"])  # the query, query x key, weight x value, the context
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


def test_the_row_of_the_largest_weight_is_lit():
    data = VARIANTS["bank"]
    spec = kernel_figure(data, LIGHT)
    lit = [rect["at"] for rect in spec["datasets"]["rects"] if "at" in rect]
    assert lit == [max(side["rows"], key=lambda row: float(row["fine"]))["at"] for side in data["sides"]]


@pytest.mark.parametrize("name", FITTING)
@pytest.mark.parametrize("width", [None, 400])
def test_no_text_is_cut_off_or_overlaps(name, width):
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


@pytest.mark.parametrize("few, printed", [(4, 2), (2, 2), (1, 0)])
def test_few_dimensions_are_printed_as_numbers(few, printed, monkeypatch):
    monkeypatch.setattr("selfattn.charts.kernel_figure.FEW", few)
    texts = texts_of(kernel_figure(VARIANTS["2 dimensions"], LIGHT))
    number = re.compile(r"−?\d+\.\d{4}")
    assert sum(bool(number.fullmatch(text)) for text in texts) == printed  # the two numbers of the query


def test_no_strips_in_a_narrow_picture():
    assert kernel_figure(VARIANTS["bank"], LIGHT, NARROW - 1)["datasets"]["images"] == []
