"""Test charts/way.py, which draws the main view as a static picture."""

import copy
import re

import altair as alt
import pytest

from selfattn import numbers
from selfattn.analysis.sense_means import sense_means
from selfattn.charts.flow import FLOW, band, move_of
from selfattn.charts.labels import text_width
from selfattn.charts.landscape import scale_of
from selfattn.charts.many import many
from selfattn.charts.moved_word import Scale, Shown, placed_words, row, wrapped
from selfattn.charts.share import share
from selfattn.charts.sheet import Sheet
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.way import way
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.export.files import draw_svg
from selfattn.panel import Look
from selfattn.stored_reports import stored
from selfattn.views.main_view import main_view
from tests.browser.way_data import CROSSING, VARIANTS, crossing, way_data

LABELLED = labelled_sentences()
ARABIC = ("شربت من عين الماء في الجبل.", "أصيبت عين الطفل بالتهاب شديد.")


@pytest.fixture(scope="module")
def panels(encoder):
    # All effects on "star" are below the noise level. In both sentences, the encoder gives "wave" one and the same sense.
    many = stored("hidden_words", encoder, LABELLED).report
    found = {}
    for word in ("bank", "star", "wave", "عين"):
        texts = ARABIC if word == "عين" else next(each for each in PAIRS if each.word == word).sentences[:2]
        sides = [encoder.encode(text).places(word)[0] for text in texts]
        means = None if word == "عين" else sense_means(encoder, LABELLED, word)
        found[word] = list(main_view(encoder, *sides, senses=means, over_many=many))[-1]
    return found


def drawn(panel, look=None):
    spec = panel.picture(look or Look())
    return spec, {name: rows for name, rows in spec["datasets"].items()}


def what(rows, name):
    return [each for each in rows if each.get("what") == name]


def texts_of(sets):
    return [
        each["text"] for name, rows in sets.items() if name.startswith(("left", "center", "right")) for each in rows
    ]


def polygons(sets, name):
    corners = {}
    for each in what(sets["areas"], name):
        corners.setdefault(each["path"], []).append(each)
    return [
        (own[0]["value"], min(each["x"] for each in own), max(each["x"] for each in own), own[0]["color"])
        for own in corners.values()
    ]


@pytest.mark.parametrize("word", ["bank", "star", "wave", "عين"])
@pytest.mark.parametrize("width", [1100, 390])
@pytest.mark.slow
def test_marks_are_drawn_at_positions_in_data(panels, word, width):
    _, sets = drawn(panels[word], Look(width=width))
    data, points = panels[word].live.data, sets["points"]
    line, shown = data["way"], Shown(data)
    dots = what(points, "dot")
    assert sorted((each["value"], each["said"]) for each in dots) == sorted(
        (dot["x"], dot["text"]) for dots in line["dots"] for dot in dots
    )
    places = {each["value"]: each["x"] for each in points if "value" in each}
    (low, left), (high, right) = min(places.items()), max(places.items())
    scale = (right - left) / (high - low)
    for value, x in places.items():
        assert x == pytest.approx(left + (value - low) * scale, abs=0.02)
    arrows = polygons(sets, "arrow")
    for side, name in enumerate("AB"):
        (own,) = what(points, name)
        assert own["value"] == line["at"][side]
        leader = data["sides"][side]["leader"]
        move = shown.share(side, leader)
        moved = what(points, f"{name} without {shown.label(side, leader)}")
        assert len(moved) == (move * scale >= 15)
        assert [each["value"] for each in moved] == pytest.approx(
            [own["value"] + line["toward"][side] * move] * len(moved)
        )
        if move * scale <= 33:
            continue
        value, start, end, _ = arrows.pop(0)
        assert value == move and end - start == pytest.approx(move * scale - 31, abs=0.05)
        assert own["x"] == pytest.approx(start if line["toward"][side] > 0 else end, abs=0.02)
    assert not arrows


@pytest.mark.parametrize("word", ["bank", "star", "wave", "عين"])
@pytest.mark.slow
def test_ribbon_width_shows_how_far_vector_moves(panels, word):
    _, sets = drawn(panels[word])
    data = panels[word].live.data
    for side in data["sides"]:
        corners = {}
        for each in what(sets["areas"], f"ribbon {side['name']}"):
            corners.setdefault((each["value"], each["path"]), []).append(each)
        words = [each for each in side["words"] if each["kind"] == "word" and each["share"] > 0]
        assert sorted(value for value, _ in corners) == sorted(each["share"] for each in words)
        named = {each["share"] for each in words if each["at"] in side["named"]}
        for (value, _), own in corners.items():
            half = len(own) // 2
            assert abs(own[0]["x"] - own[-1]["x"]) == pytest.approx(max(FLOW * value, 0.6), abs=0.05)  # at its word
            assert abs(own[half - 1]["x"] - own[half]["x"]) == pytest.approx(max(FLOW * value, 0.6), abs=0.05)
            assert (own[0]["color"] == LIGHT.effect[-1]) == (value in named)


def test_ribbons_join_only_words_on_same_text_line():
    data = VARIANTS["split"]
    sets = way(data, LIGHT, 760)["datasets"]
    assert [value for value, *_ in polygons(sets, "ribbon A")] == [0.25]  # the longest word is on the next line
    assert sorted(value for value, *_ in polygons(sets, "ribbon B"))[-3:] == [0.22, 0.24, 0.3]


def test_area_between_marks_shows_effect_of_hiding():
    for level, color, size in ((0.21, LIGHT.effect[-2], 42), (0.5, LIGHT.muted, 23)):
        sets = way(way_data(level=level), LIGHT)["datasets"]
        (value, left, right, hue), *_ = polygons(sets, "between")
        (mark,), (hollow,) = what(sets["points"], "A"), what(sets["points"], 'A without "river"')
        assert (value, hue) == (0.436, color)
        assert left <= mark["x"] and right >= hollow["x"]
        (text,) = (each for each in sets["center_bold"] if each["text"] == "44\u00a0%" and each["size"] in (42, 23))
        assert text["size"] == size and text["x"] == pytest.approx((mark["x"] + hollow["x"]) / 2, abs=0.02)


def test_band_has_given_width():
    corners = band([(0, 0), (0, 10), (0, 20)], 4)
    assert corners == [pytest.approx(each) for each in ((-2, 0), (-2, 10), (-2, 20), (2, 20), (2, 10), (2, 0))]


@pytest.mark.slow
def test_bars_show_weights_of_head_outlined_in_map(panels):
    _, sets = drawn(panels["bank"])
    data = panels["bank"].live.data
    weights = [weight for side in data["sides"] for weight in row(side["weights"][10], 1000)]
    most, written = max(weights), [numbers.decimal(weight) for weight in weights if weight >= 0.05]
    texts = [each for name, rows in sets.items() if name.startswith("center") for each in rows if each["size"] == 11]
    assert [each["text"] for each in texts if "." in each["text"]] == written
    for side in data["sides"]:
        bars = what(sets["rects"], f"weight {side['name']}")
        assert [each["value"] for each in bars] == row(side["weights"][10], 1000)
        tall = [each["y2"] - each["y"] for each in bars]
        assert tall == pytest.approx([max(1, 46 * each["value"] / most) for each in bars], abs=0.05)
    assert 'Head 10 of layer 0: what "bank" attends to' in texts_of(sets)


def of_heads(exact, weights, **more):
    """Make data with 6 heads. exact: effects of hiding "river". weights: attention weights of head 4 in A."""
    data = copy.deepcopy(
        way_data(layers=2, heads=3, **{"chosen": {"hidden": [None, None], "head": 4, "open": False}} | more)
    )
    data["sides"][0]["exact"] = {"6": exact}
    for side, own in zip(data["sides"], (weights, [40] * 11)):
        side["weights"][4] = ",".join(map(str, own))
    return data


@pytest.mark.parametrize(
    ("exact", "opacities", "printed", "brown"),
    [
        ("500,499,-150,,0,100", [1, 0.998, 0.3, 0, 0, 0.2], ["5\u00a0%"], True),
        ("-149,500,0,0,0,0", [0.298, 1, 0, 0, 0, 0], ["5\u00a0%"], False),
        ("550,-1000,0,0,0,20", [0.55, 1, 0, 0, 0, 0.02], ["6\u00a0%", "−10\u00a0%"], True),
        ("40,0,0,0,0,0", [0.08, 0, 0, 0, 0, 0], [], False),
    ],
)
def test_cells_show_effects_of_heads(exact, opacities, printed, brown):
    """Each effect of at least 5 % of the distance to the other sense is printed in its head's cell."""
    sets = way(of_heads(exact, [40] * 11), LIGHT)["datasets"]
    cells = what(sets["rects"], "head")
    assert [each["value"] for each in cells] == row(exact, 10_000) and [each["opacity"] for each in cells] == opacities
    gaps = cells[1]["x"] - cells[0]["x2"], cells[3]["y"] - cells[0]["y2"]  # a row for each layer
    assert gaps == pytest.approx((2, 2), abs=0.05)
    assert [(each["x"], each["y"]) for each in cells] == [(cells[n % 3]["x"], cells[n - n % 3]["y"]) for n in range(6)]
    assert [each["color"] == LIGHT.effect[0] for each in cells] == [(each["value"] or 0) < 0 for each in cells]
    texts = [each for each in sets["center_plain"] if each["size"] == 11 and "%" in each["text"]]
    assert [each["text"] for each in texts] == printed
    assert [each["color"] == LIGHT.background for each in texts] == [
        part > 0.55 for cell, part in zip(cells, opacities) if abs(cell["value"] or 0) >= 0.05
    ]
    said = " ".join(texts_of(sets)).replace("\u00a0", " ")
    assert (
        "With the word hidden in all 6 heads at once, the move is 44 % of the way." in said
        and ("Brown: the word moves away from the other sense." in said) == brown
    )


@pytest.mark.parametrize(
    ("width", "weights", "printed"),
    [
        (1100, [50, 49, 60, 50, 230, 0, 40, 50, 40, 40, 40], ["0.05", "0.06", "0.05", "0.23", "0.05"]),
        (300, [50, 49, 60, 50, 230, 0, 40, 50, 40, 40, 40], ["0.23"]),
        (1100, [49, 0, 50, *[40] * 8], ["0.05"]),
    ],
)
def test_bar_heights_follow_weights(width, weights, printed):
    """A narrow picture prints only the largest weight."""
    sets = way(of_heads("0,0,0,0,0,0", weights), LIGHT, width)["datasets"]
    bars = what(sets["rects"], "weight A")
    assert [each["y2"] - each["y"] for each in bars] == pytest.approx(
        [max(1, 46 * weight / max(100, *weights)) for weight in weights], abs=0.05
    )
    texts = [each["text"] for each in sets["center_plain"] if each["size"] == 11 and each["text"].startswith("0.")]
    assert texts == printed


@pytest.mark.parametrize(
    ("hidden", "first", "share", "exact"),
    [([None, None], (0, 6), 0.436, True), ([None, 0], (1, 0), 0.0401, False), ([4, 6], (1, 6), 0.199, True)],
)
def test_head_map_belongs_to_hidden_word_with_larger_effect(hidden, first, share, exact):
    data = way_data()
    shown = Shown({**data, "chosen": {**data["chosen"], "hidden": hidden}})
    assert (shown.first, shown.share(*first), shown.exact, shown.answer) == (first, share, exact, (0, 6))
    own = data["sides"][first[0]]
    assert shown.cells == row(own["exact"]["6"] if exact else own["gradient"][first[1]], 10_000)
    assert [shown.hidden(side) for side in (0, 1)] == [6 if at is None else at for at in hidden]


def test_words_are_tinted_by_effect_of_hiding_them():
    """Words that the finding may name are teal. In a sentence without such words, the words with the largest effects are grey."""
    data = copy.deepcopy(way_data(chosen={"hidden": [6, None], "head": 10, "open": False}))
    data["sides"][0]["named"], data["sides"][1]["close"] = [4, 6], [2]
    sets, sheet = way(data, LIGHT)["datasets"], Sheet(LIGHT)
    rects = what(sets["rects"], "word")
    teal, grey = LIGHT.effect[-2], sheet.pale(LIGHT.muted, 0.12)
    assert [(each["value"], each["color"]) for each in rects] == [
        (0.16, sheet.pale(teal, 0.354)), (0.436, sheet.pale(teal, 0.5334)), (0.07, grey), (0.199, grey),
    ]  # fmt: skip
    texts = [each for name, rows in sets.items() if name.startswith("center") for each in rows]
    at = {each["text"]: each["x"] for each in reversed(texts) if each["size"] > 20}
    for rect, word in zip(rects, ("of", "river", "to", "loan")):
        assert rect["x"] < at[word] < rect["x2"]
    (number,) = (each for each in texts if each["text"] == "16\u00a0%" and each["y"] < 250)
    assert number["x"] == pytest.approx(at["of"], abs=0.1)
    blocks = what(sets["rects"], "chosen")
    assert [each["color"] for each in blocks] == [LIGHT.sentence_a, LIGHT.sentence_b]
    lines = {
        (each["color"], each["width"]): (each["x"] + each["x2"]) / 2
        for each in sets["rules"] if each["y"] == each["y2"]
    }  # fmt: skip
    assert lines[LIGHT.ink, 2] == pytest.approx(at["river"], abs=0.1)  # the hidden word is struck out
    (cut,) = {each["opacity"] for each in what(sets["areas"], "ribbon A") if each["value"] == 0.436}
    assert cut == 0.25


def test_words_of_finding_have_colours_of_picture():
    sets = way(way_data(), LIGHT)["datasets"]
    colors = {each["text"]: each["color"] for each in sets["center_bold"] if each["size"] in (20, 22, 24)}
    found = [colors[text] for text in ('"river"', '"bank"', "finance", "44\u00a0%", "moves")]
    assert found == [LIGHT.ink, LIGHT.sentence_a, LIGHT.sentence_b, LIGHT.effect[-1], LIGHT.ink]
    assert Sheet(LIGHT).pale(LIGHT.effect[-2], 0.55) in [each["color"] for each in sets["rects"]]
    none = way_data(level=0.5)
    plain = {each["color"] for each in way(none, LIGHT)["datasets"]["center_bold"] if each["size"] in (20, 22, 24)}
    assert plain == {LIGHT.ink}


def test_each_accuracy_is_drawn_as_100_dots():
    data, sheet = way_data()["beyond"], Sheet(LIGHT)
    many(sheet, data, 0, 1100)
    sets = sheet.drawn(1100, 200)["datasets"]
    counts = [len(what(sets["points"], name)) for name in ("right", "lost", "wrong")]
    assert counts == [92 + 77, 15, 8 + 8]
    assert {"92 in 100 right", "77 in 100 right", "15 fewer", "50 by guessing"} <= set(texts_of(sets))
    assert data["link"]["text"] in texts_of(sets)
    guess = {(each["x"] - 5 * 10.5 * 2, each["x"] - 20 * 10.5 / 2) for each in sets["rules"] if each["width"] == 2}
    left = min(each["x"] for each in what(sets["points"], "right")) - 10.5 / 2
    assert min(start for start, _ in guess) == pytest.approx(left, abs=0.02)


def test_answer_is_word_named_in_finding():
    data = way_data()
    for between, level, named, at, answer in (
        ("senses", None, [], (0.49, 0.5), (0, 6)), ("senses", None, [], (0.1, 0.49), None),
        ("senses", None, [], (0.5, 0.9), None), ("senses", 0.21, [], (0, 1), None),
        ("sentences", None, [], (0, 1), None), ("sentences", None, [6], (0, 1), (1, 6)),
    ):  # fmt: skip
        sides = [{**data["sides"][0], "named": []}, {**data["sides"][1], "named": named}]
        shown = Shown({**data, "sides": sides, "way": {**data["way"], "between": between, "level": level, "at": at}})
        assert shown.answer == answer
    none = Shown({**data, "sides": [{**side, "leader": None} for side in data["sides"]]})
    assert (none.first, none.answer, none.cells, none.exact) == (None, None, [], False)
    for reason, said in (("", "no word is hidden."), ("too long.", "too long.")):
        sets = way({**none.data, "heads": {**data["heads"], "reason": reason}}, LIGHT)["datasets"]
        assert f"Not known: {said}" in texts_of(sets)


@pytest.mark.slow
def test_picture_contains_texts_of_panel(panels):
    for word, panel in panels.items():
        _, sets = drawn(panel)
        whole = " ".join(texts_of(sets))
        for part in (panel.live.data["finding"], panel.live.data["beyond"]["text"], *panel.live.data["below"]):
            assert all(each in whole for each in re.findall(r"\w+", part)), word


def boxes(sets):
    """Yield (left, right, top, bottom, text) of each horizontal text."""
    for name, rows in sets.items():
        if name.startswith(("left", "center", "right")):
            align, weight = name.split("_")
            for each in (each for each in rows if not each["angle"]):
                wide = text_width(each["text"], each["size"], weight == "bold")
                left = each["x"] - {"left": 0, "center": wide / 2, "right": wide}[align]
                yield left, left + wide, each["y"] - 0.75 * each["size"], each["y"], each["text"]


@pytest.mark.parametrize("width", [1100, 760, 390, 300])
@pytest.mark.parametrize("word", ["bank", "star", "wave", "عين"])
@pytest.mark.slow
def test_texts_do_not_overlap(panels, word, width):
    spec, _ = drawn(panels[word], Look(width=width))
    check_room(spec, width)


@pytest.mark.parametrize("width", [1100, 760, 390, 300])
@pytest.mark.parametrize("name", ["one sense", "sentences", "64 words", "split", "hidden"])
def test_texts_in_variants_of_main_view_do_not_overlap(name, width):
    data = VARIANTS[name]
    check_room(way({**data, "sides": [{**side, "weights": []} for side in data["sides"]]}, LIGHT, width), width)


def test_texts_of_picture_for_sharing_do_not_overlap():
    for name in ("bank", "star", "one sense", "sentences", "hebrew", "split"):
        check_room(share(VARIANTS[name], LIGHT), 1080)


def check_room(spec, width):
    """Check that no text is cut off or overlaps another text."""
    sets = spec["datasets"]
    for rows in sets.values():
        for each in rows:
            assert all(-6 <= each[x] <= width + 6 for x in ("x", "x2") if x in each), each
            assert all(-20 <= each[y] <= spec["height"] for y in ("y", "y2") if y in each), each
    found = sorted(box for box in boxes(sets) if box[-1] not in ("A", "B"))
    assert all(left >= -6 and right <= width + 6 for left, right, *_ in found), found
    for n, (_, right, top, bottom, text) in enumerate(found):
        for left, _, other_top, other_bottom, other in found[n + 1 :]:
            assert left >= right - 0.1 or other_top >= bottom or other_bottom <= top, (text, other)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.slow
def test_picture_is_valid_vega_lite(panels, dark):
    spec = panels["bank"].picture(Look(dark=dark))
    alt.Root.validate(spec)
    svg = draw_svg(spec)
    assert "river" in svg and (DARK if dark else LIGHT).sentence_a in svg


@pytest.mark.slow
def test_dots_in_picture_for_sharing_are_to_scale(panels):
    spec = panels["bank"].share(Look(dark=True))
    margins = spec["padding"]
    assert spec["width"] + margins["left"] + margins["right"] == 1200
    assert spec["height"] + margins["top"] + margins["bottom"] == 675
    points = spec["datasets"]["points"]
    line = panels["bank"].live.data["way"]
    share = Shown(panels["bank"].live.data).share(0, 6)
    (here,), (moved,) = what(points, "A"), what(points, 'A without "river"')
    assert (here["value"], moved["value"]) == (line["at"][0], pytest.approx(line["at"][0] + share))
    dots = what(points, "dot")
    assert [each["value"] for each in dots] == sorted(dot["x"] for dots in line["dots"] for dot in dots)
    scale = (moved["x"] - here["x"]) / share
    for each in dots:
        assert each["x"] == pytest.approx(here["x"] + (each["value"] - here["value"]) * scale, abs=0.05)
    for word, sides in (("star", "AB"), ("wave", "AB"), ("عين", "B")):
        found = panels[word].share(Look())["datasets"]["points"]
        assert [name for name in "AB" if what(found, name)] == list(sides), word


@pytest.mark.parametrize("between", ["senses", "sentences"])
@pytest.mark.parametrize("width", [1100, 330])
def test_line_ends_are_drawn_to_scale(between, width):
    data = way_data(between=between)
    sets = way(data, LIGHT, width)["datasets"]
    first, second = (next(each["x"] for each in what(sets["points"], name)) for name in "AB")
    at = data["way"]["at"]
    place = [first + (n / 2 - at[0]) / (at[1] - at[0]) * (second - first) for n in range(3)]
    thick = [each for each in sets["rules"] if each["width"] == 3]
    ends = [each for each in thick if each["x"] == each["x2"]]
    assert [each["x"] for each in ends] == pytest.approx([place[0], place[2]], abs=0.1)
    assert [each["color"] for each in ends] == [LIGHT.sentence_a, LIGHT.sentence_b]
    halves = [(each["x"], each["x2"]) for each in thick if each["y"] == each["y2"]]
    assert halves == [pytest.approx((end, place[1]), abs=0.1) for end in (place[0], place[2])]
    axis = (ends[0]["y"] + ends[0]["y2"]) / 2
    across = [each for each in sets["rules"] if each["width"] == 2 and min(each["y"], each["y2"]) < axis]
    assert [each["x"] for each in across if each["x"] == each["x2"] and axis < max(each["y"], each["y2"])] == [
        pytest.approx(place[1], abs=0.1)
    ]
    nearer = [f"nearer to {end['label']}" for end in data["way"]["ends"]]
    colors = {each["text"]: each["color"] for name in ("left_plain", "right_plain") for each in sets[name]}
    drawn = {text: color for text, color in colors.items() if text.startswith("nearer to")}
    assert drawn == (dict(zip(nearer, (LIGHT.sentence_a, LIGHT.sentence_b))) if width == 1100 else {})
    assert f"100\u00a0%: the distance between the {'averages' if between == 'senses' else 'ends'}" in texts_of(sets)
    averages = [each for each in sets["left_plain"] if each["text"].startswith("average of 12 other")]
    assert len(averages) == (2 if between == "senses" else 0)


@pytest.mark.parametrize("width", [1100, 330])
def test_noise_level_is_drawn_to_scale(width):
    sets = way(way_data(), LIGHT, width)["datasets"]
    rulers = [each for each in sets["rules"] if each["width"] == 2.5 and each["y"] == each["y2"]]
    ends = [each["x"] for each in sets["rules"] if each["width"] == 3 and each["x"] == each["x2"]]
    length = 0.21 * (ends[1] - ends[0])
    assert [each["x2"] - each["x"] for each in rulers] == pytest.approx([length, -length], abs=0.1)  # A and B
    marks = [what(sets["points"], name)[0] for name in "AB"]
    assert [(each["x"], each["y"]) for each in rulers] == [(mark["x"], mark["y"] + 44) for mark in marks]
    said = "up to 21\u00a0%: could be chance"
    labels = [(each["x"], each["y"]) for each in sets["left_plain"] if each["text"] == said]
    places = [marks[0]["x"] + 8, marks[1]["x"] - 8 - text_width(said, 12)]
    assert labels == [pytest.approx((x, rulers[0]["y"] + 18), abs=0.1) for x in places[: 1 + (width == 1100)]]
    assert not [each for each in way(VARIANTS["sentences"], LIGHT, width)["datasets"]["rules"] if each["width"] == 2.5]


@pytest.mark.parametrize(("at", "shares", "level", "crossed"), CROSSING)
def test_mark_in_other_half_has_colour_of_other_sentence(at, shares, level, crossed):
    data, other = crossing(at, shares, level), {"A": "B", "B": "A"}
    own = {name: LIGHT.sentence(name) for name in "AB"}
    moved = {name: own[other[name] if name in crossed else name] for name in "AB"}
    for hidden in (False, True):
        sets = way({**data, "chosen": {**data["chosen"], "hidden": [6, 6] if hidden else [None, None]}}, LIGHT)[
            "datasets"
        ]
        for name, word in (("A", "river"), ("B", "loan")):
            (before,), (after,) = what(sets["points"], name), what(sets["points"], f'{name} without "{word}"')
            inks = [mark["stroke" if mark["color"] == LIGHT.background else "color"] for mark in (before, after)]
            assert inks == [own[name], moved[name]]
            assert (after["color"] == moved[name]) == hidden
        full, pale = (moved, own) if hidden else (own, moved)
        streams = {full[name] for name in "AB"} | {Sheet(LIGHT).pale(pale[name], 0.35) for name in "AB"}
        assert {each["color"] for each in what(sets["areas"], "stream")} == streams


@pytest.mark.parametrize(
    ("shares", "upper"), [(({"river": 0.4}, {"loan": 0.3}), "A"), (({"river": 0.3}, {"loan": 0.4}), "B")]
)
def test_sentence_with_larger_effect_has_upper_row(shares, upper):
    points = way(way_data(shares=shares, at=(0.4, 0.5)), LIGHT)["datasets"]["points"]
    tops = {name: next(each["y"] for each in what(points, name)) for name in "AB"}
    assert min(tops, key=tops.get) == upper and len({*tops.values()}) == 2


def test_line_is_grey_if_words_have_same_sense():
    sets = way(VARIANTS["one sense"], LIGHT)["datasets"]
    assert {each["color"] for each in what(sets["points"], "dot")} == {Sheet(LIGHT).pale(LIGHT.muted, 0.65)}
    assert {each["color"] for each in sets["rules"] if each["width"] == 3} == {LIGHT.muted}


def test_dots_do_not_overlap():
    for width in (1100, 300):
        dots = what(way(way_data(), LIGHT, width)["datasets"]["points"], "dot")
        for n, one in enumerate(dots):
            assert all(abs(one["x"] - each["x"]) + abs(one["y"] - each["y"]) > 10 for each in dots[n + 1 :])


def test_sense_name_is_centred_below_sense_mean():
    sets = way(way_data(), LIGHT)["datasets"]
    place = scale_of(Shown(way_data()), 74, 1100 - 74)
    for side, name in enumerate(("riverside", "finance")):
        (text,) = (each for each in sets["left_bold"] if each["text"] == name)
        assert text["x"] + text_width(name, 19, True) / 2 == pytest.approx(place(side), abs=0.1)
    counts = [each for each in sets["left_plain"] if each["text"].startswith("average of 12 other")]
    for side, each in enumerate(counts):
        middle = each["x"] + text_width(each["text"], 12) / 2
        assert middle == pytest.approx(place(side), abs=12)  # a dot follows
    assert len(counts) == 2


def test_picture_for_sharing_shows_sentence_of_named_word():
    """If the finding names no word, the picture shows both sentences."""
    data = way_data()
    for sides, words, names in (
        (data["sides"], [0.436], "A"), ([{**side, "named": []} for side in data["sides"]], [0.436, 0.199], "AB"),
    ):  # fmt: skip
        sets = share({**data, "sides": sides}, LIGHT)["datasets"]
        assert [each["value"] for each in what(sets["rects"], "word")] == words
        blocks = what(sets["rects"], "chosen")
        assert [each["color"] for each in blocks] == [LIGHT.sentence(name) for name in names]
        assert [name for name in "AB" if what(sets["points"], name)] == list(names)


def test_sentences_are_drawn_if_finding_names_no_word(encoder, encoder_of):
    for reader, texts in (
        (encoder, ("A bank.", "A bank.")),
        (encoder, ("Bank.", "Bank!")),
        (encoder_of("XLNet"), ("the bank of the river.", "no bank.")),
    ):
        sides = [reader.encode(text).places("bank")[0] for text in texts]
        *_, panel = main_view(reader, *sides)
        _, sets = drawn(panel)
        assert "Through which heads" in texts_of(sets) or not sets["points"]
        shared = panel.share(Look())
        alt.Root.validate(shared)
        assert not any("other sentences" in text for text in texts_of(shared["datasets"]))
        assert {token["text"] for token in panel.live.data["sides"][0]["tokens"]} <= set(texts_of(sets))


@pytest.mark.slow
def test_right_to_left_words_run_from_the_right(panels):
    side = panels["عين"].live.data["sides"][0]
    places = placed_words(side, 500, 25)
    assert side["dir"] == "rtl" and [each.x for each in places] == sorted((each.x for each in places), reverse=True)
    assert places[0].x + places[0].wide == pytest.approx(500)


def test_line_break_keeps_number_with_unit():
    assert wrapped("moves 44 % of the way", 60, 12) == ["moves", "44\u00a0% of", "the way"]


@pytest.mark.parametrize(
    ("shares", "chosen", "texts"),
    [
        ((0.436, 0.199), None, ['with "river"', 'without "river"', 'without "loan", could be chance']),
        ((0.1, 0.199), None, ['moves most without "river": 10 %, could be chance', 'without "loan", could be chance']),
        ((0.436, 0.01), None, ['with "river"', 'without "river"', 'moves most without "loan": 1 %, could be chance']),
        ((0.436, 0.2), 6, ['with "river"', 'without "river"', 'with "loan"', 'without "loan", could be chance']),
    ],
)
def test_labels_name_hidden_words(shares, chosen, texts):
    by_word = ({"river": shares[0], "of": 0.0, "We": -0.1, "sat": -0.1, "on": -0.1, "the": -0.1}, {"loan": shares[1]})
    only = {"We": 0, "went": 0, "to": 0, "the": 0, "for": 0, "a": 0}
    hidden = {"hidden": [chosen, chosen], "head": 10, "open": False}
    data = way_data(shares=(by_word[0], only | by_word[1]), chosen=hidden)
    sets = way(data, LIGHT)["datasets"]
    found = {
        each["text"].replace("\u00a0", " "): name for name in ("center_bold", "center_plain") for each in sets[name]
        if each["text"].startswith(("with", "moves most"))
    }  # fmt: skip
    assert sorted(found) == sorted(texts)
    assert found.get('with "river"', "center_bold") == ("center_plain" if chosen else "center_bold")


@pytest.mark.slow
def test_moves_are_drawn_to_scale(panels):
    shown, place = Shown(panels["bank"].live.data), Scale(-1, 2, 0, 3000)
    for side, (sign, level) in enumerate(((1, True), (-1, False))):
        move, here = move_of(shown, side, place), place(shown.data["way"]["at"][side])
        assert (move.start, move.end) == pytest.approx((here, here + sign * 1000 * shown.share(side, 6)))
        assert (move.sign, move.named) == (sign, level)


@pytest.mark.slow
def test_axis_covers_chosen_words_and_dots(panels):
    data = panels["bank"].live.data
    sides = [{**side, "leader": None} for side in data["sides"]]
    for places, dots, ends in (
        ((0.2, 0.8), [], (0, 1)),
        ((-0.1, 0.8), [1.3], (-0.1, 1.3)),
        ((0.2, 1.1), [-0.4], (-0.4, 1.1)),
    ):
        way = {**data["way"], "at": places, "dots": [[{"x": x} for x in dots], []]}
        assert scale_of(Shown({**data, "sides": sides, "way": way}), 0, 9) == Scale(*ends, 0, 9)
