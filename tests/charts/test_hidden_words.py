"""Each other word hidden from a word: its own share in shade and number, the curves, and the heads of the clicked one."""

import math
from types import SimpleNamespace

import pytest
import torch

from selfattn.charts.hidden_words import hidden_words
from selfattn.charts.theme import LIGHT, THEMES
from selfattn.encoders.placed_word import PlacedWord
from selfattn.tidy_tables import hidden_curves_frame, hidden_heads_frame, hidden_words_frame
from selfattn.words import Word
from tests.charts.scene import drawn, on_ramp, same_color, texts
from tests.small_hidden_pair import BY_HEAD, EXACT, PLACED, SHARES, hidden_pair_of

NUMBERS = ["10 %", "20 %", "−3 %", "50 %", "25 %"]  # none of the word itself, of punctuation, of what wasn't run


def figure(theme=LIGHT, exact=EXACT, title=("Hide a word?",), **other):
    pair = hidden_pair_of(**other)
    frames = hidden_words_frame(pair), hidden_heads_frame(pair, exact), hidden_curves_frame(pair)
    return hidden_words(*frames, theme, title=title, word="bank")


def clicked(spec, sentence, place):
    """The figure after a click on this word."""
    (pick,) = spec["params"]
    said = {(each["sentence"], each["place"]): each["heads"] for each in spec["datasets"]["heads"]}
    value = {"sentence": sentence, "place": place, "heads": said[sentence, place]}
    return {**spec, "params": [{**pick, "value": [value]}]}


def chips(spec):
    """The words' chips, without those that only take clicks or mark the clicked one."""
    return [item for item in drawn(spec, "rect") if item.get("cornerRadius") == 5 and "fillOpacity" not in item]


def words_of(spec):
    """The words' records."""
    return spec["hconcat"][0]["vconcat"][0]["layer"][0]["data"]["values"]


def heads(spec):
    """The colours of the heads' cells, layer by layer."""
    return [item["fill"] for item in drawn(spec, "rect") if item.get("description", "").startswith("L")]


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_every_word_has_its_own_share_in_shade_and_number_on_a_scale_that_no_pair_changes(theme):
    spec = figure(theme)
    items = [item for item in drawn(spec, "text") if item["fontSize"] in (10, 14)]
    assert [item["text"] for item in items if item["fontSize"] == 14] == [
        *("the", "bank", "of", "the", "river", ".", "A", "huge", "bank", "."),
    ]
    assert [item["text"] for item in items if item["fontSize"] == 10 and item["text"]] == NUMBERS
    shown = [0.1, 0, 0.2, 0, 0.4, 0.25, 0, 0]  # negative or unknown: no shade; over 40 %: the deepest
    fills = [chip["fill"] for chip in chips(spec)]
    assert all(map(same_color, fills, (on_ramp(theme.effect[2:], share / 0.4) for share in shown)))
    assert len(fills) == len(shown)  # no chip for a full stop
    middles = {item["text"]: item["x"] for item in items if item["fontSize"] == 10}
    by_word = {item["text"]: item["x"] for item in items if item["fontSize"] == 14}
    assert middles["50 %"] == by_word["river"] and middles["25 %"] == by_word["A"]
    ink = {item["text"]: item["fill"] for item in items if item["fontSize"] == 14}
    assert (ink["river"], ink["huge"], ink["."]) == (theme.background, theme.ink, theme.muted)
    assert ink["A"] == (theme.ink if theme is LIGHT else theme.background)  # whichever is read better on its shade
    assert "40 % or more" in texts(spec, "legend-label")


def test_the_word_itself_is_marked_in_both_sentences():
    marked = [number for number, chip in enumerate(chips(figure())) if chip["stroke"] == LIGHT.ink]
    assert marked == [1, 7]


@pytest.mark.slow
def test_titles_and_notes_are_wrapped_to_the_words_width():
    long = "Too far to stand on one line, this note is longer than the words above which it stands. " * 2
    question, unit = "Hide a word: how far does it move, in % of the way to its other sense?", f"{'x' * 81} 84 % of it."
    spec = figure(title=[question, unit, long])
    (title, *_), (said,) = texts(spec, "title-text"), texts(spec, "title-subtitle")
    assert " ".join(title) == question and len(title) == 2 and max(map(len, title)) <= 64
    assert said[:2] == ["x" * 81, "84 % of it."]  # a number stays with its unit
    assert " ".join(said[2:-1]) == long.strip() and max(map(len, said)) <= 84
    assert said[-1] == "Click a word for its heads."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "place", "title"),
    [
        ("A", 5, 'Through which heads "bank" reads "river": exact'),
        ("A", 4, 'Through which heads "bank" reads "the": by gradient'),  # the second of two
        ("B", 1, 'Through which heads "bank" reads "A": by gradient'),  # leads, but has no exact ones
    ],
)
def test_a_click_opens_the_words_own_heads_by_its_place(sentence, place, title):
    spec = clicked(figure(), sentence, place)
    number = {("A", 5): 3, ("A", 4): 2, ("B", 1): 0}[sentence, place]  # among the other words
    own = EXACT.get((sentence, place), BY_HEAD["AB".index(sentence)][number]).flatten().tolist()
    ramp = [on_ramp(LIGHT.effect, (share / 1.11 + 1) / 2) for share in own]  # one scale for all words
    assert len(heads(spec)) == 6 and all(map(same_color, heads(spec), ramp))
    assert [title] in texts(spec, "title-text")
    (outline,) = [item for item in drawn(spec, "rect") if item.get("strokeDash") == [4, 2]]
    chip = chips(spec)[place - 1 if sentence == "A" else 5]
    assert (outline["x"], outline["y"]) == (chip["x"], chip["y"])


def test_at_first_the_leading_word_of_a_is_open_and_no_two_at_once():
    (pick,) = figure()["params"]
    own = 'Through which heads "bank" reads "river": exact'
    assert pick["value"] == [{"sentence": "A", "place": 5, "heads": own}] and pick["select"]["toggle"] is False
    for top, first in {(None, 0): ("B", 1), (None, None): ("A", 1)}.items():
        (value,) = figure(top=top)["params"][0]["value"]
        assert (value["sentence"], value["place"]) == first
    unclicked = {**figure(), "params": [{**pick, "value": None}]}
    assert "Click a word." in texts(unclicked, "title-text") and not heads(unclicked)


@pytest.mark.slow
def test_only_words_take_clicks_and_say_so_where_they_have_no_heads():
    spec = figure(by_head=(BY_HEAD[0], BY_HEAD[1] * math.nan))
    targets = [item["x"] for item in drawn(spec, "rect") if item.get("opacity") == 0]
    assert targets == [chip["x"] for chip in chips(spec)]  # no full stop
    said = {(word["sentence"], word["place"]): word["heads"] for word in words_of(spec)}
    assert said["A", 2] == said["B", 3] == "The word itself: click another."
    assert said["B", 1] == said["B", 2] == "Its heads are not known: click another."


@pytest.mark.slow
def test_where_no_heads_are_known_words_and_curves_stand_alone():
    spec = figure(exact=None, by_head=(BY_HEAD[0] * math.nan, BY_HEAD[1] * math.nan), title=["Hide?", "No heads: x."])
    assert not heads(spec) and "params" not in spec and len(chips(spec)) == 8
    assert texts(spec, "title-subtitle") == [["No heads: x."]]
    nothing = figure(share=tuple(torch.full((len(own),), torch.nan) for own in SHARES), top=(None, None))
    assert not [text for text in texts(nothing) if text.endswith("%")]
    bank = PlacedWord(SimpleNamespace(words=(Word("bank", 1, 2),)), (1,))
    alone = {"placed": (bank, bank), "words": ((), ()), "share": (torch.zeros(0),) * 2, "top": (None, None)}
    empty = figure(**alone, exact=None, by_head=(torch.zeros(0, 2, 3),) * 2)
    assert "params" not in empty and not heads(empty) and len(chips(empty)) == 2


@pytest.mark.slow
def test_the_curves_are_named_by_their_last_numbers_over_one_floor():
    curves = hidden_pair_of().curves * 0.3 + 0.65
    spec = figure(curves=curves, cosine=curves[..., -1])
    named = [text for text in texts(spec, "legend-label") if "%" not in text]
    assert named == ["0.66 as they are", '0.87 "river" and "A" hidden']  # once
    points = drawn(spec, "symbol")[:6]
    ticks = {item["text"]: item["y"] for item in drawn(spec, "text", "axis-label")}
    cosines = [0.6 + 0.4 * (ticks["0.60"] - point["y"]) / (ticks["0.60"] - ticks["1.00"]) for point in points]
    assert cosines == pytest.approx([*curves[0, 0].tolist(), *curves[4, 1].tolist()], abs=0.002)
    assert "0.0" in texts(figure(), "axis-label")  # a curve that goes below takes the axis with it


@pytest.mark.slow
def test_words_are_plain_text_whatever_they_are():
    spelled = ["<b>x</b>", "bank", "if", '"quoted"\\', "constructor"]
    words = tuple(Word(text, at + 1, at + 2) for at, text in enumerate(spelled))
    placed = PlacedWord(SimpleNamespace(words=words), words[1].positions)
    own = {
        "words": ((words[0], *words[2:]), hidden_pair_of().words[1]), "share": (torch.arange(4) / 10, torch.zeros(3)),
        "by_head": (torch.zeros(4, 2, 3), BY_HEAD[1]), "top": (2, 0), "placed": (placed, PLACED[1]),
    }  # fmt: skip
    for word in own["words"][0]:
        spec = clicked(figure(exact=None, **own), "A", word.start)
        assert [f'Through which heads "bank" reads "{word.text}": by gradient'] in texts(spec, "title-text")
        assert word.text in texts(spec)
