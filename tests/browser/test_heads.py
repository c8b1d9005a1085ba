"""Test the map of all heads in Chromium."""

import re
from functools import partial
from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image

from selfattn import Head
from selfattn.charts.head_map import one_picture
from selfattn.tidy_tables import heads_frame
from selfattn.views.heads_data import heads_data, plain_heads
from tests.browser.component import contrast, focused, settle

pytestmark = pytest.mark.browser

EFFECT = torch.linspace(-0.5, 1.0, 72).reshape(6, 12)
MEASURED = heads_data(heads_frame(effect=EFFECT), "effect", Head(0, 10), title="effect of removing the head")
MAPS = {"picture": one_picture([np.eye(8) if i == 25 else np.ones((8, 8)) for i in range(72)], 12, 8), "side": 8}
MAPS |= {"tokens": list("abcdefgh"), "rows": [2], "sentence": "A", "said": ",".join(f"0.{i:02}" for i in range(64))}
COLOUR = "(cell) => getComputedStyle(cell).backgroundColor.match(/[\\d.]+/g).map(Number)"


@pytest.fixture
def open_heads(open_component):
    return partial(open_component, "heads")


def cell(page, layer, head):
    return page.get_by_role("gridcell", name=f"head {head} of layer {layer}", exact=False).first


def chosen(page):
    return page.get_by_role("gridcell", selected=True).get_attribute("aria-label")


def triggers(page):
    return page.evaluate("triggers")


def test_mouse_and_keyboard_choose_head(open_heads):
    page = open_heads(MEASURED)
    assert chosen(page) == "head 10 of layer 0: −0.289"
    assert page.locator(".below").inner_text().split("\n")[0] == "L0 H10: −0.289"
    cell(page, 2, 5).click()
    for key in ("ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert focused(page) == "head 40" and triggers(page) == [["head", 29]]
    assert page.locator(".tip").inner_text() == "L3 H4: +0.345"
    page.keyboard.press("Enter")
    assert triggers(page) == [["head", 29], ["head", 40]] and chosen(page) == "head 4 of layer 3: +0.345"
    page.evaluate("data => { show(data); }", MEASURED | {"chosen": 12, "said": ["new"] * 72})
    settle(page)
    assert focused(page) == "head 40" and chosen(page) == "head 0 of layer 1: new"  # the focus stays on head 40


def test_cell_colour_shows_number(open_heads):
    for scheme in ("light", "dark"):
        page = open_heads(MEASURED, scheme=scheme)
        away, none, toward = (cell(page, *place).evaluate(COLOUR) for place in ((0, 0), (2, 0), (5, 11)))
        assert len({tuple(each) for each in (away, none, toward)}) == 3
        page.evaluate("data => { show(data); }", MEASURED | {"kind": "weights"})
        assert toward not in [weight := cell(page, 5, 11).evaluate(COLOUR), away] and weight != away
        page.evaluate("data => { show(data); }", MEASURED)
        assert cell(page, 5, 11).evaluate(COLOUR) == toward
        assert page.locator(".legend").inner_text().split() == [
            "−1.000",
            "+1.000",
            "effect",
            "of",
            "removing",
            "the",
            "head",
        ]
        muted, paper = (
            page.locator(f".{name}").first.evaluate(
                "(node, of) => getComputedStyle(node)[of].match(/\\d+/g).map(Number)", of
            )
            for name, of in (("legend", "color"), ("selfattn", "color"))
        )
        ground = (15, 19, 26) if scheme == "dark" else (255, 255, 255)
        assert contrast(muted, ground) >= 4.5 and contrast(paper, ground) >= 7


def test_small_maps_show_weights(open_heads):
    page = open_heads(MEASURED | {"maps": MAPS}, width=800)
    box = cell(page, 2, 1).locator(".picture").bounding_box()
    image = np.asarray(Image.open(BytesIO(page.screenshot(clip=box))).convert("L"), float)
    step, places = len(image) / 8, np.arange(8) + 0.5
    inked = image[np.ix_((places * step).astype(int), (places * step).astype(int))] < 128
    assert inked.tolist() == np.eye(8, dtype=bool).tolist()
    other = cell(page, 2, 2).locator(".picture").bounding_box()
    assert np.asarray(Image.open(BytesIO(page.screenshot(clip=other))).convert("L"))[5:-5, 5:-5].max() < 128


def test_map_of_chosen_head_is_enlarged(open_heads):
    page = open_heads(MEASURED | {"maps": MAPS}, width=1100)
    chip = page.locator(".chip")
    assert (chip.inner_text(), page.locator(".which").inner_text()) == (
        "L0 H10",
        "L0 H10\neffect of removing the head: −0.289",
    )
    assert page.locator(".from .own").all_inner_texts() == ["c"]
    plane, row = (page.locator(part).bounding_box() for part in (".plane", ".row-of-word"))
    assert row["y"] - plane["y"] == pytest.approx(plane["height"] / 4, abs=1)
    page.mouse.move(*(plane[at] + plane[size] * part for at, size, part in (("x", "width", 0.7), ("y", "height", 0.2))))
    assert page.locator(".tip").inner_text() == '"b" to "f": 0.13'
    cell(page, 4, 2).hover()
    assert chip.inner_text() == "L4 H2"
    page.locator(".plane").hover()
    assert chip.inner_text() == "L0 H10"
    cell(page, 4, 2).click()
    page.locator(".plane").hover()
    assert re.fullmatch('"." to "."', page.locator(".tip").inner_text())  # the weights of this head aren't sent yet
    page.set_viewport_size({"width": 390, "height": 900})
    settle(page)
    assert page.locator(".opened").bounding_box()["width"] <= 390


@pytest.mark.parametrize(("layers", "heads", "n"), [(12, 12, 9), (24, 16, 70)])
def test_small_maps_fit_window(open_heads, layers, heads, n):
    maps = {"picture": one_picture([np.eye(8)] * layers * heads, heads, 8), "side": 8, "tokens": ["token"] * n}
    data = plain_heads(layers, heads, Head(0, 0), "Head") | {
        "maps": maps | {"rows": [n - 1], "sentence": "", "said": ""}
    }
    page = open_heads(data, width=1146)
    before = page.locator(".opened").bounding_box()["y"]
    page.evaluate("scrollTo(0, 1e6)")
    assert page.locator(".opened").bounding_box()["y"] >= min(before, 60) - 1  # still visible after scrolling
    for width in (1146, 736, 326):
        page = open_heads(data, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        side = cell(page, 0, 0).locator(".picture").bounding_box()["width"]
        assert side >= (10 if width == 326 else 24), (width, side)
        plane, labels = (page.locator(part).bounding_box() for part in (".plane", ".from"))
        assert plane["height"] == pytest.approx(plane["width"]) == pytest.approx(labels["height"])
    assert page.locator(".from bdi").all_inner_texts()[-2:] == (["token"] * 2 if n == 9 else ["", "token"])


@pytest.mark.parametrize(("layers", "heads"), [(6, 12), (12, 12), (24, 16), (1, 1)])
def test_map_of_heads_fits_phone(open_heads, layers, heads):
    page = open_heads(plain_heads(layers, heads, Head(layers - 1, heads - 1), "Head"), width=328)
    assert page.get_by_role("gridcell").count() == layers * heads
    assert page.evaluate("document.documentElement.scrollWidth") <= 328
    assert page.locator(".below").inner_text() == f"Head: L{layers - 1} H{heads - 1}"
    assert page.locator(".axis").evaluate_all("all => all.every((each) => each.scrollWidth <= each.clientWidth + 1)")


def test_click_in_downloaded_file_sends_nothing(open_heads):
    page = open_heads(MEASURED | {"clicks": False})
    cell(page, 2, 5).click()
    assert triggers(page) == [] and chosen(page) == "head 5 of layer 2: +0.113"


def test_large_picture_has_short_url(open_heads):
    maps = MAPS | {"picture": one_picture([np.random.default_rng(0).random((51, 51))] * 384, 16, 51)}
    frame = heads_frame(entropy=torch.rand(24, 16))
    page = open_heads(heads_data(frame, "entropy", Head(0, 0), kind="weights", maps=maps))
    style = page.locator(".body").get_attribute("style")
    assert re.search(r'--maps: url\("blob:[^"]+"\)', style) and len(style) < 300
