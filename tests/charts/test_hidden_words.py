"""The figure of hidden words: shares, curves, the heads of the asked word, what an open head attends to, what is hidden now."""

import itertools
import json
import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import vl_convert
from playwright.sync_api import expect

from selfattn.analysis.hiding import HeadsOfWord, HiddenPair
from selfattn.analysis.word_map import Attended
from selfattn.charts.hidden_words import COSINES, _texts, hidden_words
from selfattn.charts.theme import DARK, LIGHT
from selfattn.encoders.capture import Head
from selfattn.encoders.placed_word import PlacedWord
from selfattn.export.files import draw_svg
from selfattn.numbers import decimal
from selfattn.words import Word
from tests.charts.scene import drawn, on_ramp, same_color, texts
from tests.small_hidden_pair import AT, BY_HEAD, PLACED, TEXTS, hidden_pair_of

EXACT = torch.arange(6).reshape(2, 3) / 7 - 0.3  # of "river", by head
TITLE = "1  Hide a word from “bank”: how far does it move, in % of the way to the other sentence’s “bank”?"


def attended_of(pair, special=("[CLS]", "[SEP]")):
    """Both sentences between special tokens; the weights in every head count up by word and by head."""
    found = []
    for placed, words in zip(pair.placed, pair.words):
        numbers = {word.start: at for at, word in enumerate(words)}
        own = placed.sentence.words
        others = [None, *(numbers.get(word.start) for word in own), None]
        n = len(others)
        heads = pair.by_head[0].shape[1:]
        chosen = 1 + [word.start in numbers for word in own].index(False)
        weights = (torch.arange(math.prod(heads) * n).reshape(*heads, n) % 89) / 100
        found.append(
            Attended(
                labels=(special[0], *(word.label for word in own), special[1]), groups=tuple((at,) for at in range(n)),
                special=(True, *[False] * (n - 2), True), others=tuple(others), chosen=chosen, weights=weights,
            )
        )  # fmt: skip
    return tuple(found)


def run_of(pair, side=0, at=3, share=EXACT, together=0.24, exact=True):
    return HeadsOfWord(side, at, pair.words[side][at], share, exact, together)


def test_words_from_right_to_left_keep_to_themselves_beside_numbers():
    pair = hidden_pair_of()
    words = tuple(tuple(replace(word, text="נהר") for word in side) for side in pair.words)
    spec = figure(pair=replace(pair, words=words), heads=[])
    (others,) = (each["value"] for each in spec["params"] if each["name"] == "others")
    assert {*itertools.chain(*others)} == {"\u2068נהר\u2069"}


def figure(theme=LIGHT, heads=None, pair=None, **options):
    pair = pair or hidden_pair_of()
    heads = [run_of(pair)] if heads is None else heads
    options = {"head": Head(1, 2), "width": 1140} | options
    return hidden_words(pair, attended_of(pair), heads, theme, **options)


def with_values(spec, **values):
    """The figure with other values at first: as after a click, for selections and plain parameters."""
    params = [param | ({"value": values[param["name"]]} if param["name"] in values else {}) for param in spec["params"]]
    return {**spec, "params": params}


def clicked(spec, side, at):
    """After a click on a word that was not hidden."""
    return with_values(spec, now=[side, at], **{f"hide_{'ab'[side]}": [{"next": at}]})


def said(spec):
    """All texts, lines joined."""
    return [" ".join(text) if isinstance(text, list) else str(text) for text in texts(spec)]


def chips(spec):
    """The words' chips, in order."""
    return [item for item in drawn(spec, "rect") if item.get("cornerRadius") == 5]


def heads_of(spec):
    """The colours of the heads' cells, layer by layer."""
    cells = [item for item in drawn(spec, "rect") if item.get("cornerRadius") == 3 and item.get("fillOpacity", 1)]
    return [item["fill"] for item in cells[len(cells) // 2 :]]


def label(spec, start):
    (found,) = [text for text in said(spec) if text.startswith(start)]
    return found


@pytest.mark.slow
def test_every_word_has_its_own_share_in_shade_and_number_on_a_scale_that_no_pair_changes():
    spec = with_values(figure(DARK), hide_a=[{"next": -1}], hide_b=[{"next": -1}])
    found = {item["text"]: item["x"] for item in drawn(spec, "text") if item["fontSize"] == 12 and "%" in item["text"]}
    of_map = "−117 %"  # an end of its scale
    assert [text for text in found if text != of_map] == ["10 % of the way", "20 %", "−3 %", "50 %", "25 %"]
    # Of "the", "bank", "of" ...: negative or not run: no shade; over 40 %: the deepest.
    shown = [0.1, 0, 0.2, 0, 0.4, 0.25, 0, 0]
    for chip, share in zip(chips(spec), shown, strict=True):
        assert same_color(chip["fill"], on_ramp(DARK.effect[2:], share / 0.4))
    words = [item for item in drawn(spec, "text") if item["fontSize"] == 20]
    assert [item["text"] for item in words] == [*TEXTS[0], *TEXTS[1]]
    by_word = {item["text"]: item for item in words}
    assert found["50 %"] == pytest.approx(by_word["river"]["x"], abs=0.1)
    assert by_word["river"]["fill"] == DARK.background and by_word["."]["fill"] == DARK.muted
    assert "40 % of the way or more" in said(spec)


def hidden_now(spec):
    """The numbers of the chips that are hollow with a dashed outline; as many lines go through words."""
    found = [number for number, chip in enumerate(chips(spec)) if chip["strokeDash"] == [5, 3]]
    struck = [item for item in drawn(spec, "rule") if item.get("strokeWidth") == 2]
    assert len(struck) == len(found)
    for number, line in zip(found, struck):
        chip = chips(spec)[number]
        assert chip["fill"] == LIGHT.background and chip["stroke"] == LIGHT.effect[-1]
        assert chip["x"] < line["x"] < line["x2"] < chip["x"] + chip["width"]
        assert chip["y"] < line["y"] < chip["y"] + chip["height"]
    return found


@pytest.mark.slow
def test_at_first_both_leading_words_are_hidden_and_a_click_hides_another_or_shows_it_again():
    spec = figure()
    assert hidden_now(spec) == [4, 5]  # "river", "A"
    assert "now: “river” and “A”. Click" in label(spec, "Hidden from")
    other = clicked(spec, 0, 1)
    assert hidden_now(other) == [2, 5] and "“of” and “A”" in label(other, "Hidden from")
    one = with_values(spec, hide_a=[{"next": -1}])
    assert hidden_now(one) == [5] and "now: “A”. Click" in label(one, "Hidden from")
    none = with_values(one, hide_b=[{"next": -1}])
    assert hidden_now(none) == []
    assert "Nothing is hidden from “bank” now." in label(none, "Nothing")
    not_run = clicked(spec, 1, 1)
    assert "“river” and “huge” (not run)." in label(not_run, "Hidden from")


def selection(spec, name):
    (found,) = [param for param in spec["params"] if param["name"] == name]
    return found


@pytest.mark.slow
def test_the_curves_are_drawn_and_named_by_their_last_numbers_over_one_floor():
    pair = hidden_pair_of()
    curves = pair.curves * 0.3 + 0.65
    pair = hidden_pair_of(curves=curves, cosine=curves[..., -1], control_cosine=0.92, control_hidden=0.97)
    spec = figure(pair=pair)
    names = {0: "0.66 as they are", 1: "0.87 “river” and “A” hidden", 2: "0.92 A and the control (0.97 both hidden)"}
    assert set(names.values()) <= set(said(spec))
    ticks = {item["text"]: item["y"] for item in drawn(spec, "text") if item["text"] in ("0.6", "1.0")}
    points = [item for item in drawn(spec, "symbol") if item["size"] == 34]
    cosines = [0.6 + 0.4 * (ticks["0.6"] - point["y"]) / (ticks["0.6"] - ticks["1.0"]) for point in points]
    assert cosines == pytest.approx([*curves[0, 0].tolist(), *curves[4, 1].tolist()], abs=1e-4)
    assert [point["fill"] for point in points] == [LIGHT.ink] * 3 + [LIGHT.effect[-1]] * 3
    (control,) = [item for item in drawn(spec, "symbol") if item["size"] == 60]
    assert control["y"] == pytest.approx(ticks["1.0"] + 0.2 * (ticks["0.6"] - ticks["1.0"]))
    assert f"{float(curves[2, 1, -1]):.2f} “of” and “A” hidden" in said(clicked(spec, 0, 1))
    alone = with_values(spec, hide_a=[{"next": -1}], hide_b=[{"next": -1}])
    assert not [text for text in said(alone) if text.endswith(" hidden")]
    assert len([item for item in drawn(alone, "symbol") if item["size"] == 34]) == 3
    not_run = clicked(spec, 1, 1)
    assert not [text for text in said(not_run) if text.endswith(" hidden")]
    assert "0.0" in said(figure())  # a curve that goes below takes the axis with it
    without = figure(pair=hidden_pair_of(curves=curves, control_cosine=math.nan, control_hidden=math.nan))
    assert not [text for text in said(without) if "control" in text]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1140, 330])
def test_names_of_curves_never_lie_over_each_other(width):
    for ends in ((0.9, 0.9, 0.9), (0.61, 0.6, 0.62)):
        curves = torch.full((6, 4, 3), ends[1])
        curves[0, 0] = ends[0]
        spec = figure(pair=hidden_pair_of(curves=curves, control_cosine=ends[2], control_hidden=0.97), width=width)
        found = [item for item in drawn(spec, "text") if item["fontSize"] == 12 and item.get("fontWeight") == 600]
        assert len(found) == 3
        found.sort(key=lambda item: item["y"])
        for above, below in pairwise(found):
            assert above["y"] + 15 * len(above["text"]) <= below["y"]
        order = [float(item["text"][0][:4]) for item in found]
        assert order == sorted((round(end, 2) for end in ends), reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "at", "kind", "together"),
    [
        (0, 3, "each head alone, measured", "Hidden in L1 H2, L1 H1 and L1 H0 together: 24 %; in all heads: 50 %."),
        (0, 1, "all by gradient (a first-order estimate)", ""),
        (1, 0, "all by gradient (a first-order estimate)", ""),  # leads, but was not run
    ],
)
def test_a_click_opens_the_words_own_heads_all_of_one_kind(side, at, kind, together):
    pair = hidden_pair_of()
    spec = clicked(figure(pair=pair), side, at)
    own = EXACT if kind == "each head alone, measured" else BY_HEAD[side][at]
    most = max(float(table.abs().max()) for table in (*BY_HEAD, EXACT))  # one scale for all words
    ramp = [on_ramp(LIGHT.effect, (share / most + 1) / 2) for share in own.flatten().tolist()]
    assert len(heads_of(spec)) == 6 and all(map(same_color, heads_of(spec), ramp))
    text = pair.words[side][at].text
    assert f"2  Through which heads “bank” reads “{text}”" in said(spec) and kind in said(spec)
    assert [line for line in said(spec) if "together" in line] == ([together] if together else [])
    weight = attended_of(pair)[side].weights[1, 2, at + 1 + (at >= AT[side])]
    share = round(100 * float(own[1, 2]))
    assert label(spec, "Head 2") == (
        f"Head 2 of layer 1 gives “{text}” {float(weight):.2f} of its attention; "
        f"hiding it there alone moves “bank” {share} % of the way."
    )


def test_three_heads_of_under_a_tenth_get_no_sentence():
    pair = hidden_pair_of()
    for together, expected in ((0.0999, False), (0.1, True), (None, False)):
        rows = figure(heads=[run_of(pair, together=together)], pair=pair)["datasets"]["heads"]
        assert any("together" in row["together"] for row in rows) is expected


@pytest.mark.slow
def test_the_picked_head_is_outlined_and_opened_and_the_hovered_one_in_its_place():
    pair = hidden_pair_of()
    spec = figure(pair=pair)

    def opened(spec):
        return [item["text"] for item in drawn(spec, "text") if item["fontSize"] == 10.5]

    def outlines(spec):
        return [(item["strokeWidth"], round(item["x"])) for item in drawn(spec, "rect") if item.get("fillOpacity") == 0]

    def weights(layer, head):
        return [f"{value:.2f}" for own in attended_of(pair) for value in own.weights[layer, head].tolist()]

    assert opened(spec) == weights(1, 2) and len(outlines(spec)) == 1
    hovered = with_values(spec, hovered=1)
    assert opened(hovered) == weights(0, 1) and label(hovered, "Head").startswith("Head 1 of layer 0 gives “river”")
    assert [width for width, _ in outlines(hovered)] == [1.5, 3]
    small = [item for item in drawn(hovered, "rect") if item.get("cornerRadius") == 4]
    ramp = [on_ramp(LIGHT.weights, float(value)) for value in weights(0, 1)]
    assert all(map(same_color, (item["fill"] for item in small), ramp))
    none = figure(head=None)
    assert "value" not in selection(none, "pick") and not opened(none)[0]
    assert "Click a head, or point at one." in said(none)


def test_what_is_learned_of_heads_later_changes_the_dataset_alone():
    pair = hidden_pair_of()
    before = figure(pair=pair)
    more = [run_of(pair), run_of(pair, at=1, share=-9 * EXACT), run_of(pair, side=1, at=0, exact=False)]
    after = figure(pair=pair, heads=more)
    assert len(after["datasets"].pop("heads")) == 3 and len(before["datasets"].pop("heads")) == 2
    assert json.dumps(before) == json.dumps(after)


@pytest.mark.slow
def test_a_guess_is_asked_without_any_number_of_the_answer():
    spec = figure(guess=True)
    shown = " ".join(said(spec)).replace(TITLE, "")
    assert "%" not in shown and "hidden" not in shown and "Which word would change “bank” most?" in shown
    assert all(same_color(chip["fill"], LIGHT.background) for chip in chips(spec))
    assert not [chip for chip in chips(spec) if chip["strokeDash"] == [5, 3]]
    assert len([item for item in drawn(spec, "symbol") if item["size"] == 34]) == 3
    assert not {"gradient", "weights", "where", "passers"} & {param["name"] for param in spec["params"]}
    assert "small" not in spec["datasets"] and {row["shares"] for row in spec["datasets"]["heads"]} == {""}
    assert {row["share"] for row in spec["datasets"]["words"]} == {None}
    (guess,) = [param for param in spec["params"] if "select" in param]
    assert guess["name"] == "guess" and guess["select"]["fields"] == ["sentence", "place"]
    assert {(row["sentence"], row["place"]) for row in spec["datasets"]["words"] if row["kind"] == "word"} == {
        ("A", 1), ("A", 3), ("A", 4), ("A", 5), ("B", 1), ("B", 2)
    }  # fmt: skip


@pytest.mark.slow
def test_where_nothing_is_known_the_words_their_attention_and_the_curve_stand():
    nan = torch.nan
    curves = torch.full((6, 4, 3), nan)
    curves[0, 0] = torch.tensor([1.0, 0.9, 0.8])
    pair = hidden_pair_of(
        share=(torch.full((5,), nan), torch.full((3,), nan)), curves=curves, cosine=curves[..., -1], top=(None, None),
        by_head=tuple(table * nan for table in BY_HEAD), control_hidden=nan,
    )  # fmt: skip
    spec = figure(pair=pair, heads=())
    shown = said(spec)
    assert "0.80 as they are" in shown and "0.55 A and the control" in shown
    assert not [text for text in shown if "NaN" in text or "undefined" in text or text == "null"]
    spec = clicked(spec, 0, 3)
    weight = float(attended_of(pair)[0].weights[1, 2, 5])
    assert label(spec, "Head 2") == f"Head 2 of layer 1 gives “river” {weight:.2f} of its attention."
    assert "not known" in said(spec) and len(heads_of(spec)) == 3  # half of the bare cells


@pytest.mark.slow
def test_a_lone_word_and_one_layer_are_drawn():
    bank = PlacedWord(SimpleNamespace(words=(Word("bank", 1, 2),)), (1,))
    pair = hidden_pair_of(
        placed=(bank, bank), words=((), ()), share=(torch.zeros(0),) * 2, top=(None, None), by_head=(torch.zeros(0, 1, 3),) * 2,
        curves=torch.ones(1, 1, 2), cosine=torch.ones(1, 1), control_cosine=math.nan, control_hidden=math.nan,
    )  # fmt: skip
    spec = figure(pair=pair, heads=(), head=Head(0, 1))
    assert "1.00 as they are" in said(spec) and len(chips(spec)) == 2
    assert "Head 1 of layer 0." in said(spec)
    assert selection(spec, "hide_a")["bind"]["next"]["options"] == [-1]


@pytest.mark.slow
def test_words_are_plain_text_whatever_they_are():
    spelled = ["<b>x</b>", "bank", "if", '"quo\'ted"\\', "constructor", "שלום", "$1", "“x”", "datum.at"]
    words = tuple(Word(text, at + 1, at + 2) for at, text in enumerate(spelled))
    placed = PlacedWord(SimpleNamespace(words=words), words[1].positions)
    n = len(words) - 1
    pair = hidden_pair_of(
        words=((words[0], *words[2:]), hidden_pair_of().words[1]), share=(torch.arange(n) / 10, torch.zeros(3)),
        by_head=(torch.zeros(n, 2, 3), BY_HEAD[1]), top=(2, 0), placed=(placed, PLACED[1]), curves=torch.ones(n + 1, 4, 3),
    )  # fmt: skip
    spec = figure(pair=pair, heads=())
    assert draw_svg(spec) and {word.text for word in pair.words[0]} <= {*said(spec)}
    written = json.dumps(expressions(spec))
    assert not [text for text in spelled if json.dumps(text) in written]
    for at, word in enumerate(pair.words[0][:3]):
        assert f"2  Through which heads “bank” reads “{word.text}”" in said(clicked(spec, 0, at))


def expressions(part):
    """All expressions of a spec."""
    if isinstance(part, list):
        return [one for each in part for one in expressions(each)]
    if not isinstance(part, dict):
        return []
    own = [part[key] for key in ("expr", "calculate", "test", "filter", "update") if isinstance(part.get(key), str)]
    return own + [one for value in part.values() for one in expressions(value)]


def large_pair(words=32, n_layers=24, n_heads=16, seed=0):
    """Two made-up sentences of this many other words."""
    random = np.random.default_rng(seed)
    spelled = [f"word{'s' * (at % 5)}" for at in range(words + 1)]
    own = tuple(Word(text, at + 1, at + 2) for at, text in enumerate(spelled))
    placed = PlacedWord(SimpleNamespace(words=own), own[7].positions)
    others = own[:7] + own[8:]
    curves = torch.tensor(random.uniform(0.5, 1, (words + 1, words + 1, n_layers + 1)))
    share = torch.tensor(random.normal(0, 0.1, words))
    by_head = tuple(torch.tensor(random.normal(0, 0.02, (words, n_layers, n_heads))) for _ in "ab")
    pair = HiddenPair(
        placed=(placed, placed), words=(others, others), share=(share, share), cosine=curves[..., -1], curves=curves,
        control_cosine=0.9, control_hidden=0.95, by_head=by_head,
        top=(int(share.argmax()), int(share.argmax())), ways=(torch.ones(4), torch.ones(4)), senses=None,
        nearest=None, places=(math.nan, math.nan), notes=(),
    )  # fmt: skip
    weights = torch.tensor(random.dirichlet(np.full(words + 3, 0.3), (n_layers, n_heads)))
    rows = Attended(
        labels=("[CLS]", *spelled, "[SEP]"), groups=tuple((at,) for at in range(words + 3)),
        special=(True, *[False] * (words + 1), True),
        others=(None, *range(7), None, *range(7, words), None), chosen=8, weights=weights,
    )  # fmt: skip
    return pair, (rows, rows)


@pytest.mark.parametrize(("size", "most"), [((7, 6, 12), 80_000), ((32, 24, 16), 500_000)])
def test_all_that_may_be_asked_travels_in_few_bytes(size, most):
    pair, rows = large_pair(*size)
    heads = [run_of(pair, side, at, pair.by_head[side][at]) for side, at in enumerate(pair.top)]
    spec = hidden_words(pair, rows, heads, DARK, head=Head(0, 0))
    assert len(json.dumps(spec).encode()) < most


def test_numbers_that_travel_as_text_round_as_they_would_themselves():
    random = np.random.default_rng(0)
    halves = np.arange(-200, 200) / 1000 + 0.005, np.arange(-99, 99) / 1000 + 1e-7
    values = np.concatenate([random.uniform(-1, 1, 20_000), *halves]).astype(np.float32)
    (row,) = _texts(torch.tensor(values[None]), COSINES)
    assert [decimal(int(one) / COSINES) for one in row.split(",")] == list(map(decimal, values))
    assert _texts(torch.tensor([[math.nan, 0.5, -0.1], [math.nan] * 3]), 100) == [",50,-10", ""]


@pytest.mark.browser
@pytest.mark.parametrize("wide", [1440, 1300, 800, 400])
def test_in_any_window_nothing_is_cut_off_small_or_drawn_over_another_text(page, wide):
    pair, rows = large_pair(12, 6, 12)
    heads = [run_of(pair, 0, pair.top[0], pair.by_head[0][0])]
    spec = hidden_words(pair, rows, heads, LIGHT, head=Head(3, 3))
    page.set_viewport_size({"width": wide, "height": 900})
    page.set_content(vl_convert.vegalite_to_html(spec, bundle=True, renderer="svg"))
    page.add_style_tag(content="body { margin: 0 30px }")
    expect(page.locator("svg.marks text", has_text="Through which heads")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= wide
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('svg.marks text')].filter(text => text.textContent.trim()).flatMap(text => {
            const lines = [...text.querySelectorAll('tspan')]
            return (lines.length ? lines : [text]).map(line => {
                const box = line.getBoundingClientRect(), svg = text.closest('svg').getBoundingClientRect()
                return [line.textContent, box.left - svg.left, box.right - svg.left, box.top, box.bottom, svg.width,
                        parseFloat(getComputedStyle(text).fontSize)]
            })})"""
    )
    assert len(boxes) > 100
    assert all(left >= -1 and right <= width + 1 and size >= 10 for _, left, right, *_, width, size in boxes)
    over = [
        (one[0], other[0])
        for at, one in enumerate(boxes)
        for other in boxes[:at]
        if min(one[2], other[2]) - max(one[1], other[1]) > 1 and min(one[4], other[4]) - max(one[3], other[3]) > 4
    ]
    assert not over
