"""Test the static picture of the main figure, which shows how far hiding each word moves the chosen word."""

import copy

import altair as alt
import pytest

from selfattn import numbers
from selfattn.analysis.sense_means import sense_means
from selfattn.charts.labels import text_width
from selfattn.charts.moved_word import Scale, Shown, lane_labels, placed_words, row, scale_of, wrapped
from selfattn.charts.share import share
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.way import beyond, way
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.export.files import draw_svg
from selfattn.panel import Look
from selfattn.stored_reports import stored
from selfattn.views.main_view import main_view
from tests.browser.way_data import way_data

LABELLED = labelled_sentences()
ARABIC = ("شربت من عين الماء في الجبل.", "أصيبت عين الطفل بالتهاب شديد.")


@pytest.fixture(scope="module")
def panels(encoder):
    """Make the panels of "bank" (two senses), "star" (no word exceeds the noise), "wave" (one sense) and an Arabic word."""
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


@pytest.mark.parametrize("word", ["bank", "star", "wave", "عين"])
@pytest.mark.parametrize("width", [1100, 390])
@pytest.mark.slow
def test_positions_on_the_line_equal_the_data(panels, word, width):
    _, sets = drawn(panels[word], Look(width=width))
    data, points = panels[word].live.data, sets["points"]
    line = data["way"]
    dots = what(points, "dot")
    assert [each["value"] for each in dots] == [dot["x"] for dots in line["dots"] for dot in dots]
    assert [each["said"] for each in dots] == [dot["text"] for dots in line["dots"] for dot in dots]
    places = {each["value"]: each["x"] for each in points if "value" in each}
    for side, name in enumerate("AB"):
        (own,) = what(points, name)
        assert own["value"] == line["at"][side]
        leader = data["sides"][side]["leader"]
        shown = Shown(data)
        (moved,) = what(points, f"{name} without {shown.label(side, leader)}")
        assert moved["value"] == pytest.approx(own["value"] + line["toward"][side] * shown.share(side, leader))
    (low, left), (high, right) = min(places.items()), max(places.items())
    scale = (right - left) / (high - low)
    for value, x in places.items():
        assert x == pytest.approx(left + (value - low) * scale, abs=0.02)
    bands = [(each["x"], each["x2"]) for each in what(sets["rects"], "noise")]
    assert len(bands) == (2 if line["level"] else 0)
    for band, at, toward in zip(bands, line["at"], line["toward"]):
        level = sorted((at, at + toward * line["level"]))
        assert band == pytest.approx([left + (end - low) * scale for end in level], abs=0.05)


@pytest.mark.slow
def test_bars_show_the_weights_of_the_leading_head(panels):
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
    """Make data for two layers of three heads, with these shares of the heads, and these weights of head 4 in A."""
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
def test_cells_show_the_share_of_each_head(exact, opacities, printed, brown):
    """Shares from 5 % on are printed. Brown tints (-1.5 % and below) are explained. The deepest tint is at least 5 %."""
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
    assert "All 6 heads together: 44 %." in said and ("Brown: away from the other sense." in said) == brown


@pytest.mark.parametrize(
    ("width", "weights", "printed"),
    [
        (1100, [50, 49, 60, 50, 230, 0, 40, 50, 40, 40, 40], ["0.05", "0.06", "0.05", "0.23", "0.05"]),
        (300, [50, 49, 60, 50, 230, 0, 40, 50, 40, 40, 40], ["0.23"]),
        (1100, [49, 0, 50, *[40] * 8], ["0.05"]),
    ],
)
def test_bar_heights_follow_the_weights(width, weights, printed):
    """Weights from 0.05 on are printed; in a narrow picture only the largest. The tallest bar stands for at least 0.1."""
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
def test_heads_are_shown_for_the_word_with_the_larger_share(hidden, first, share, exact):
    """Hidden words are compared if there are any, else the leading word of each sentence."""
    data = way_data()
    shown = Shown({**data, "chosen": {**data["chosen"], "hidden": hidden}})
    assert (shown.first, shown.share(*first), shown.exact, shown.answer) == (first, share, exact, (0, 6))
    own = data["sides"][first[0]]
    assert shown.cells == row(own["exact"]["6"] if exact else own["gradient"][first[1]], 10_000)
    assert [shown.hidden(side) for side in (0, 1)] == [6 if at is None else at for at in hidden]


def test_words_are_tinted_by_their_shares():
    """Named words are teal. Without named words, the leading word and words with similar shares are grey."""
    data = copy.deepcopy(way_data(chosen={"hidden": [6, None], "head": 10, "open": False}))
    data["sides"][0]["named"], data["sides"][1]["close"] = [4, 6], [2]
    sets = way(data, LIGHT)["datasets"]
    rects = what(sets["rects"], "word")
    found = [(each["value"], each["color"], each["opacity"]) for each in rects]
    teal, muted = LIGHT.effect[-1], LIGHT.muted
    assert found == [
        (0.16, teal, pytest.approx(0.248)), (0.436, teal, pytest.approx(0.4688)), (0.07, muted, 0.14), (0.199, muted, 0.14),
    ]  # fmt: skip
    texts = [each for name, rows in sets.items() if name.startswith("center") for each in rows]
    at = {each["text"]: each["x"] for each in reversed(texts)}
    for rect, word, part in zip(rects, ("of", "river", "to", "loan"), ("16", "44", "7", "20")):
        assert rect["x"] < at[word] == pytest.approx(at[f"{part}\u00a0%"], abs=0.1) and at[word] < rect["x2"]
    bank = [each["x"] for each in texts if each["text"] == "bank"][:2]  # the tokens of the bars come later
    lines = {(each["color"], each["width"]): (each["x"] + each["x2"]) / 2 for each in sets["rules"]}
    assert [lines[color, 2.5] for color in (LIGHT.sentence_a, LIGHT.sentence_b)] == pytest.approx(bank, abs=0.1)
    assert lines[LIGHT.ink, 2] == pytest.approx(at["river"], abs=0.1)  # the hidden word is struck out
    arcs = {}
    for point in [each for each in sets["paths"] if each.get("what") != "hill"]:
        arcs.setdefault(point["path"], []).append(point["x"])
    ends = sorted([min(xs), max(xs)] for xs in arcs.values())
    assert ends == [pytest.approx([bank[0], at[word]], abs=0.1) for word in ("of", "river")]


def test_the_answer_depends_on_noise_level_and_named_words():
    """Without a noise level, the leading word with the larger share is the answer. Otherwise only a named word can be.

    A word half way between the senses counts as nearer to the second sense.
    """
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
def test_the_picture_has_the_finding_and_the_texts_around_it(panels):
    for word, panel in panels.items():
        _, sets = drawn(panel)
        whole = " ".join(texts_of(sets)).replace("\u00a0", " ")
        for part in (panel.live.data["finding"], beyond(panel.live.data["beyond"]), *panel.live.data["below"]):
            assert all(each in whole for each in part.replace("\u00a0", " ").split(" ")), word


def boxes(sets):
    """Yield left, right, top, bottom and text of each text that isn't rotated."""
    for name, rows in sets.items():
        if name.startswith(("left", "center", "right")):
            align, weight = name.split("_")
            for each in (each for each in rows if not each["angle"]):
                wide = text_width(each["text"], each["size"], weight == "bold")
                left = each["x"] - {"left": 0, "center": wide / 2, "right": wide}[align]
                yield left, left + wide, each["y"] - 0.75 * each["size"], each["y"], each["text"]


@pytest.mark.parametrize("width", [1100, 760, 390])
@pytest.mark.parametrize("word", ["bank", "star", "wave", "عين"])
@pytest.mark.slow
def test_nothing_is_cut_off_and_no_texts_overlap(panels, word, width):
    spec, sets = drawn(panels[word], Look(width=width))
    for rows in sets.values():
        for each in rows:
            assert all(-6 <= each[x] <= width + 6 for x in ("x", "x2") if x in each)
            assert all(-20 <= each[y] <= spec["height"] for y in ("y", "y2") if y in each)
    found = sorted(box for box in boxes(sets) if box[-1] not in ("A", "B"))
    assert all(left >= -6 and right <= width + 6 for left, right, *_ in found)
    for n, (_, right, top, bottom, text) in enumerate(found):
        for left, _, other_top, other_bottom, other in found[n + 1 :]:
            assert left >= right - 0.1 or other_top >= bottom or other_bottom <= top, (text, other)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.slow
def test_the_picture_is_valid_in_both_themes(panels, dark):
    spec = panels["bank"].picture(Look(dark=dark))
    alt.Root.validate(spec)
    svg = draw_svg(spec)
    assert "river" in svg and (DARK if dark else LIGHT).sentence_a in svg


@pytest.mark.slow
def test_the_picture_to_share_has_the_positions_of_the_answer(panels):
    spec = panels["bank"].share(Look(dark=True))
    assert (spec["width"], spec["height"]) == (1200, 675)
    points = spec["datasets"]["points"]
    line = panels["bank"].live.data["way"]
    share = Shown(panels["bank"].live.data).share(0, 6)
    assert what(points, "A")[0]["value"] == line["at"][0]
    assert what(points, 'without "river"')[0]["value"] == pytest.approx(line["at"][0] + share)
    assert [each["value"] for each in what(points, "dot")] == [dot["x"] for dots in line["dots"] for dot in dots]
    for word, sides in (("star", "AB"), ("wave", "AB"), ("عين", "B")):
        found = panels[word].share(Look())["datasets"]["points"]
        assert [name for name in "AB" if what(found, name)] == list(sides), word
    sets = panels["عين"].share(Look())["datasets"]
    (struck,) = what(sets["rects"], "word")
    data = panels["عين"].live.data
    assert struck["value"] == Shown(data).share(*Shown(data).answer) and Shown(data).answer[0] == 1
    assert {word["text"] for word in data["sides"][1]["words"]} <= set(texts_of(sets))


def test_only_a_line_between_senses_marks_its_middle():
    for between, middle in (("senses", 1), ("sentences", 0)):
        texts = texts_of(way(way_data(between=between), LIGHT)["datasets"])
        assert sum("← nearer to" in text for text in texts) == middle


def test_the_name_of_an_end_is_above_its_hill():
    data = way_data()
    for hills in (data["way"]["hills"], [[], []]):
        sets = way({**data, "way": {**data["way"], "hills": hills}}, LIGHT)["datasets"]
        (axis,) = {each["y"] for each in sets["rules"] if each["x2"] - each["x"] == 1100}
        for side, name in enumerate(("riverside", "finance")):
            (text,) = (each for each in sets["center_bold"] if each["text"] == name)
            top = max((high for _, high in hills[side]), default=0)
            assert text["y"] - axis == pytest.approx(-70 * top - 8 if top else 18)


def test_the_ruler_says_what_it_measures_if_there_is_room():
    for between, width, text in (
        ("senses", 1100, ": from one sense's average to the other's"),
        ("senses", 330, ""),
        ("sentences", 330, ": from A to B, as they are"),
    ):
        texts = texts_of(way(way_data(between=between), LIGHT, width)["datasets"])
        assert [each for each in texts if each.startswith("100")] == [f"100\u00a0%{text}"]


def test_the_picture_to_share_shows_the_sentence_of_the_answer():
    """The hidden word of the answer is struck out. Without an answer, both sentences are shown, each after its letter."""
    data = way_data()
    for sides, words, letters in (
        (data["sides"], [0.436], 0), ([{**side, "named": []} for side in data["sides"]], [], 2),
    ):  # fmt: skip
        sets = share({**data, "sides": sides}, LIGHT)["datasets"]
        assert [each["value"] for each in what(sets["rects"], "word")] == words
        found = [
            (each["text"], each["color"]) for name, rows in sets.items() if name.startswith("center") for each in rows
        ]
        assert [text for text, _ in found].count("A") == [text for text, _ in found].count("B") == letters
        colors = [color for text, color in found if text == "bank"]
        assert colors == [LIGHT.sentence_a, LIGHT.sentence_b][: len(colors)] and len(colors) == (1 if words else 2)
        assert ("river", LIGHT.muted if words else LIGHT.ink) in found


def test_pairs_without_an_answer_are_drawn(encoder, encoder_of):
    """Test equal sentences, sentences of one word, and an encoder in which no word can be hidden."""
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
        assert not any("Each dot" in text for text in texts_of(shared["datasets"]))
        assert {token["text"] for token in panel.live.data["sides"][0]["tokens"]} <= set(texts_of(sets))


@pytest.mark.slow
def test_right_to_left_words_run_from_the_right(panels):
    side = panels["عين"].live.data["sides"][0]
    places = placed_words(side, 500, 25)
    assert side["dir"] == "rtl" and [each.x for each in places] == sorted((each.x for each in places), reverse=True)
    assert places[0].x + places[0].wide == pytest.approx(500)


def test_a_line_break_never_separates_a_number_from_its_unit():
    assert wrapped("moves 44 % of the way", 60, 12) == ["moves", "44\u00a0% of", "the way"]


@pytest.mark.slow
def test_labels_are_at_both_ends_of_an_arrow(panels):
    """A's arrow points right, B's left."""
    shown, place = Shown(panels["bank"].live.data), Scale(-1, 2, 0, 3000)
    (a, there), (b, other) = (lane_labels(shown, side, place, 3000) for side in (0, 1))
    here = [place(at) for at in shown.data["way"]["at"]]
    assert (a.x + a.wide, there.x) == pytest.approx((here[0] + 8, here[0] + 1000 * shown.share(0, 6) - 8))
    assert (b.x, other.x + other.wide) == pytest.approx((here[1] - 8, here[1] - 1000 * shown.share(1, 6) + 8))


@pytest.mark.slow
def test_density_curves_equal_the_data(panels):
    for word, panel in panels.items():
        _, sets = drawn(panel)
        way = panel.live.data["way"]
        place = scale_of(Shown(panel.live.data), 76, 1100 - 76)
        for side, points in enumerate(way["hills"]):
            area = what(sets["areas"], f"hill {side}")
            assert [each["x"] for each in area] == pytest.approx([place(at) for at, _ in points], abs=0.01), word
            heights = [each["y2"] - each["y"] for each in area]
            assert heights == pytest.approx([70 * high for _, high in points], abs=0.01)


@pytest.mark.slow
def test_the_axis_includes_every_mark(panels):
    data = panels["bank"].live.data
    sides = [{**side, "leader": None} for side in data["sides"]]
    for places, dots, ends in (
        ((0.2, 0.8), [], (0, 1)),
        ((-0.1, 0.8), [1.3], (-0.1, 1.3)),
        ((0.2, 1.1), [-0.4], (-0.4, 1.1)),
    ):
        way = {**data["way"], "at": places, "dots": [[{"x": x} for x in dots], []], "hills": [[], []]}
        assert scale_of(Shown({**data, "sides": sides, "way": way}), 0, 9) == Scale(*ends, 0, 9)
