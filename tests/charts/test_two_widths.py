"""One figure for any window: chips and lines in the room that there is."""

import re

import pytest

from selfattn.charts.theme import LIGHT
from selfattn.charts.two_widths import (
    ROOMS,
    Chip,
    chip_places,
    in_any_window,
    text_width,
)

TOLD = {"We": "2 % of the way", "sat": "2 %", "a": "−30 %", "I": "100 %", "bank": "", "the": "0 %"}
CHIPS = [Chip(text, beneath, bold=text == "bank") for text, beneath in TOLD.items()]


def params_of(width=None):
    """The parameters of a figure whose layout is the room's."""
    spec = in_any_window([], {}, LIGHT, lambda room: {"room": room}, width)
    return {param["name"]: param for param in spec["params"]}


@pytest.mark.parametrize("at", range(len(ROOMS)))
def test_a_layout_is_taken_from_its_own_width_on_up_to_the_next_wider_one(at):
    params = params_of()
    place = params["place"]["expr"]
    steps = [(int(width), int(n)) for width, n in re.findall(r"room >= (\d+) \? (\d+) : ", place)]

    def chosen(room):
        return next((n for width, n in steps if room >= width), len(ROOMS) - 1)

    assert params["layouts"]["value"][at] == {"room": ROOMS[at]}
    assert chosen(ROOMS[at].width) == at and (not at or chosen(ROOMS[at - 1].width - 1) == at)
    assert place.endswith(f": {len(ROOMS) - 1}]") and len(steps) == len(ROOMS) - 1


@pytest.mark.parametrize("width", [120, 150, 330, 2000])
def test_chips_stand_in_order_in_their_room_and_no_numbers_touch(width):
    places, end = chip_places(CHIPS, 26, 10, width, 18, 50)
    assert end == max(y for _, y, *_ in places) + 50
    before = (0, 0, 0)
    for chip, (x, y, wide, middle) in zip(CHIPS, places):
        half = text_width(chip.beneath, 12) / 2
        assert x >= 26 and x + wide <= max(width, 26 + wide)
        if y == before[0]:
            assert x > before[1] and (not chip.beneath or middle - half > before[2])
        assert (y, x) > before[:2] and wide > text_width(chip.text, 18, chip.bold)
        before = (y, x + wide, middle + half if chip.beneath else before[2] if y == before[0] else 0)


def test_a_long_number_gives_way_to_the_left_and_the_rest_stand_under_their_words():
    places, _ = chip_places([Chip("[CLS]", "", plain=True, small=True), *CHIPS], 26, 10, 2000, 18, 50)
    (_, (x, _, wide, middle), (other, _, width, under), *_) = places
    assert middle < x + wide / 2 and under == pytest.approx(other + width / 2, abs=0.1)
    assert other - (x + wide) < 10  # no hole


@pytest.mark.parametrize(("width", "columns", "column"), [(1140, 2, 552), (1000, 2, 482), (700, 1, 700)])
def test_a_width_has_one_layout(width, columns, column):
    params = params_of(width)
    assert params.keys() == {"layouts", "place"} and params["place"]["expr"] == "layouts[0]"
    (layout,) = params["layouts"]["value"]
    assert (layout["room"].columns, layout["room"].column) == (columns, column)
    assert params_of()["window_width"]["on"][0]["events"] == {"source": "window", "type": "resize"}


def test_chips_of_a_sentence_from_right_to_left_begin_at_the_right():
    for words in ("הבנק של הנהר", "البنك قرب النهر"):
        chips = [Chip("[CLS]", "", small=True), *(Chip(word, "44 %") for word in words.split()), Chip(".", "")]
        places, end = chip_places(chips, 26, 0, 400, 18, 50)
        lefts = [left for left, *_ in places]
        assert lefts == sorted(lefts, reverse=True) and places[0][0] + places[0][2] == 400 and end == 50
        assert all(left >= 26 and left < middle < left + wide for left, _, wide, middle in places)
        several, _ = chip_places(chips * 4, 26, 0, 200, 18, 50)
        lines = {y: [left for left, top, *_ in several if top == y] for _, y, *_ in several}
        assert len(lines) > 2 and all(line == sorted(line, reverse=True) for line in lines.values())
