"""Test the figure that compares two texts, in Chromium."""

from functools import partial

import pytest
from playwright.sync_api import expect

from selfattn.panel import Live
from tests.browser.component import cut_or_overlapping, focused, settle
from tests.browser.conftest import open_page, wait_for_address, wait_until_idle
from tests.browser.similar_data import HOSTILE, data

pytestmark = pytest.mark.browser


@pytest.fixture
def shown(open_component):
    return partial(open_component, "similar")


def lines(page):
    """Return (x of the start, x of the end, thickness) of each line between two words."""
    ends = "[e.getPointAtLength(0).x, e.getPointAtLength(e.getTotalLength()).x, +e.getAttribute('stroke-width')]"
    return page.locator(".lines path").evaluate_all(f"all => all.map(e => {ends})")


def centre(page, name):
    box = page.get_by_role("button", name=name).bounding_box()
    return box["x"] + box["width"] / 2


def dot(page, kind):
    return page.locator(f"circle.{kind}").evaluate("e => new DOMMatrix(getComputedStyle(e).transform).e")


def test_data_obey_schema():
    for given in (data(), data(parts=False, unrelated=False)):
        assert Live("similar", given).data["version"] == 1


def test_lines_join_middles_of_words(shown):
    page = shown(data())
    first, second = lines(page)
    assert first[2] == 10 and second[2] == pytest.approx(1.5 + 8.5 / 4, abs=0.06)
    for line, (a, b) in zip((first, second), (("return", HOSTILE), ("item", "sending"))):
        assert line[:2] == pytest.approx([centre(page, a), centre(page, b)], abs=1)
    page.get_by_role("button", name="item").hover()
    settle(page)
    (only,) = lines(page)
    assert only == pytest.approx(second, abs=0.1)
    assert page.locator(".partner").evaluate_all("all => all.map(e => e.innerText.trim())") == ["sending"]
    expect(page.get_by_role("tooltip")).to_have_text('Hide "item": cosine 0.60 → 0.48. Largest pairs: "sending" 0.050.')


def test_click_hides_word(shown):
    page = shown(data())
    line = page.get_by_role("status")
    expect(line).to_have_text("Cosine 0.60, above 80.3\u00a0% of 200 unrelated pairs (median 0.30).")
    as_it_is = dot(page, "solid")
    assert page.locator("circle.hollow.off").count() == 1
    page.get_by_role("button", name="return").click()
    page.mouse.move(5, 890)
    expect(line).to_have_text('Without "return": cosine 0.56, above 76.3\u00a0% of 200 unrelated pairs (median 0.30).')
    settle(page)
    assert dot(page, "solid") == as_it_is and 0 < dot(page, "hollow") < as_it_is
    assert page.get_by_role("button", name="return").get_attribute("aria-pressed") == "true"
    assert page.locator(".lines .gone").count() == 1
    page.get_by_role("button", name="internationally").click()
    page.mouse.move(5, 890)
    expect(line).to_contain_text('Without "return" and "internationally": cosine 0.50')
    page.get_by_role("button", name="an: ").click()
    expect(line).to_have_text('Without "an" and "internationally": cosine: nothing is left to compare.')
    page.get_by_role("button", name="an: ").click()
    page.get_by_role("button", name="internationally").click()
    expect(line).to_contain_text("Cosine 0.60")
    choices = [(0, None), (0, 2), (1, 2), (None, 2), (None, None)]
    assert page.evaluate("sent") == [["hidden", ["k", *choice]] for choice in choices]


def test_keyboard_hides_word(shown):
    page = shown(data())
    page.keyboard.press("Tab")
    assert focused(page) == "word 0 0"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert focused(page) == "word 0 2" and len(lines(page)) == 1
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text('Without "item": cosine 0.48')
    page.keyboard.press("Tab")
    assert focused(page) == "word 1 0"


def test_bars_add_up_to_cosine(shown):
    page = shown(data())
    text = page.locator(".small", has_text="As a sum").inner_text()
    assert text.replace("■ ", "") == (
        "As a sum: 0.250 the 2 pairs joined by a line + 0.450 all other pairs of words − 0.100 pairs with a special token "
        "= 0.600 (differs from the cosine by 0.0000001)."
    )
    ends = page.locator("rect.part").evaluate_all(
        "all => all.map(e => [+e.getAttribute('x'), +e.getAttribute('width')])"
    )
    assert ends[1][0] == pytest.approx(sum(ends[0]) + 1, abs=0.1)  # each part begins where the previous part ends
    assert ends[2][0] == pytest.approx(dot(page, "solid"), abs=1)  # a negative part goes to the left
    assert page.locator("rect.part.away").count() == 1
    counts = page.locator("rect.bar").evaluate_all("all => all.map(e => parseInt(e.dataset.tip))")
    assert sum(counts) == 200


def test_figure_without_cosine_parts_shows_only_cosine(shown):
    page = shown(data(parts=False, unrelated=False))
    expect(page.get_by_role("status")).to_have_text("Cosine 0.60.")
    assert not page.get_by_text("As a sum").count() and not page.locator(".lines path, rect").count()
    assert not page.get_by_text("A line joins two words").count()


def test_words_stay_hidden_until_key_in_data_changes(shown):
    page = shown(data() | {"hidden": [0, None]})
    page.evaluate("data => { show(data); }", data())
    expect(page.get_by_role("status")).to_contain_text('Without "return"')
    page.evaluate("data => { show(data); }", data(key="other"))
    expect(page.get_by_role("status")).to_contain_text("Cosine 0.60")
    assert page.locator(".similar b:not(.away)").count() == 0  # a text is never HTML


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("times", [1, 9])
def test_texts_are_not_cut_and_do_not_overlap(shown, direction, times):
    page = shown(data(direction=direction, times=times))
    assert not cut_or_overlapping(page, ".finding, .ink, .number, .said, .small, .cosine text", [360, 400, 800, 1440])


def test_address_contains_hidden_word(page, server):
    open_page(page, f"{server}/predictions?asked=Two+sentences")
    page.get_by_role("radio", name="a negation").click()
    page.get_by_role("heading", name='The texts differ only by "not" in A, which lowers the cosine by 0.09.').wait_for()
    expect(page.locator(".similar")).to_have_count(1)  # the figure has the new data while the page still runs
    page.get_by_role("button", name="not: cosine 0.91").click()
    wait_for_address(page, "hide_a=not")
    page.get_by_text("Remove L5 H10 in A, and the cosine changes by").wait_for()
    page.reload()
    wait_until_idle(page)
    expect(page.locator(".similar .said")).to_contain_text('Without "not": cosine 1.00')
