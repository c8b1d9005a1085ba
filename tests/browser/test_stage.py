"""Test the figure of the lesson "From scratch" in Chromium."""

import json
from functools import cache, partial

import pytest
from playwright.sync_api import expect

from pages.learn.from_scratch.lesson_pages import STOPS
from selfattn.panel import Live
from selfattn.views.stage import stage_data
from tests.browser.component import BOXES, cut_or_overlapping, focused, overlaps, settle

pytestmark = pytest.mark.browser
OUTLINE = [
    {"text": f"part {n}", "stop": f"stop-{n}", "state": state} for n, state in enumerate(("past", "now", "to come"))
]
SCENES = ("projections", "scaling", "three-words", "mix", "residual")


@cache
def data(stop, answered=True):
    """Return the data of the lesson page `stop`."""
    return json.loads(json.dumps(Live("stage", stage_data(STOPS[stop].function()(), OUTLINE, stop, answered)).data))


@pytest.fixture
def shown(open_component):
    return partial(open_component, "stage")


def change(page, to):
    page.evaluate("data => { show(data); }", to)
    settle(page)


def bars(page, name):
    """Return the lengths (0 to 1) of a column's bars, and its printed numbers."""
    part = "e => e.querySelector('.bar').getBoundingClientRect().width / e.querySelector('.track').clientWidth"
    rows = [page.locator(f"[data-name='{name} {row}']") for row in range(5)]
    return [row.evaluate(part) for row in rows], [row.inner_text().strip() for row in rows]


def test_click_in_lesson_outline_is_sent_to_streamlit(shown):
    page = shown(data("mix"))
    expect(page.get_by_role("button", name="part 1")).to_have_attribute("aria-current", "step")
    page.get_by_role("button", name="part 2").click()
    page.get_by_role("button", name="part 2").click()  # a second click on the same part is sent too
    assert page.evaluate("triggers") == [["stop", "stop-2"]] * 2


def test_bar_lengths_equal_weights(shown):
    page, weights = shown(data("three-words")), [0.0184, 0.3120, 0.0184, 0.0184, 0.6327]
    lengths, texts = bars(page, "weights")
    assert lengths == pytest.approx(weights, abs=0.01) and texts == ["0.02", "0.31", "0.02", "0.02", "0.63"]
    parts = page.locator(".part").evaluate_all("all => all.map(e => e.getBoundingClientRect().width)")
    assert [each / sum(parts) for each in parts] == pytest.approx(weights, abs=0.02)


def test_numbers_to_guess_are_blank_until_answer_is_shown(shown):
    page = shown(data("three-words", answered=False))
    assert page.locator("[data-name='scaled 4'] .bar").count() == 1
    assert page.locator("[data-name='weights 4'] .bar").count() == page.locator(".part").count() == 0
    expect(page.locator(".finding")).to_have_text("")
    expect(page.get_by_role("group")).to_have_accessible_name("The answer isn't shown yet. score ÷ √2: The [−1.41], bank [1.41], "
        "of [−1.41], the [−1.41], river [2.12].")  # fmt: skip


def test_hovered_or_focused_item_shows_its_arithmetic(shown):
    page = shown(data("mix"))
    line = page.locator(".line")
    expect(line).to_have_text("river: 0.633 × [−3, 3] = [−1.90, 1.90]")
    page.locator("[data-name='value 1']").hover()
    expect(line).to_have_text("bank: 0.312 × [0, 0] = [0.00, 0.00]")
    page.locator(".word").first.focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert focused(page) == "word 4"
    expect(line).to_contain_text("river: 0.633")
    expect(page.locator(".word").last).to_have_accessible_name(
        "river: weight 0.63; value −3, 3; weight × value −1.90, 1.90. river: 0.633 × [−3, 3] = [−1.90, 1.90]"
    )


def test_dots_move_when_answer_is_shown(shown):
    page = shown(data("residual", answered=False), motion="no-preference")
    place = "() => { const m = shadow.querySelector('[data-mark=bank]'); return m.tagName === 'circle' ? +m.getAttribute('cx')"
    place += " : m.querySelector('.point').getBBox().x }"
    start = page.evaluate(place)
    seen = page.evaluate(
        f"data => new Promise(done => {{ const seen = []; show(data); const look = () => {{ seen.push(({place})());"
        " seen.length < 400 && seen.at(-1) !== seen.at(-40) ? requestAnimationFrame(look) : done(seen) }; look() })",
        data("residual"),
    )
    assert seen[0] == pytest.approx(start, abs=25) and min(seen) == seen[-1] < start - 60
    assert any(seen[-1] + 10 < each < start - 20 for each in seen)  # between start and end


def test_figure_is_not_animated_with_reduced_motion(shown):
    page = shown(data("residual", answered=False))
    change(page, data("three-words"))
    assert page.evaluate("shadow.getAnimations().length") == 0
    assert bars(page, "weights")[1][4] == "0.63"


def test_focus_stays_when_lesson_page_changes(shown):
    page = shown(data("three-words", answered=False))
    page.get_by_role("button", name="part 2").focus()
    change(page, data("mix"))
    assert focused(page) == "part 2"


def test_text_is_never_read_as_html(shown):
    given = {**data("mix"), "words": ["<b>The</b>", *data("mix")["words"][1:]]}
    page = shown(given)
    expect(page.locator(".word").first).to_have_text("<b>The</b>")


@pytest.mark.parametrize("stop", SCENES)
def test_texts_are_neither_cut_nor_overlapping(shown, stop):
    page = shown(data(stop))
    texts = ".word, .cell, .number, .head strong, .finding, .line, .note, .outline button"
    assert cut_or_overlapping(page, texts, (368, 620, 760)) == []
    assert overlaps(page.evaluate(BOXES, "svg .name")) == []


def test_only_first_vector_of_sum_is_shown_before_answer(shown):
    page = shown(data("residual", answered=False))
    cells = page.locator(".sum .cell")
    assert cells.all_inner_texts() == ["1", "1", "0", *[""] * 9]
    change(page, data("residual"))
    assert cells.all_inner_texts()[3:] == ["−0.95", "0.95", "0.00", "0.05", "1.95", "0.00", "−0.68", "1.41", "−0.73"]


def test_matrix_and_embeddings_share_colour_scale(shown):
    page = shown(data("projections"))
    depth = "e => e.style.getPropertyValue('--depth')"
    matrix, words = (page.locator(each).first for each in (".above .cell", "[data-name='embedding 1'] .cell"))
    assert matrix.inner_text() == words.inner_text() == "1"
    assert matrix.evaluate(depth) == words.evaluate(depth) == "33%"  # 1 is 33 % of the largest number, 3
    titles = [data("projections", answered)["columns"][1]["above"]["title"] for answered in (False, True)]
    assert titles == ["W_Q", "W_Q 3 × 2"]


@pytest.mark.parametrize("width", [368, 760])
def test_bars_of_column_have_equally_wide_tracks(shown, width):
    page = shown(data("scaling"), width=width)
    for name in ("score", "scaled", "weights", "left alone", "multiplied"):
        tracks = page.locator(f"[data-name^='{name} '] .track").evaluate_all("all => all.map(e => e.clientWidth)")
        assert len(tracks) == 5 and len({*tracks}) == 1 and tracks[0] > 48


def test_minus_infinity_has_no_bar(shown):
    given = data("three-words")
    masked = {**given["columns"][0], "rows": [*given["columns"][0]["rows"][:4], ["−∞"]]}
    page = shown({**given, "columns": [masked, *given["columns"][1:]]})
    expect(page.locator("[data-name='scaled 4']")).to_have_text("−∞")
    assert page.locator("[data-name='scaled 4'] .bar").count() == 0


def test_invalid_data_are_refused():
    with pytest.raises(Exception, match="asks must be integer"):
        Live("stage", {**data("mix"), "asks": "bank"})
