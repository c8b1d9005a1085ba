"""Test the main figure, the component `way`, in Chromium."""

import math
import random
import re
from functools import partial

import pytest
from playwright.sync_api import expect

from selfattn import numbers
from selfattn.export.component_page import javascript
from selfattn.views.way_data import asking
from tests.browser.component import contrast, cut_or_overlapping, focused, settle
from tests.browser.conftest import eventually
from tests.browser.way_data import CROSSING, VARIANTS, crossing, way_data

pytestmark = pytest.mark.browser


@pytest.fixture
def open_way(open_component):
    return partial(open_component, "way")


def word(page, text, side=0):
    return page.locator(f'button.word[data-id^="word {side} "]').filter(has_text=re.compile(rf"^{re.escape(text)}\D*"))


def percent(value):
    return numbers.percent(value).replace(" ", "\u00a0")


def row(text, unit):
    return [None if each == "" else int(each) / unit for each in text.split(",")]


def test_numbers_are_formatted_as_in_python(open_way):
    page = open_way(VARIANTS["bank"])
    draw = random.Random(0)
    values = [0, -0.0, 0.005, 0.125, 0.625, -0.004, -0.005, 0.00001, 0.0042, 0.995, 1, 1.005, 2.675, -3.5, 17.445]
    values += [draw.uniform(-2, 2) for _ in range(2000)] + [draw.random() ** 6 for _ in range(500)]
    base = javascript("way").split("export default")[0]
    written = page.evaluate(
        """([script, values]) => {
            const {decimal, percent, weight} = new Function(`${script}; return {decimal, percent, weight}`)();
            return values.map(value => [decimal(value), percent(value), weight(value)]);
        }""",
        [base, values],
    )
    assert written == [[numbers.decimal(one), percent(one), numbers.weight(one)] for one in values]


def test_alone_true_shows_only_sentences_and_line(open_way):
    data = {**VARIANTS["bank"], "alone": True}
    page = open_way({**asking(data, "Where does it go?"), "way": {**data["way"], "level": None}})
    expect(page.locator("svg.line .solid")).to_have_count(2)
    seen = "all => all.filter(each => each.checkVisibility({ visibilityProperty: true })).length"
    assert page.locator("svg.line :is(.hollow, .ghost)").evaluate_all(seen) == 0
    page = open_way(data)
    expect(page.locator("svg.line .hollow").first).to_be_visible()
    expect(page.locator(".heads")).to_have_count(0)


@pytest.mark.parametrize("name", ["bank", "star", "sentences", "64 words", "split"])
def test_page_states_effect_of_hiding_each_word(open_way, name):
    data = VARIANTS[name]
    page = open_way(data)
    for i, side in enumerate(data["sides"]):
        others = [each for each in side["words"] if each["kind"] == "word"]
        labels = page.locator(f'button[data-id^="word {i} "]').evaluate_all("all => all.map(each => each.ariaLabel)")
        shares = [each["share"] for each in others]
        written = ["not run" if share is None else f"{percent(share)} of the way" for share in shares]
        assert labels == [f"{each['text']}: {share}" for each, share in zip(others, written)]
        above = page.locator("svg.line .much").nth(i).text_content()
        below = page.locator("svg.line .label").evaluate_all("all => all.map(each => each.textContent)")
        leader = next(each for each in others if each["at"] == side["leader"])
        assert percent(leader["share"]) in above or any(percent(leader["share"]) in text for text in below)
        beneath = page.locator(f".sentence.{'ab'[i]} .number:not(:empty)").all_text_contents()
        named = [each for each in others if each["at"] in side["named"] and each is not leader]
        assert beneath == [percent(each["share"]) for each in named]


def test_narrow_figure_shows_percentage_in_label(open_way):
    page = open_way(VARIANTS["bank"], 1100)
    above, beneath = page.locator("svg.line .much"), page.locator(".number:not(:empty)")
    labels = page.locator("svg.line .label:not(:empty)")
    expect(above).to_have_text([percent(0.436), percent(0.199)])
    expect(labels).to_have_text(['with "river"', 'without "river"', 'without "loan", could be chance'])
    expect(beneath).to_have_count(0)
    word(page, "sat").click()  # the arrow now shows "sat"
    expect(beneath).to_have_text([percent(0.436)])
    page.set_viewport_size({"width": 328, "height": 900})
    settle(page)
    expect(above).to_have_text(["", ""])
    expect(labels.last).to_have_text(f'moves most without "loan": {percent(0.199)}, could be chance')


def test_words_of_headline_have_colours_of_figure(open_way):
    page = open_way(VARIANTS["bank"])
    parts = page.locator(".finding span").evaluate_all("all => all.map(each => [each.className, each.textContent])")
    assert parts == [
        ["telling", '"river"'], ["side a", '"bank"'], ["share", "44\u00a0%"], ["side b", "finance"],
    ]  # fmt: skip
    page = open_way(VARIANTS["star"])
    assert page.locator(".finding span").count() == 0


def test_each_rate_is_drawn_as_100_marks(open_way):
    page, beyond = open_way(VARIANTS["bank"]), VARIANTS["bank"]["beyond"]
    expect(page.locator(".limit")).to_have_text(f"{beyond['text']} {beyond['link']['text']}")
    expect(page.locator(".beyond a")).to_have_attribute("href", beyond["link"]["href"])
    expect(page.locator(".rate")).to_have_text(
        [f"{100 * bar['value']:.0f} in 100 right {bar['label']}" for bar in beyond["bars"]]
    )
    kinds = "all => all.map(each => ['right', 'lost', 'wrong'].map(kind => each.querySelectorAll('.' + kind).length))"
    assert page.locator(".array").evaluate_all(kinds) == [[92, 0, 8], [77, 15, 8]]
    expect(page.locator(".array .note")).to_have_text(["50 by guessing", "", "50 by guessing", "15 fewer"])
    ticks = page.locator(".array").evaluate_all(
        "all => all.map(each => each.querySelector('.tick').getBBox().x / each.clientWidth)"
    )
    assert ticks == pytest.approx([0.5, 0.5])


def test_hollow_dot_of_nearly_unmoved_vector_is_invisible(open_way):
    data = way_data()
    for each in data["sides"][1]["words"]:
        each["share"] = 0.01 if each["text"] == "loan" else 0.0 if each["kind"] == "word" else None
    page = open_way(data)
    expect(page.locator(".hollow").nth(0)).to_be_visible()
    expect(page.locator(".hollow").nth(1)).to_be_hidden()
    labels = page.locator(".line .label")
    expect(labels).to_have_text(
        ['with "river"', 'without "river"', "", f'moves most without "loan": {percent(0.01)}, could be chance']
    )
    word(page, "loan", 1).click()
    expect(labels.last).to_have_text(f'without "loan": {percent(0.01)}, could be chance')


@pytest.mark.parametrize("width", [1100, 330])
@pytest.mark.parametrize("name", ["bank", "sentences"])
def test_line_ends_are_drawn_to_scale(open_way, name, width):
    page = open_way(VARIANTS[name], width)
    settle(page)
    a, b = (page.locator(f".mark.{side}.solid circle").bounding_box()["x"] for side in "ab")
    at = VARIANTS[name]["way"]["at"]
    first, second = page.locator(".shore").evaluate_all(
        "all => all.map(each => each.getBBox()).map(({x, width}) => ({x, width}))"
    )
    assert first["x"] + first["width"] == pytest.approx(second["x"])  # the halves meet
    assert first["width"] == pytest.approx(second["width"])
    whole = first["width"] + second["width"]
    assert (b - a) / (at[1] - at[0]) == pytest.approx(whole, abs=1)
    middle = page.locator("svg.line .tick").evaluate("each => each.getBBox().x")
    assert middle == pytest.approx(first["x"] + whole / 2, abs=0.5)
    ends = [f"nearer to {end['label']}" for end in VARIANTS[name]["way"]["ends"]]
    expect(page.locator("svg.line .nearer")).to_have_text(ends if width == 1100 else [])
    classes = page.locator("svg.line .nearer").evaluate_all("all => all.map(each => each.classList[1])")
    assert classes == ["a", "b"][: 2 * (width == 1100)]
    counts = ["average of 12 other sentences"] * 2 if name == "bank" else ["", ""]
    expect(page.locator(".ends .count")).to_have_text(counts)


@pytest.mark.parametrize("width", [1100, 330])
def test_legend_explains_dots_and_scale(open_way, width):
    page = open_way(VARIANTS["bank"], width)
    settle(page)
    expect(page.locator(".way .legend .key")).to_have_text(
        ["●● one of the sentences, left out of its own average", f"{percent(1)}: the distance between the averages"]
    )
    boxes = "all => all.map(each => each.getBoundingClientRect().toJSON())"
    legend, *keys = page.locator(".way-line .legend, .key").evaluate_all(boxes)
    names = page.locator(".ends .name").evaluate_all(boxes)
    for key in keys:
        assert legend["left"] <= key["left"] and key["right"] <= legend["right"]
        assert all(name["bottom"] <= key["top"] for name in names)


@pytest.mark.parametrize("width", [1100, 330])
def test_rulers_show_noise_level(open_way, width):
    page = open_way(VARIANTS["bank"], width)
    settle(page)
    halves = page.locator(".shore").evaluate_all("all => all.map(each => each.getBBox().width)")
    rulers = page.locator(".line > .rail").evaluate_all("all => all.map(each => each.getBBox().width)")
    assert rulers == pytest.approx([0.21 * sum(halves)] * 2, abs=0.5)
    boxes = "all => all.map(each => each.getBoundingClientRect().toJSON())"
    labels, marks = page.locator(".line > .doubt"), page.locator(".solid circle").evaluate_all(boxes)
    said = f"up to {percent(0.21)}: could be chance"
    expect(labels).to_have_text([said, said if width == 1100 else ""])  # A has the larger effect
    (label, other), lines = labels.evaluate_all(boxes), page.locator(".line > .rail").evaluate_all(boxes)
    assert lines[0]["left"] == pytest.approx(marks[0]["left"] + marks[0]["width"] / 2, abs=2)  # A moves right
    assert lines[1]["right"] == pytest.approx(marks[1]["left"] + marks[1]["width"] / 2, abs=2)
    around = page.locator("svg.line").evaluate("each => each.getBoundingClientRect().toJSON()")
    assert lines[0]["bottom"] <= label["top"] + 4 and around["left"] <= label["left"]
    assert label["left"] < lines[0]["right"] and label["right"] <= around["right"]
    assert width == 330 or label["right"] < other["left"]
    labels.first.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("at least eight go toward the other sense")


@pytest.mark.parametrize(("at", "shares", "level", "crossed"), CROSSING)
def test_mark_in_other_half_has_colour_of_other_sentence(open_way, at, shares, level, crossed):
    page = open_way(crossing(at, shares, level))
    classes = "all => all.map(each => each.classList.contains('a') ? 'A' : 'B')"

    def colours(kind):
        return page.locator(f".line > .{kind}").evaluate_all(classes)

    moved = [{"A": "B", "B": "A"}[name] if name in crossed else name for name in "AB"]
    assert (colours("hollow"), colours("stream.pale")) == (moved, moved)
    assert (colours("solid"), colours("stream.full")) == (["A", "B"], ["A", "B"])
    assert colours("stem") == [colour for pair in zip("AB", moved) for colour in pair]
    word(page, "river").click()
    assert (colours("solid")[0], colours("stream.full")[0]) == (moved[0], moved[0])
    assert (colours("hollow")[0], colours("stream.pale")[0]) == ("A", "A")


@pytest.mark.parametrize("more", [{"toward": (1, 1)}, {"between": "sentences"}])
def test_mark_keeps_colour_without_two_senses(open_way, more):
    page = open_way(way_data(shares=({"river": 0.5}, {"loan": 0.1}), at=(0.1, 0.9), **more))
    assert page.locator(".hollow").evaluate_all("all => all.map(each => each.classList[1])") == ["a", "b"]


def test_legend_omits_missing_dots_and_noise_level(open_way):
    page = open_way(VARIANTS["sentences"])
    expect(page.locator(".way-line .key")).to_have_text([f"{percent(1)}: the distance between the ends"])
    expect(page.locator(".line > .doubt")).to_have_text(["", ""])
    assert page.locator(".line > .rail").evaluate_all("all => all.map(each => each.getAttribute('d'))") == ["", ""]


def test_ribbon_width_shows_how_far_vector_moves(open_way):
    page = open_way(VARIANTS["bank"])
    for side, name in enumerate("ab"):
        flows = page.locator(f".sentence.{name} .flow")
        found = flows.evaluate_all(
            "all => all.map(each => [Number(each.dataset.at), Number(each.getAttribute('stroke-width'))])"
        )
        shares = {
            each["at"]: each["share"] for each in VARIANTS["bank"]["sides"][side]["words"] if (each["share"] or 0) > 0
        }
        wide = dict(found)
        assert {*wide} == {*shares}  # negative shares have no ribbon
        assert wide == {at: pytest.approx(max(64 * share, 0.6)) for at, share in shares.items()}
    named = page.locator(".flow.named").evaluate_all("all => all.map(each => each.dataset.at)")
    assert named == [str(at) for own in VARIANTS["bank"]["sides"] for at in own["named"]]


def test_effects_and_weights_of_heads_are_shown(open_way):
    data = VARIANTS["bank"]
    page = open_way(data)
    side = data["sides"][0]
    effects = row(side["exact"]["6"], 10000)
    cells = page.locator(".cell")
    labels = cells.evaluate_all("all => all.map(each => each.ariaLabel)")
    assert labels == [f"head {i % 12} of layer {i // 12}: {percent(one)}" for i, one in enumerate(effects)]
    printed = [percent(one) if abs(one) >= 0.05 else "" for one in effects]
    assert cells.all_text_contents() == printed and any(printed)
    expect(page.locator(".effects .small")).to_have_text(
        f'A cell: how much of the way "bank" then moves. Grey: under {percent(0.06)}, too small to tell from noise of one '
        "head. Single heads don't add up to all 72 together."
    )
    for head in (10, 41):
        cells.nth(head).hover()
        for name, each in zip("ab", data["sides"]):
            weights = row(each["weights"][head], 1000)
            values = page.locator(f".tokens.{name} .value").all_text_contents()
            assert values == [numbers.weight(one) if one >= 0.05 else "" for one in weights]
            bars = page.locator(f".tokens.{name} .bar")
            heights = bars.evaluate_all("all => all.map(bar => bar.getBoundingClientRect().height / 104)")
            assert heights == pytest.approx(weights, abs=1e-3)
        assert page.locator(".bar.subject").count() == 1
        assert page.locator(".tokens.a li").nth(8).locator(".bar.subject").count() == 1  # the bar of "river"


def along(page):
    """Return a function that gives a locator's position on the line (0 and 1: its ends)."""
    shapes = "all => all.map(each => each.getBBox()).map(({x, width}) => [x, width])"
    (start, half), _ = page.locator(".shore").evaluate_all(shapes)
    left = page.locator("svg.line").bounding_box()["x"]

    def position(locator):
        box = locator.evaluate("each => each.getBoundingClientRect().toJSON()")
        return (box["left"] + box["width"] / 2 - left - start) / (2 * half)

    return position


@pytest.mark.parametrize("name", ["bank", "star", "one sense", "sentences"])
@pytest.mark.parametrize("width", [360, 1100])
def test_marks_are_drawn_at_positions_in_data(open_way, name, width):
    data = VARIANTS[name]
    page = open_way(data, width)
    way, position = data["way"], along(page)
    dots = sorted(dot["x"] for end in way["dots"] for dot in end)
    places = [position(page.locator(".dot").nth(i)) for i in range(page.locator(".dot").count())]
    assert places == pytest.approx(dots, abs=0.005)
    for side, (at, toward) in enumerate(zip(way["at"], way["toward"])):
        share = next(one["share"] for one in data["sides"][side]["words"] if one["at"] == data["sides"][side]["leader"])
        solid, hollow = (page.locator(f".mark.{'ab'[side]}.{kind} circle") for kind in ("solid", "hollow"))
        assert [position(solid), position(hollow)] == pytest.approx([at, at + toward * share], abs=0.005)
        page.locator(f'[data-id="word {side} {data["sides"][side]["leader"]}"]').click()
        settle(page)
        assert [position(solid), position(hollow)] == pytest.approx([at + toward * share, at], abs=0.005)


@pytest.mark.parametrize("width", [360, 1100])
def test_dots_do_not_overlap(open_way, width):
    page = open_way(VARIANTS["bank"], width)
    circles = page.locator(".dot").evaluate_all(
        "all => all.map(each => ['cx', 'cy', 'r'].map(name => Number(each.getAttribute(name))))"
    )
    axis = page.locator(".shore").first.evaluate("each => each.getBBox().y + each.getBBox().height / 2")
    for n, (x, y, r) in enumerate(circles):
        assert y + r < axis
        assert all(math.dist((x, y), other[:2]) >= 2 * r for other in circles[n + 1 :])


def test_click_hides_or_shows_word(open_way):
    page = open_way(VARIANTS["bank"])
    river, of = word(page, "river"), word(page, "of")
    expect(page.locator(".flow.cut")).to_have_count(0)
    river.click()
    expect(page.locator(".flow.cut")).to_have_attribute("data-at", "6")
    expect(river).to_have_attribute("aria-pressed", "true")
    expect(river).to_have_attribute("aria-label", f"river: {percent(0.44)} of the way, hidden")
    of.click()
    expect(river).to_have_attribute("aria-pressed", "false")
    expect(of).to_have_attribute("aria-pressed", "true")
    word(page, "loan", 1).click()
    of.click()
    page.locator(".cell").nth(66).click()
    hidden = [["hidden", [6, None]], ["hidden", [4, 6]], ["hidden", [None, 6]]]
    assert page.evaluate("sent") == [*hidden, ["head", 66]]
    assert page.evaluate("triggers") == [["heads", [4, None]]]  # heads of "river" and "loan" are known
    expect(page.locator(".cell").nth(66)).to_have_attribute("aria-selected", "true")


def test_hint_names_hidden_words(open_way):
    page = open_way(VARIANTS["bank"])
    state = page.locator(".hint")
    expect(state).to_have_text("Click a word to hide it.")
    word(page, "river").click()
    word(page, "loan", 1).click()
    expect(state).to_have_text('Hidden: "river" and "loan". Click again to show.')


def test_section_of_heads_is_folded_at_first(open_way):
    data = way_data()
    data["chosen"] = {**data["chosen"], "open": False}
    page = open_way(data)
    summary, cell = page.locator("summary"), page.locator(".cell").first
    expected = 'Hide "river" in one of the 72 heads at a time'
    expect(summary).to_have_text(f"Through which heads?{expected}")
    expect(cell).to_be_hidden()
    summary.focus()
    page.keyboard.press("Enter")
    expect(cell).to_be_visible()
    page.evaluate("data => { show(data); }", data)
    expect(cell).to_be_visible()


def test_map_of_heads_requests_effects_only_while_open(open_way):
    data = way_data()
    data["chosen"] = {**data["chosen"], "open": False}
    page = open_way(data)
    word(page, "of").click()
    assert page.evaluate("[sent, triggers]") == [[["hidden", [4, None]]], []]
    page.locator("summary").click()
    eventually(page, lambda: page.evaluate("triggers") == [["heads", [4, None]]])
    word(page, "river").click()  # its heads are known
    assert page.evaluate("[sent.at(-1), triggers.length]") == [["hidden", [6, None]], 1]
    data["heads"]["runnable"] = False
    page.evaluate("data => { show(data); }", data)
    word(page, "of").click()
    assert page.evaluate("[sent.at(-1), triggers.length]") == [["hidden", [4, None]], 1]


def test_exact_effects_of_heads_replace_gradients_as_they_arrive(open_way):
    data = way_data()
    page, label = open_way(data), "head 10 of layer 0"
    caption, cell = page.locator(".effects .small"), page.locator('[data-id="head 10"]')
    word(page, "of").click()
    rough = row(data["sides"][0]["gradient"][4], 10000)[10]
    assert page.evaluate("triggers") == [["heads", [4, None]]]
    expect(caption).to_contain_text("moves, by gradient.")
    expect(cell).to_have_attribute("aria-label", f"{label}: {percent(rough)}")
    sides = [{"4": ",".join(["37"] * 10 + ["4100"] + ["37"] * 61)}, {}]
    arrive = "detail => { dispatchEvent(new CustomEvent('selfattn-exact', { detail })); }"
    page.evaluate(arrive, {"key": "another figure", "sides": sides})
    expect(cell).to_have_attribute("aria-label", f"{label}: {percent(rough)}")
    page.evaluate(arrive, {"key": data["key"], "sides": sides})
    expect(cell).to_have_attribute("aria-label", f"{label}: {percent(0.41)}")
    expect(caption).to_contain_text("then moves. ")
    page.evaluate("data => { show(data); }", data)
    expect(cell).to_have_attribute("aria-label", f"{label}: {percent(0.41)}")
    assert page.evaluate("triggers.length") == 1


def test_unfolding_map_requests_effects_of_heads(open_way):
    whole = way_data()
    data = {**whole, "chosen": {"hidden": [None, None], "head": None, "open": False}}
    data["sides"] = [{**side, "tokens": [], "weights": [], "gradient": [], "exact": {}} for side in whole["sides"]]
    page = open_way(data)
    expect(page.locator("summary")).to_contain_text('Hide "river" in one of the 72 heads at a time')
    page.locator("summary").click()
    expect(page.locator(".effects .small")).to_have_text("Running the heads ...")
    eventually(page, lambda: page.evaluate("triggers") == [["heads", [None, None]]])
    page.evaluate("data => { show(data); }", whole)
    expect(page.locator(".cell[aria-selected=true]")).to_have_attribute("data-id", "head 10")
    expect(page.locator(".tokens.a .token").first).to_have_text("[CLS]")
    assert page.evaluate("triggers.length") == 1


def test_words_can_be_hidden_without_map_of_heads(open_way):
    page = open_way(way_data() | {"heads": None})
    expect(page.locator(".beyond")).to_be_visible()
    expect(page.locator(".heads")).to_have_count(0)
    word(page, "river").click()
    assert page.evaluate("sent") == [["hidden", [6, None]]]


def test_hover_sends_nothing_to_server(open_way):
    page = open_way(VARIANTS["bank"])
    position = along(page)
    word(page, "of").hover()
    expect(page.locator(".effects h3")).to_have_text('Hide "of" in one head alone')
    ghost = page.locator(".mark.a.ghost")
    expect(ghost).to_be_visible()
    assert position(ghost.locator("circle")) == pytest.approx(-0.095 + 0.16, abs=0.005)
    height = page.locator(".selfattn").bounding_box()["height"]
    page.locator(".cell").nth(41).hover()
    expect(page.locator(".reads .small").first).to_contain_text("in head 5 of layer 3 (L3 H5, the outlined cell)")
    assert page.locator(".selfattn").bounding_box()["height"] == height
    page.locator(".dot").first.hover()
    expect(page.get_by_role("tooltip")).to_have_text("Sentence 0 of riverside.")
    expect(page.locator(".reads .small").first).to_contain_text("in head 10 of layer 0 (L0 H10, the outlined cell)")
    expect(page.locator(".effects h3")).to_have_text('Hide "river" in one head alone')
    assert page.evaluate("sent") == []


def test_keyboard_reaches_every_part_of_figure(open_way):
    page = open_way(VARIANTS["bank"])
    for _ in range(7):
        page.keyboard.press("Tab")
    assert focused(page) == "word 0 6"
    page.keyboard.press("Enter")
    assert focused(page) == "word 0 6"
    for _ in range(8):
        page.keyboard.press("Tab")
    assert focused(page).startswith('Every "bank" projected')
    page.keyboard.press("Tab")
    assert focused(page) == "Sentence 0 of riverside."
    page.keyboard.press("ArrowRight")
    assert focused(page) == "Sentence 1 of riverside."
    expect(page.get_by_role("tooltip")).to_have_text("Sentence 1 of riverside.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_be_hidden()
    for _ in range(4):  # noise level, link, heading, map
        page.keyboard.press("Tab")
    assert focused(page) == "head 10"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")  # the last column: the focus stays
    assert focused(page) == "head 23"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")  # the first column: the focus stays
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "head 0"
    page.keyboard.press("Space")
    assert focused(page) == "head 0"
    assert page.evaluate("sent") == [["hidden", [6, None]], ["head", 0]]


def test_data_with_new_key_resets_choices(open_way):
    data = way_data()
    page = open_way(data)
    word(page, "river").click()
    page.locator(".cell").nth(66).click()
    river = page.locator('[data-id="word 0 6"]').element_handle()
    data["sides"][0]["words"][7]["share"] = 0.5
    page.evaluate("data => { show(data); }", data)
    expect(word(page, "river")).to_have_attribute("aria-label", f"river: {percent(0.5)} of the way, hidden")
    expect(page.locator(".cell").nth(66)).to_have_attribute("aria-selected", "true")
    assert river.evaluate("node => node.isConnected")
    data |= {"key": "another", "chosen": {"hidden": [None, 6], "head": 3, "open": True}}
    page.evaluate("data => { show(data); }", data)
    expect(word(page, "river")).to_have_attribute("aria-pressed", "false")
    expect(word(page, "loan", 1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".cell").nth(3)).to_have_attribute("aria-selected", "true")


def test_focus_stays_on_dot_after_update(open_way):
    page = open_way(VARIANTS["bank"])
    page.locator(".dot").first.focus()
    page.keyboard.press("ArrowRight")
    page.evaluate("data => { show(data); }", VARIANTS["bank"])
    assert focused(page) == "Sentence 1 of riverside."


@pytest.mark.parametrize("name, rows", [("bank", 1), ("star", 2), ("one sense", 2)])
def test_nearby_circles_a_and_b_get_separate_rows(open_way, name, rows):
    page = open_way(VARIANTS[name])
    tops = {page.locator(f".mark.{side}.solid").bounding_box()["y"] for side in "ab"}
    assert len(tops) == rows


@pytest.mark.parametrize(
    ("shares", "upper"), [(({"river": 0.4}, {"loan": 0.3}), "a"), (({"river": 0.3}, {"loan": 0.4}), "b")]
)
def test_sentence_with_larger_effect_has_upper_row(open_way, shares, upper):
    page = open_way(way_data(shares=shares, at=(0.4, 0.5)))
    tops = {side: page.locator(f".mark.{side}.solid").bounding_box()["y"] for side in "ab"}
    assert min(tops, key=tops.get) == upper and len({*tops.values()}) == 2


def test_figure_stays_until_last_caller_removes_it(open_way):
    page = open_way(VARIANTS["bank"])
    page.evaluate("data => { window.first = show(data); window.second = show(data); first(); }", VARIANTS["bank"])
    assert page.locator(".selfattn").count() == 1
    page.evaluate("second()")
    assert page.locator(".selfattn").count() == 0
    page.evaluate("data => { show(data); }", VARIANTS["bank"])
    assert page.locator(".selfattn").count() == 1


def test_answer_is_hidden_until_visitor_guesses(open_way):
    page = open_way(VARIANTS["guess"])
    for answer in (".number:not(:empty)", ".flow", ".line", ".map", ".named", ".leader"):
        expect(page.locator(answer)).to_have_count(0)
    assert not re.search(r"\d", page.locator(".sentences").inner_text())
    word(page, "of").click()
    assert page.evaluate("sent") == [["guess", [0, 4]]]
    page.evaluate("data => { show(data); }", VARIANTS["guessed"])
    expect(page.locator(".number:not(:empty)")).to_have_text([f"your guess: {percent(0.16)}"])
    expect(page.locator("svg.line .much")).to_have_text([percent(0.436), percent(0.199)])
    expect(page.locator(".flow.named")).to_have_count(1)
    assert focused(page) == "word 0 4"


# Selectors of texts that must not overlap
TEXTS = ".line .label, .line .much, .line .note, .ends .name, .small, .ink, .number, .axis, .cell, h3, .token, .value, .effects p"


@pytest.mark.parametrize("name", VARIANTS)
def test_texts_do_not_overlap(open_way, name):
    # face="" leaves out Streamlit's font, and the browser's own font is wider
    page = open_way(VARIANTS[name], face="")
    assert cut_or_overlapping(page, TEXTS, (1100, 760, 358, 328)) == []


def test_figure_fits_on_screen_without_scrolling(open_way):
    # The window is 900 pixels high. 128 pixels of it are above the figure, which leaves 772.
    data = way_data()
    page = open_way(data | {"chosen": {**data["chosen"], "open": False}}, 1100)
    assert page.locator(".heads").evaluate("each => each.getBoundingClientRect().bottom + scrollY") <= 772


def test_share_near_noise_level_is_written_with_decimal(open_way):
    data = way_data(shares=({"river": 0.436}, {"loan": 0.2096}))
    expect(open_way(data, 328).locator(".label").last).to_have_text(
        'moves most without "loan": 21.0\u00a0%, could be chance'
    )
    expect(open_way(data, 1100).locator(".much").last).to_have_text("21.0\u00a0%")


def test_ribbons_join_only_words_on_same_text_line(open_way):
    page, sides = open_way(VARIANTS["64 words"], 1100), VARIANTS["64 words"]["sides"]
    top = "each => each.getBoundingClientRect().top"
    for side, name in enumerate("ab"):
        line = page.locator(f".sentence.{name} .chosen .ink").evaluate(top)
        tops = {
            each["at"]: page.locator(f'[data-id="word {side} {each["at"]}"] .ink').evaluate(top)
            for each in sides[side]["words"]
            if each["kind"] == "word" and (each["share"] or 0) > 0
        }
        flows = page.locator(f".sentence.{name} .flow").evaluate_all("all => all.map(each => Number(each.dataset.at))")
        assert {*flows} == {at for at, place in tops.items() if abs(place - line) < 9} != {*tops}


@pytest.mark.parametrize(
    "scheme, ink, paper", [("light", (27, 35, 48), (255,) * 3), ("dark", (238, 241, 246), (15, 19, 26))]
)
def test_text_has_enough_contrast(open_way, scheme, ink, paper):
    page = open_way(VARIANTS["bank"], 1100, scheme)
    colour = "node => getComputedStyle(node).color"
    assert page.locator(".finding").evaluate(colour) == f"rgb{ink}"
    for part in (".much.named", ".much >> nth=1", ".small >> nth=0"):
        text = tuple(map(int, re.findall(r"\d+", page.locator(part).first.evaluate(colour))[:3]))
        assert contrast(text, paper) >= 4.5, (part, text)


def test_text_is_never_read_as_html(open_way):
    evil = "<img src=x onerror=window.broken=1>"
    data = way_data(
        (f"We sat on the bank of the {evil} .", f"A {evil} bank."), shares=({evil: 0.5}, {evil: 0.4}),
        names=(evil, evil), finding=evil,
    )  # fmt: skip
    data["beyond"] = {"text": evil}
    page = open_way(data)
    page.locator(".dot").first.hover()
    page.locator('button[data-id^="word 0"]').last.click()
    assert page.locator("img").count() == 0
    assert page.evaluate("window.broken") is None
    assert page.locator(".finding").text_content() == evil
    assert page.locator('button[data-id^="word 0"] .ink').last.text_content() == evil


@pytest.mark.parametrize("motion, seconds", [("reduce", "0s"), ("no-preference", "0.35s")])
def test_only_reduced_motion_turns_off_transition_of_marks(open_way, motion, seconds):
    page = open_way(VARIANTS["bank"], motion=motion)
    duration = page.locator(".mark.a.solid").evaluate("node => getComputedStyle(node).transitionDuration")
    assert duration == seconds


def test_right_to_left_words_start_at_right(open_way):
    page = open_way(VARIANTS["hebrew"])
    boxes = [page.locator('button[data-id^="word 0"]').nth(i).bounding_box() for i in range(4)]
    assert [box["x"] for box in boxes] == sorted((box["x"] for box in boxes), reverse=True)
    expect(page.locator(".flow.named")).to_have_count(2)
