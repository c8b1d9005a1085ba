"""Test dragging the query's arrow in the component `kernel`, in Chromium."""

import json
import random
from functools import partial

import pytest
import torch
from playwright.sync_api import expect

from selfattn.export.component_page import javascript
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.numbers import decimal, vector
from selfattn.views.kernel_row import QueryRow
from selfattn.views.kernel_view import kernel_panel
from tests.browser.component import cut_or_overlapping, focused
from tests.browser.test_kernel_figure import TEXTS

pytestmark = pytest.mark.browser
PLACES = [one_head_by_hand.BANK, 2, one_head_by_hand.LAST]
BANK = one_head_by_hand.compute().trace
EXAMPLES = {
    "it": (worked_example.TOKENS, -1, worked_example.QUERY, worked_example.KEYS, worked_example.VALUES),
    "bank": (("bank", "of", "river"), 0, BANK.query[PLACES[0]], BANK.key[PLACES], BANK.value[PLACES]),
}
BACK = "Back to the published query"
MODULE = """async script => {
    const url = URL.createObjectURL(new Blob([`${script}\\nexport { withQuery };`], {type: "text/javascript"}));
    window.withQuery = (await import(url)).withQuery;
}"""


def panel(name="it", query=None):
    tokens, place, published, keys, values = EXAMPLES[name]
    asked = published if query is None else torch.tensor(query, dtype=torch.float64)
    trace = worked_example.compute(asked, keys, values)
    return kernel_panel(
        QueryRow(trace=trace, tokens=tokens, query=place, first=place, text=name), clicks=False, back=BACK
    )


def data_of(*asked):
    return json.loads(json.dumps(panel(*asked).live.data))


@pytest.fixture
def open_plane(open_component):
    return partial(open_component, "kernel")


def handle(page):
    return page.get_by_role("slider")


def drag_to(page, x, y, low=-1, high=5):
    """Drag the query to (x, y). Both axes of the plane run from `low` to `high`."""
    tip, plane = handle(page).bounding_box(), page.locator(".plane").first.bounding_box()
    page.mouse.move(tip["x"] + tip["width"] / 2, tip["y"] + tip["height"] / 2)
    page.mouse.down()
    left, top = (x - low) / (high - low), (high - y) / (high - low)
    page.mouse.move(plane["x"] + left * plane["width"], plane["y"] + top * plane["height"], steps=4)
    page.mouse.up()


def assert_shown(page, data):
    (side,) = data["sides"]
    cells = [text for each in side["rows"] for text in each["cells"].values()]
    assert page.locator(".amount .value").all_text_contents() == cells
    assert page.locator(".finding").all_text_contents() == data["findings"]
    strips = [side["query"]["values"], *(each[kind] for each in side["rows"] for kind in ("products", "handed"))]
    kinds = ["vectors", *["products", "handed"] * len(side["rows"]), "handed"]
    printed = page.locator(".printed").evaluate_all(
        "all => all.map(each => [...each.children].map(one => one.textContent))"
    )
    for text, kind, shown in zip([*strips, side["context"]], kinds, printed, strict=True):
        places = data["places"][kind]
        assert shown == [decimal(int(part) / 10**places, places) for part in text.split(",")]


@pytest.mark.parametrize("name", EXAMPLES)
def test_javascript_computes_same_numbers_as_python(open_plane, name):
    page, start = open_plane(data_of(name)), data_of(name)
    page.evaluate(MODULE, javascript("kernel"))
    draw = random.Random(0)
    asked = [EXAMPLES[name][2].tolist(), [0.0, 0.0], [5.0, 5.0], [-1.0, 4.9]]
    asked += [[draw.randint(-20, 50) / 10, draw.randint(-20, 50) / 10] for _ in range(150)]
    for query, found in zip(
        asked, page.evaluate("([data, all]) => all.map(one => withQuery(data, one))", [start, asked])
    ):
        wanted = data_of(name, query)
        for part in ("sides", "findings", "places", "context", "code", "below"):
            assert found[part] == wanted[part], (query, part)
        for own, other, first in zip(found["columns"], wanted["columns"], start["columns"]):
            low, high = zip(other["ends"], first["ends"])
            assert own == other | {"ends": [min(low), max(high)], "digits": max(other["digits"], first["digits"])}
        for kind, largest in found["largest"].items():
            before = round(start["largest"][kind] * 10 ** (wanted["places"][kind] - start["places"][kind]))
            assert largest == max(before, wanted["largest"][kind])


def test_dragging_query_changes_numbers(open_plane):
    page = open_plane(data_of())
    assert_shown(page, data_of())
    back = page.get_by_role("button", name=BACK)
    expect(back).to_be_hidden()
    drag_to(page, 0.8, 3.2)
    asked = data_of("it", [0.8, 3.2])
    assert_shown(page, asked)
    assert handle(page).get_attribute("aria-valuetext") == f"[0.8, 3.2]: {asked['findings'][0]}"
    context = panel("it", [0.8, 3.2]).arrays["context"]
    expect(page.get_by_role("img", name=f"The values, and the context {vector(context, 2)}.")).to_be_visible()
    tip = page.locator(".plane").nth(1).locator(".own .point").get_attribute("d")
    low, high = -0.5, 2.5
    expected = [300 * (context[0] - low) / (high - low), 300 * (high - context[1]) / (high - low)]
    assert list(map(float, tip.removeprefix("M").partition("L")[0].split(" "))) == pytest.approx(expected, abs=0.06)
    drag_to(page, 40, -9)  # beyond the ends of the plane
    assert_shown(page, data_of("it", [5.0, -1.0]))
    back.click()
    assert_shown(page, data_of())
    expect(back).to_be_hidden()
    assert page.evaluate("sent") == []


def test_arrow_widths_follow_scores_and_weights(open_plane):
    page = open_plane(data_of("it", [-0.7, -0.7]))
    trace = worked_example.compute(torch.tensor([-0.7, -0.7], dtype=torch.float64))
    scores, weights = trace.scores[0].abs(), trace.weights[0]
    for plane, depths in enumerate((scores / scores.max(), weights)):
        shafts = page.locator(".plane").nth(plane).locator(".arrow:not(.own) path[stroke-width]")
        widths = [float(each.get_attribute("stroke-width")) for each in shafts.all()]
        assert widths == pytest.approx([1.5 + 6 * float(depth) for depth in depths], abs=1e-6)
    assert page.locator(".arrow.minus").count() == 3  # all scores are below 0


def test_query_can_be_dragged_by_touch(open_plane):
    page = open_plane(data_of(), 390)
    tip, plane = handle(page).bounding_box(), page.locator(".plane").first.bounding_box()
    session = page.context.new_cdp_session(page)
    start = {"x": tip["x"] + tip["width"] / 2, "y": tip["y"] + tip["height"] / 2}
    end = {"x": plane["x"] + plane["width"] / 2, "y": plane["y"] + plane["height"] / 2}
    for kind, points in (("touchStart", [start]), ("touchMove", [end]), ("touchEnd", [])):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert_shown(page, data_of("it", [2.0, 2.0]))


def test_arrow_keys_move_query(open_plane):
    page = open_plane(data_of())
    page.keyboard.press("Tab")
    assert focused(page) == "query"
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown", "Shift+ArrowUp"):
        page.keyboard.press(key)
    assert_shown(page, data_of("it", [2.8, 1.9]))
    assert focused(page) == "query"
    assert handle(page).get_attribute("aria-valuenow") == "2.8"
    page.keyboard.press("Home")
    assert_shown(page, data_of())
    for _ in range(7):
        page.keyboard.press("Shift+ArrowRight")
    assert_shown(page, data_of("it", [5.0, 1.0]))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert_shown(page, data_of())
    assert focused(page) == "query"


def test_dragged_query_stays_until_example_changes(open_plane):
    page = open_plane(data_of())
    drag_to(page, 1, 1)
    page.evaluate("data => { show(data); }", data_of())
    assert_shown(page, data_of("it", [1.0, 1.0]))
    page.evaluate("data => { show(data); }", data_of("bank"))
    assert_shown(page, data_of("bank"))
    page.evaluate("data => { show(data); }", data_of("bank") | {"plane": None, "key": "another"})
    expect(handle(page)).to_have_count(0)


def test_texts_are_neither_cut_nor_overlapping(open_plane):
    for name, places in {"it": [(3, 1), (0.8, 3.2), (-1, -1)], "bank": [(1, 1), (0, 0), (-1, 3)]}.items():
        page = open_plane(data_of(name), face="")
        for x, y in places:
            drag_to(page, x, y, *((-1, 5) if name == "it" else (-2, 4)))
            assert cut_or_overlapping(page, f"{TEXTS}, .plane .name, figcaption", (1100, 760, 328)) == [], (name, x, y)
            page.set_viewport_size({"width": 1100, "height": 900})
