"""Test the component `kernel`, which shows one head's attention step by step, in Chromium."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.browser.component import contrast, cut_or_overlapping, focused
from tests.browser.kernel_data import PLACES, VARIANTS, kernel_data

pytestmark = pytest.mark.browser
PALETTE = {"light": ((27, 35, 48), (255,) * 3), "dark": ((238, 241, 246), (15, 19, 26))}


@pytest.fixture
def open_kernel(open_component):
    return partial(open_component, "kernel")


def row(page, at, side=0):
    return page.locator(f'[data-id="row {side} {at}"]')


def lines(page):
    """Return a list for each sentence: the texts of the arithmetic below the sentence."""
    return page.locator(".line").evaluate_all(
        """all => all.map(line => [...line.children].map(child => [...child.childNodes]
            .map(node => node.nodeName === "SUP" ? `^(${node.textContent})` : node.textContent).join("")))"""
    )


def steps(data, side, at):
    found = next(each for each in data["sides"][side]["rows"] if each["at"] == at)
    return [found["text"], *(text for _, text in found["steps"])]


def decimals(text, places):
    return [f"{int(part) / 10**places:.{places}f}".replace("-", "−") for part in text.split(",")]


def over_cell(page, strip, i, n):
    strip.scroll_into_view_if_needed()
    box = strip.bounding_box()
    page.mouse.move(box["x"] + (i + 0.5) * box["width"] / n, box["y"] + box["height"] / 2)


@pytest.mark.parametrize("name", ["bank", "one", "hidden", "terms", "75 tokens", "2 dimensions"])
def test_figure_prints_every_number(open_kernel, name):
    data = VARIANTS[name]
    page = open_kernel(data)
    columns = [each["id"] for each in data["columns"] if each["kind"] != "strip"]
    assert page.locator(".head strong").all_text_contents() == [
        each["title"].replace("^", "") for each in data["columns"]
    ]
    for i, side in enumerate(data["sides"]):
        for each in side["rows"]:
            own = row(page, each["at"], i)
            assert own.locator(".value").all_text_contents() == [each["cells"][column] for column in columns]
            assert own.get_attribute("aria-label") == f"{each['text']}: {', '.join(text for _, text in each['steps'])}"
            assert own.locator(".token").text_content() == each["text"]
    assert page.locator(".finding").all_text_contents() == [
        side["name"] + finding for side, finding in zip(data["sides"], data["findings"])
    ]
    sums = [side["sums"] for side in data["sides"]]
    found = page.locator(".sum").all_text_contents()
    signs, after = {"exponential": "Σ ", "weight": "Σ "}, {"weight": "context"}
    expected = [
        f"{signs.get(c, 'max ')}{each[c]}{after.get(c, '')}" if c in each else "" for each in sums for c in columns
    ]
    assert found == expected
    rest = [side["rest"] for side in data["sides"] if side["rest"]]
    for each in rest:
        own = page.locator(".row", has_text=each["text"])
        assert own.locator(".value").all_text_contents() == list(each["cells"].values())


@pytest.mark.parametrize("name", ["bank", "hidden", "64 x 128"])
def test_tooltip_shows_arithmetic_of_cell(open_kernel, name):
    data = VARIANTS[name]
    page = open_kernel(data)
    side = data["sides"][0]
    each = next(one for one in side["rows"] if not one["hidden"])
    queries, keys, values = (decimals(text, 4) for text in (side["query"]["values"], each["keys"], each["values"]))
    products, handed = (decimals(each[kind], PLACES[kind]) for kind in ("products", "handed"))
    n, tip = len(queries), page.get_by_role("tooltip")
    strips = row(page, each["at"]).locator(".strip")
    marked = page.locator(".cursor:not([hidden])")
    for i in (0, 7, n - 1):
        over_cell(page, strips.nth(0), i, n)
        expect(tip).to_have_text(f"dimension {i}: query {queries[i]} × key {keys[i]} = {products[i]}")
        assert marked.count() == 2  # in the strips of the token and of the query
        over_cell(page, strips.nth(1), i, n)
        expect(tip).to_have_text(f"dimension {i}: weight {each['fine']} × value {values[i]} = {handed[i]}")
        assert marked.count() == 2
    over_cell(page, page.locator(".query .strip").first, 3, n)
    expect(tip).to_have_text(f"dimension 3: query {queries[3]}")
    over_cell(page, page.locator(".sums .strip").first, 3, n)
    expect(tip).to_have_text(f"dimension 3: all weight × value, summed: {decimals(side['context'], 3)[3]}")


def test_bar_lengths_follow_numbers(open_kernel):
    data = VARIANTS["bank"]
    page = open_kernel(data)
    rows = [each for side in data["sides"] for each in side["rows"]]
    for column in ("score", "weight"):
        values = [float(each["cells"][column].replace("−", "-")) for each in rows]
        low, high = min(0, *values), max(1 if column == "weight" else 0, *values)
        bars = page.locator(f'[data-column="{column}"] .bar').evaluate_all(
            "all => all.map(bar => [parseFloat(bar.style.left) / 100, parseFloat(bar.style.width) / 100])"
        )
        expected = [[(min(value, 0) - low) / (high - low), abs(value) / (high - low)] for value in values]
        assert [part for bar in bars for part in bar] == pytest.approx(
            [part for bar in expected for part in bar], abs=1e-4
        )


def test_cell_colours_follow_numbers(open_kernel):
    data = VARIANTS["bank"]
    page = open_kernel(data)
    values = [int(part) for part in data["sides"][0]["query"]["values"].split(",")]
    largest = max(abs(int(part)) for side in data["sides"] for part in side["query"]["values"].split(","))
    found = page.locator(".query svg").first.locator("path").evaluate_all(
        """all => all.map(path => [path.getAttribute("d").match(/M[\\d.]+/g).map(start => Math.floor(start.slice(1))),
            parseFloat(path.style.getPropertyValue("--depth")), path.classList.contains("minus")])"""
    )  # fmt: skip
    drawn = {i: (depth, minus) for cells, depth, minus in found for i in cells}
    assert len(drawn) == len(values)
    for i, value in enumerate(values):
        depth, minus = drawn[i]
        assert depth == pytest.approx(100 * abs(value) / largest, abs=4)
        assert minus == (value < 0) or depth == 0


def test_hover_over_token_shows_its_arithmetic(open_kernel):
    data = VARIANTS["bank"]
    page = open_kernel(data)
    heaviest = [max(side["rows"], key=lambda each: float(each["fine"]))["at"] for side in data["sides"]]
    assert lines(page) == [steps(data, side, at) for side, at in enumerate(heaviest)]
    row(page, 2).hover()  # "sat", which isn't in B
    expect(page.locator(".row.lit")).to_have_count(2)
    assert lines(page) == [steps(data, 0, 2), steps(data, 1, heaviest[1])]
    row(page, 1).hover()  # "we", in both
    assert lines(page) == [steps(data, 0, 1), steps(data, 1, 1)]
    expect(row(page, 1, 1)).to_have_attribute("aria-selected", "true")
    page.mouse.move(5, 890)
    assert lines(page) == [steps(data, 0, 1), steps(data, 1, 1)]
    assert page.evaluate("sent") == []


def test_hover_over_column_highlights_its_code(open_kernel):
    page = open_kernel(VARIANTS["bank"])
    code = page.get_by_role("region", name="selfattn's own lines of code")
    expect(code).to_be_hidden()
    page.get_by_role("button", name="Show selfattn’s code").click()
    expect(code).to_be_visible()
    lit = code.locator(".lit")
    expect(lit).to_have_count(0)
    for column, texts in {
        "scaled": ["scale = ", "scaled = "],
        "exponential": ["maximum = ", "shifted = ", "exponentials = "],
        "handed": ["context = "],
    }.items():
        row(page, 3).locator(f'[data-column="{column}"]').hover()
        expect(lit).to_have_count(len(texts))
        assert [text.startswith(start) for text, start in zip(lit.all_text_contents(), texts)] == [True] * len(texts)
        expect(page.locator(f'.head [data-column="{column}"]')).to_have_class(re.compile("lit"))
    code.get_by_text("weights = ").hover()
    expect(page.locator(".head .lit strong")).to_have_text("weight")
    expect(page.locator(".line .lit").first).to_contain_text("÷")
    page.get_by_role("button", name="Hide selfattn’s code").click()
    expect(code).to_be_hidden()


def test_click_makes_token_the_query(open_kernel):
    data = VARIANTS["bank"]
    page = open_kernel(data)
    row(page, 8).get_by_role("button").click()
    row(page, 3, 1).get_by_role("button").click()
    assert page.evaluate("sent") == [["query", [0, 8]], ["query", [1, 3]]]
    assert row(page, 5).get_by_role("button").count() == 0  # the query's row has no button
    answer = kernel_data(query="the")
    page.evaluate("data => { show(data); }", answer)
    assert page.locator(".query .self").first.text_content() == "the"
    page = open_kernel(VARIANTS["2 dimensions"])
    assert page.locator(".token button").count() == 0


def test_choice_events_are_sent_as_triggers(open_kernel):
    page = open_kernel(VARIANTS["bank"])
    choose = """detail => !dispatchEvent(new CustomEvent("selfattn-choice", { detail, cancelable: true }))"""
    head, hidden = {"state": "head", "value": 29}, {"state": "hidden", "value": [6, None]}
    assert page.evaluate(choose, head) and page.evaluate(choose, head) and page.evaluate(choose, hidden)
    assert page.evaluate("triggers") == [["head", 29], ["head", 29], ["hidden", [6, None]]]
    assert page.evaluate("sent") == []
    page.evaluate("data => show(data)()", VARIANTS["bank"])  # shown again, then removed
    assert not page.evaluate(choose, head) and page.evaluate("triggers.length") == 3


def test_exact_effects_of_heads_are_handed_on(open_kernel):
    page = open_kernel(VARIANTS["bank"])
    page.evaluate("window.handed = []; addEventListener('selfattn-exact', event => { handed.push(event.detail); })")
    page.evaluate("data => { show(data); }", VARIANTS["bank"])
    assert page.evaluate("handed") == []
    exact = {"key": "a figure", "sides": [{"4": "1,2"}, {}]}
    page.evaluate("data => { show(data); }", VARIANTS["bank"] | {"exact": exact})
    assert page.evaluate("handed") == [exact]


def test_keyboard_reaches_tokens_and_dimensions(open_kernel):
    data = VARIANTS["bank"]
    page = open_kernel(data)
    side = data["sides"][0]
    at = max(side["rows"], key=lambda each: float(each["fine"]))["at"]
    page.keyboard.press("Tab")
    assert focused(page) == 'the query of "bank", dimension 0: query ' + decimals(side["query"]["values"], 4)[0]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(page.get_by_role("tooltip")).to_contain_text("dimension 31: query")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_be_hidden()
    page.keyboard.press("Tab")
    assert focused(page) == f"row 0 {at}"
    for _ in range(12):
        page.keyboard.press("ArrowUp")
    assert focused(page) == "row 0 0"
    page.keyboard.press("ArrowDown")
    assert focused(page) == "row 0 1"
    assert lines(page)[0] == steps(data, 0, 1)
    page.keyboard.press("Tab")
    assert focused(page).startswith('query × key of "we", dimension 0: query')
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tooltip")).to_contain_text("dimension 1: query")
    page.keyboard.press("Tab")
    assert focused(page).startswith('weight × value of "we", dimension 0: weight')
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [["query", [0, 1]]]
    page.evaluate("data => { show(data); }", kernel_data(query="we"))
    assert focused(page) == "row 0 1"


def test_visitor_choices_stay_until_data_identifier_changes(open_kernel):
    data = kernel_data()
    page = open_kernel(data, 600)
    expect(row(page, 2, 1)).to_be_visible()  # B has the larger weight
    page.get_by_role("button", name="A bank").click()
    row(page, 2).hover()
    page.mouse.move(5, 890)
    page.evaluate("data => { show(data); }", data)
    expect(row(page, 2)).to_have_attribute("aria-selected", "true")
    expect(row(page, 2, 1)).to_be_hidden()
    page.evaluate("data => { show(data); }", data | {"key": "another"})
    expect(row(page, 2)).to_have_attribute("aria-selected", "false")
    expect(row(page, 2, 1)).to_be_visible()


@pytest.mark.parametrize("name, width, both", [("bank", 1100, True), ("bank", 600, False), ("64 x 128", 1100, False)])
def test_narrow_figure_shows_one_sentence_at_a_time(open_kernel, name, width, both):
    page = open_kernel(VARIANTS[name], width)
    assert page.locator(".switch").is_visible() != both
    shown = [row(page, VARIANTS[name]["sides"][side]["query"]["at"], side).is_visible() for side in (0, 1)]
    assert sum(shown) == 1 + both
    if not both:
        page.locator(".switch button").nth(shown.index(False)).click()
        assert [row(page, 1, side).is_visible() for side in (0, 1)] == [not one for one in shown]


def test_figure_fits_screen(open_kernel):
    page = open_kernel(VARIANTS["bank"], 1100)
    assert page.locator(".selfattn").bounding_box()["height"] <= 760
    expect(page.locator(".key").first).to_be_hidden()  # the titles of the columns say the same


def test_button_shows_dimensions_on_phone(open_kernel):
    page = open_kernel(VARIANTS["bank"], 358)
    lit = page.locator(".side.shown .row.lit .strip")
    expect(lit).to_have_count(2)
    assert not any(each.is_visible() for each in page.locator(".strip").all())
    page.get_by_role("button", name="Show each dimension").click()
    expect(page.get_by_role("button", name="Hide each dimension")).to_be_focused()
    assert [lit.nth(i).is_visible() for i in (0, 1)] == [True, True]
    other = page.locator(".side.shown .row:not(.lit, .query, .sums) .strip").first
    expect(other).to_be_hidden()
    assert lit.first.bounding_box()["width"] > 300
    expect(page.locator(".side.shown .key")).to_have_text("(blue above 0, red below)")
    expect(page.locator(".side.shown .key")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "width", "folds"), [("2 dimensions", 358, False), ("bank", 760, False), ("bank", 358, True)]
)
def test_long_vectors_are_left_out_on_phone(open_kernel, name, width, folds):
    page = open_kernel(VARIANTS[name], width)
    assert page.locator(".unfold").is_visible() == folds
    assert page.locator(".side.shown .query .strip").is_visible() != folds


# CSS selectors of the texts that must not overlap
TEXTS = (
    ".finding, .meaning, .head strong, .about, .token bdi, .value, .means, .sum, .line > *, .foot p, .toggle, .unfold, "
    ".switch bdi, .printed span"
)


@pytest.mark.parametrize("name", VARIANTS)
def test_no_text_is_cut_or_overlaps(open_kernel, name):
    """Use a font that is wider than Streamlit's."""
    page = open_kernel(VARIANTS[name], face="")
    assert cut_or_overlapping(page, TEXTS, (1380, 1100, 760, 368, 328)) == []
    page.locator(".toggle").click()
    if page.locator(".unfold").is_visible():  # `cut_or_overlapping` ended with the width of a phone
        page.locator(".unfold").click()
    assert cut_or_overlapping(page, f"{TEXTS}, .code div", (1380, 1100, 760, 328)) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(open_kernel, scheme):
    page = open_kernel(VARIANTS["hidden"], 1100, scheme)
    ink, paper = PALETTE[scheme]
    colour = "node => getComputedStyle(node).color"
    assert page.locator(".head strong").first.evaluate(colour) == f"rgb{ink}"
    for part in (".about", ".special", ".query .self", ".line bdi", ".toggle", ".foot p"):
        text = tuple(map(int, re.findall(r"\d+", page.locator(part).first.evaluate(colour))[:3]))
        assert contrast(text, paper) >= 4.5, (part, text)


def test_text_is_never_read_as_html(open_kernel):
    evil = "<img/src=x/onerror=window.broken=1>"
    data = kernel_data((f"bank {evil} .", f"{evil} bank"), terms=(evil,), below=(evil,))
    data["code"].insert(0, {"text": evil, "makes": ""})
    page = open_kernel(data)
    row(page, 1).hover()
    row(page, 1).get_by_role("button").hover()
    page.locator(".toggle").click()
    assert page.locator("img").count() == 0
    assert page.evaluate("window.broken") is None
    assert row(page, 1).locator(".token").text_content() == evil
    assert page.locator(".foot p").text_content() == page.locator(".code div").first.text_content() == evil
