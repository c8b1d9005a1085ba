"""Test the panel of the main view."""

import json
import math
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pytest
import torch
from fastjsonschema import JsonSchemaValueException

from selfattn import Head, load_encoder, numbers
from selfattn.analysis.hiding import heads_of_word
from selfattn.analysis.sense_means import LabelledRow, sense_means
from selfattn.analysis.word_map import attended
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.panel import Live, Look
from selfattn.senses.noise import NoiseLevel
from selfattn.stored_reports import stored
from selfattn.views.finding import _lost, _then, alt, below, finding, leading_words, method, named_words, why_no_heads
from selfattn.views.main_view import _most_to_another, _places, chosen, main_view, measured, put_together
from selfattn.views.way_data import Line, _close, chance, line_of, whole_numbers
from tests.small_hidden_pair import hidden_pair_of

LABELLED = labelled_sentences()
EXAMPLES = {example.word: example for example in PAIRS}
RIVER = 'Hide "river", and "bank" moves toward finance, 44 % of the distance between the senses.'
FAR = "toward finance, 44 % of the distance between the senses."
UNKNOWN_NOISE = f'Hiding "river" moves "bank" more than any other word does: {FAR}'
OTHER = {"jam": ("The printer had a paper jam again.", "They ate toast with jam.")}


@pytest.fixture(scope="module")
def reports(encoder):
    return {name: stored(name, encoder, LABELLED).report for name in ("hidden_words", "head_profiles")}


@pytest.fixture(scope="module")
def made(encoder, reports):
    @cache
    def of(word, *texts, senses=True, known=True):
        texts = texts or OTHER.get(word) or EXAMPLES[word].sentences[:2]
        sides = [encoder.encode(text).places(word)[0] for text in texts]
        means = sense_means(encoder, LABELLED, word) if senses else None
        pair = measured(encoder, *sides, senses=means)
        heads = [heads_of_word(encoder, pair, *at, exact=True) for at in leading_words(pair)]
        more = {"over_many": reports["hidden_words"], "profiles": reports["head_profiles"]} if known else {}
        return pair, put_together(encoder, pair, heads, means=means, **more)

    return of


def plain(text):
    return text.replace("\u00a0", " ")


def ints(text):
    return [int(part) if part else None for part in text.split(",")]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("bank", RIVER),
        ("star", 'No single word moves "star" far toward its other sense: 14 % at most, which could be chance.'),
        ("wave", "The encoder takes both for sea swell: it does not tell these two apart."),
    ],
)
def test_finding_names_most_telling_word_or_says_why_not(made, word, expected):
    assert plain(made(word)[1].finding) == expected


def test_sentences_are_compared_if_sense_is_unknown(made):
    pair, panel = made("jam")
    assert (
        pair.senses is None and plain(panel.finding).startswith("Hide ") and panel.finding.endswith("of the distance.")
    )
    assert panel.live.data["below"][0].startswith('A fits no labelled sense of "jam"')
    assert panel.live.data["way"]["between"] == "sentences" and panel.live.data["way"]["level"] is None


def test_comparison_without_senses_is_explained(made):
    _, panel = made("bank", senses=False)
    assert plain(panel.finding) == (
        'Hide "river", and "bank" moves toward the other sentence\'s "bank", 35 % of the distance.'
    )
    data = panel.live.data
    assert data["way"]["at"] == [0.0, 1.0] and data["way"]["toward"] == [1, -1] and data["way"]["dots"] == [[], []]
    assert plain(data["beyond"]["text"]) == (
        "The result above compares these two sentences, not two senses. In such comparisons, this page names a word in 34 of 100 "
        "pairs with the same sense, and in 33 of 100 pairs with different senses."
    )
    assert all("chance" not in word for side in data["sides"] for word in side["words"])


def test_named_word_has_clearly_largest_share(made):
    """Hiding the word moves the vector at least 0.1 of the way, and at least 1.5 times as far as hiding any other word."""
    pair, _ = made("bank", senses=False)
    first, second = sorted(pair.share[0].tolist(), reverse=True)[:2]
    assert named_words(pair, math.nan)[0] == [pair.top[0]] and first >= 1.5 * second
    for change, named in (
        (pair.share[0] * 0.1 / first, [pair.top[0]]),
        (pair.share[0] * 0.0999 / first, []),
        (torch.where(pair.share[0] == second, first / 1.49, pair.share[0]), []),
    ):
        changed = replace(pair, share=(change, pair.share[1] * 0))
        assert named_words(changed, math.nan) == (named, [])
    assert finding(changed, named_words(changed, math.nan), math.nan) == (
        'No single word moves "bank" much more than the others do.'
    )


def test_panel_without_noise_level_warns_of_chance(made):
    _, panel = made("bank", known=False)
    data = panel.live.data
    assert plain(panel.finding) == UNKNOWN_NOISE
    assert data["below"][-1] == "This could be chance: the noise level of this encoder is not measured yet."
    assert [side["named"] for side in data["sides"]] == [[], []] and data["sides"][0]["leader"] is not None
    assert data["beyond"]["link"] == {"text": "Measure them", "href": "senses"} and data["heads"]["habits"] == {}


def test_missing_noise_level_is_explained(encoder, made, reports):
    pair, _ = made("bank")
    means, report = sense_means(encoder, LABELLED, "bank"), reports["hidden_words"]
    few = replace(report, words=report.words[report.words["word"] == "bank"])
    panel = put_together(encoder, pair, [], means=means, over_many=few)
    assert panel.live.data["below"][-1] == (
        "This could be chance: a noise level needs 300 labelled sentences; there are 24."
    )
    none = replace(report)
    none.__dict__["level"] = NoiseLevel(math.nan, math.nan, math.nan)
    panel = put_together(encoder, pair, [], means=means, over_many=none)
    assert panel.live.data["below"][-1].endswith("moves of any length too often go away from the other sense.")


def test_finding_explains_missing_answer(encoder, encoder_of):
    def panel_of(text, other, reader=encoder):
        sides = [reader.encode(each).places("bank")[0] for each in (text, other)]
        return next(main_view(reader, *sides))

    assert panel_of("A bank.", "A bank.").finding == ("A and B are the same sentence: change one of them.")
    alone = panel_of("Bank.", "Bank!")
    assert alone.finding == 'There is no other word to hide from "Bank": write a longer sentence.'
    shown = panel_of("The bank of the river.", "The bank lends.", encoder_of("XLNet"))
    assert shown.finding == (
        'No word can be hidden from "bank" in this encoder: choose another encoder to see where its meaning comes from.'
    )
    data = shown.live.data
    assert data["way"] is None and data["heads"]["reason"] and data["beyond"] == {"text": ""}
    reason = encoder_of("XLNet").hide_reason.rstrip(".")
    assert (
        data["below"][1]
        == f"No word can be hidden in this encoder: {reason}. The page still shows what its heads attend to."
    )
    assert data["heads"]["reason"] == "no word can be hidden in this encoder."


def test_main_view_yields_estimates_then_exact_effects(encoder, reports):
    sides = [encoder.encode(text).places("bank")[0] for text in EXAMPLES["bank"].sentences[:2]]
    first, second = main_view(encoder, *sides, senses=LABELLED, over_many=reports["hidden_words"])
    assert first.name == second.name == "words" and first.finding == second.finding
    assert [side["exact"] for side in first.live.data["sides"]] == [{}, {}]
    assert [[*side["exact"]] for side in second.live.data["sides"]] == [["6"], ["6"]]
    assert (
        first.live.data["chosen"] == second.live.data["chosen"] == {"hidden": [None, None], "head": 10, "open": False}
    )
    assert first.live.data["key"] == second.live.data["key"]


@pytest.mark.parametrize("word", ["bank", "wave", "jam"])
def test_figure_data_equal_measured_numbers(encoder, made, word):
    pair, panel = made(word)
    sides = panel.live.data["sides"]
    for side, own in enumerate(sides):
        known = {each["at"]: each["share"] for each in own["words"] if each["at"] is not None}
        assert len(known) == len(pair.share[side])
        for at, share in known.items():
            assert numbers.percent(share) == numbers.percent(float(pair.share[side][at]))
        for text, expected in zip(own["gradient"], pair.by_head[side].flatten(1), strict=True):
            for part, value in zip(ints(text), expected.tolist(), strict=True):
                assert numbers.percent(part / 10_000) == numbers.percent(value)
        bars = attended(pair.placed[side])
        assert [token["text"] for token in own["tokens"]] == list(bars.labels)
        for text, expected in zip(own["weights"], bars.weights.flatten(0, 1), strict=True):
            for part, value in zip(ints(text), expected.tolist(), strict=True):
                assert numbers.decimal(part / 1000) == numbers.decimal(value)
        top = pair.top[side]
        heads = heads_of_word(encoder, pair, side, top, exact=True)
        for part, value in zip(ints(own["exact"][str(top)]), heads.share.flatten().tolist(), strict=True):
            assert numbers.percent(part / 10_000) == numbers.percent(value)


def test_figure_has_one_dot_per_labelled_sentence(encoder, made):
    pair, panel = made("bank")
    way = panel.live.data["way"]
    assert [(end["label"], end["count"]) for end in way["ends"]] == [("riverside", 12), ("finance", 12)]
    assert way["at"] == [round(pair.places[0], 4), round(1 - pair.places[1], 4)] and way["toward"] == [1, -1]
    rows = sense_means(encoder, LABELLED, "bank").rows.values()
    river = {row.sentence: round(row.place, 4) for row in rows if row.sense == "riverside"}
    money = {row.sentence: round(1 - row.place, 4) for row in rows if row.sense == "finance"}
    assert [{dot["text"]: dot["x"] for dot in dots} for dots in way["dots"]] == [river, money]
    assert way["level"] == 0.21
    places = panel.tables["places"].set_index("what")["place"]
    assert places['A without "river"'] == pytest.approx(places["A"] + float(pair.share[0][pair.top[0]]))
    assert places['B without "loan"'] == pytest.approx(places["B"] - float(pair.share[1][pair.top[1]]))


def test_sentences_lie_nearer_to_own_sense_on_average(encoder):
    """`row.place` is 0 at the mean vector of the sentence's own sense, and 1 at that of the other senses.

    Both means leave the sentence out.
    """
    for word in LABELLED["word"].unique():
        rows = [*stored("sense_means", encoder, LABELLED).report.of(word, encoder, LABELLED).rows.values()]
        for sense in {row.sense for row in rows}:
            places = [row.place for row in rows if row.sense == sense]
            assert 0 < sum(places) / len(places) < 0.5, (word, sense)


def test_finding_names_nearest_sense_instead_of_labelled_sense(encoder, made):
    rows = sense_means(encoder, LABELLED, "wave").rows.values()
    strayed = next(row for row in rows if row.sense == "hand greeting" and row.place > 0.5)
    pair, panel = made("wave", EXAMPLES["wave"].first, strayed.sentence)
    assert pair.senses == ("sea swell", "hand greeting") and pair.nearest == ("sea swell", "sea swell")
    assert panel.finding == "The encoder takes both for sea swell: it does not tell these two apart."
    assert panel.live.data["way"]["toward"] == [1, -1] and max(panel.live.data["way"]["at"]) < 0.5
    assert not any("several words" in line for line in panel.live.data["below"])


def test_hiding_in_one_head_needs_mask_per_head(encoder, made):
    pair, panel = made("bank", senses=False)
    together = replace(encoder, one_head_reason="All heads have one mask.")
    data = put_together(together, pair, None).live.data
    assert (panel.live.data["heads"]["runnable"], data["heads"]["runnable"]) == (True, False)
    assert data["chosen"]["head"] is None and not any(side["weights"] for side in data["sides"])


def test_labelled_sentence_has_no_dot_if_it_is_sentence_a(made):
    first = LABELLED[LABELLED["word"] == "bank"]["sentence"].iloc[0]
    _, panel = made("bank", first, EXAMPLES["bank"].second)
    counts = [end["count"] for end in panel.live.data["way"]["ends"]]
    assert sorted(counts) == [11, 12]
    assert first not in [dot["text"] for dots in panel.live.data["way"]["dots"] for dot in dots]


def test_only_positive_shares_have_text_about_chance(made, reports):
    pair, panel = made("bank")
    river = next(word for word in panel.live.data["sides"][0]["words"] if word["text"] == "river")
    often = reports["hidden_words"].chance_of(float(pair.share[0][pair.top[0]]))
    assert river["chance"] == (
        f"in the labelled sentences, 1 in {round(1 / often)} moves of about this length goes away from the other sense"
    )
    negative = [word for side in panel.live.data["sides"] for word in side["words"] if (word["share"] or 0) < 0]
    assert negative and all("chance" not in word for word in negative)


def test_panel_shows_accuracies_from_hidden_words_report(made, reports):
    _, panel = made("bank")
    assert panel.live.data["below"] == ["Even then it stays nearer to riverside."]
    beyond, own = panel.live.data["beyond"], reports["hidden_words"].of()["accuracy"]
    assert beyond["text"] == (
        "Over many sentences, hiding the most influential word costs 15 of 100 the right sense; hiding a random word costs none."
    )
    rates = [
        ("hiding nothing", "as it is", 0.92), ("hiding a random word", "any other hidden", 0.92),
        ("hiding the most influential word", "the word hidden", 0.77),
    ]  # fmt: skip
    assert [(bar["label"], bar["value"]) for bar in beyond["bars"]] == [
        (one, round(own[what], 4)) for one, what, _ in rates
    ]
    assert [bar["value"] for bar in beyond["bars"]] == pytest.approx([rate for *_, rate in rates], abs=0.005)
    assert beyond["tick"] == {"label": "by guessing", "value": 0.5}
    assert beyond["link"] == {"text": "All 768 sentences with 32 ambiguous words", "href": "senses"}
    click = (
        "Click a word to hide it: \"{0}\" then can't attend to it in any head of all-MiniLM-L6-v2. A ribbon's width isn't "
        'attention: it shows how far "{0}" moves without that word.'
    )
    assert panel.live.data["hint"] == click.format("bank")
    star = made("star")[1].live.data
    assert star["below"] == ["Its meaning may come from several words together."]
    assert star["hint"] == click.format("star") and star["beyond"] == beyond


def test_finding_says_if_hidden_word_changes_nearest_sense():
    pair = hidden_pair_of(senses=("money", "water"), nearest=("money", "water"), places=(0.01, 0.0))
    crossed = 'Hide "river", and "bank" ends nearer to water than to money.'
    moved = 'Hide "river", and "bank" moves toward water, 50 % of the distance between the senses.'
    for place, said, then in (
        (0.01, crossed, "It moves 50 % of the distance between the senses."),
        (0.0, moved, "Even then it stays nearer to money."),
        (0.51, moved, "It ends nearer to water."),  # nearer to water from the start
    ):
        placed = replace(pair, places=(place, 0.0))
        assert plain(finding(placed, ([3], []), 0.2)) == said
        lines = below(SimpleNamespace(title="us/mine"), placed, ([3], []), 0.2, SimpleNamespace(sentences=300))
        assert [*map(plain, lines)] == [then]
    assert "ends nearer" not in finding(pair, ([3], []), math.nan)


def test_zero_or_negative_count_is_written_as_none():
    assert [_lost(count) for count in (15, 0, -2)] == ["15 of 100", "none", "none"]


def test_finding_depends_on_noise_level_and_senses():
    pair = hidden_pair_of(senses=("money", "water"), nearest=("money", "water"), places=(0.0, 0.01))
    assert leading_words(pair) == [(0, 3), (1, 0)]
    gap = 'Hide "river", and "bank" moves toward water, 50 % of the distance between the senses.'
    none = 'No single word moves "bank" far toward its other sense: 50 % at most, which could be chance.'
    for level, named, said in ((0.2, ([1, 3], [0]), gap), (0.5, ([3], []), gap), (0.6, ([], []), none)):
        assert (named_words(pair, level), plain(finding(pair, named, level))) == (named, said)
    away = replace(pair, share=(torch.tensor([-0.5, 0.0, 0.0, 0.08, -0.4]), torch.tensor([-0.2] * 3)), top=(3, None))
    said = 'No single word moves "bank" far toward its other sense: 8 % at most, which could be chance.'
    assert plain(finding(away, ([], []), 0.2)) == said  # the moves away don't count
    (only,) = {finding(replace(away, top=tops), ([], []), 0.2) for tops in ((0, None), (None, 0))}
    assert only == 'No single word moves "bank" toward its other sense.'
    back = replace(pair, share=(pair.share[0] * 0, pair.share[1]))
    assert (
        plain(finding(back, ([], [0]), 0.2))
        == 'Hide "A", and "bank" moves toward money, 25 % of the distance between the senses.'
    )
    alike = replace(pair, senses=("money", "money"))
    assert (
        plain(finding(alike, ([3], []), 0.21))
        == 'Hide "river", and "bank" moves toward its other senses, 50 % of the distance.'
    )
    for at, place, said in (
        (3, 0.0, "Even then it stays nearer to money."), (3, 0.01, "It ends nearer to water."),
        (4, -0.1, "Even then it stays nearer to money, since it starts far on that side."),
    ):  # fmt: skip
        share = torch.tensor([0.1, 0.2, 0.0, 0.5, 0.52]), pair.share[1]
        assert _then(replace(pair, places=(place, 0.01), share=share), 0, at, math.nan) == said
    assert _then(replace(alike, places=(0.3, 0.3)), 0, 3, 0.2) == "It ends nearer to other senses."
    faint = torch.tensor([0.0, 0.0, 0.0, 0.0052, 0.9]), torch.tensor([math.nan] * 3)
    (at,) = leading_words(visible := replace(pair, share=faint, top=(3, None)))
    assert at == (0, 3)
    said = 'Hiding "river" moves "bank" more than any other word does: toward water, 1 % of the distance between the senses.'
    assert plain(finding(visible, ([], []), math.nan)) == said
    fainter = replace(visible, share=(faint[0] / 2, faint[1]))
    assert finding(fainter, ([], []), math.nan) == 'No single word moves "bank" toward its other sense.'
    assert named_words(replace(pair, senses=None), math.nan) == ([3], [0])
    assert why_no_heads(SimpleNamespace(hide_reason=""), pair) == "no word was hidden."
    told = replace(pair, notes=("Heads have no shares: they are too many.",))
    assert why_no_heads(SimpleNamespace(hide_reason=""), told) == "they are too many."
    few, many = (SimpleNamespace(sentences=n) for n in (299, 300))
    lines = [below(SimpleNamespace(title="us/mine"), pair, ([3], []), math.nan, each)[-1] for each in (few, many, None)]
    assert lines == [
        "This could be chance: a noise level needs 300 labelled sentences; there are 299.",
        "This could be chance: in labelled sentences, moves of any length too often go away from the other sense.",
        "This could be chance: the noise level of this encoder is not measured yet.",
    ]


def test_words_with_almost_largest_effect_are_found():
    """An effect is almost the largest if 1.5 times the effect exceeds the largest."""
    words, shares = hidden_pair_of().words[0], torch.tensor([0.08, 0.06, -0.9, 0.1, 0.09])
    assert (_close(words, shares, 3), _close(words, shares * 0.999, 3), _close(words, shares, None)) == ([0], [], [])
    assert _close(words, torch.tensor([0.125, 0.126, 0.0, 0.1875, 0.0]), 3) == [1]  # 1.5 times 0.125 is 0.1875
    said = [
        chance(SimpleNamespace(chance_of=lambda share, often=often: often), 0.2) for often in (0.3, 0.9, 0.0, math.nan)
    ]
    counts = [
        f"in the labelled sentences, 1 in {n} moves of about this length goes away from the other sense" for n in (3, 2)
    ]
    assert said == [
        *counts,
        "in the labelled sentences, no move of about this length goes away from the other sense",
        "",
    ]
    assert chance(SimpleNamespace(chance_of=lambda share: 0.3), 0.0) == ""


def test_alt_text_states_moves_along_line():
    pair, line = hidden_pair_of(), Line("senses", ("money", "water"), ((), ()), (0.0, 1.0), (1, -1), "")
    share = torch.tensor([[math.nan, 0.1], [0.2, -0.5]])
    heads = [SimpleNamespace(share=share, word=pair.words[0][3], exact=exact) for exact in (True, False)]
    assert plain(alt(pair, line, heads[:1])) == (
        'A: the bank of the river . B: A huge bank . In A, hiding "river" moves "bank" by 50 % of the line, from 0 % to '
        '50 % of the line. In B, hiding "A" moves "bank" by 25 % of the line, from 100 % to 75 % of the line. The line '
        'runs from money (0 %) to water (100 %). Hiding "river" only in head 0 of layer 1 moves "bank" by 20 % of the line.'
    )
    assert alt(pair, line, heads[1:]).endswith("water (100\u00a0%)."), "a share by gradient isn't given"
    assert _places(pair, line)["place"].tolist() == [0, 0.5, 1, 0.75]


@pytest.mark.parametrize(
    ("senses", "known", "end", "near", "far", "toward", "at"),
    [
        (("money", "water"), "money water", "water", [0.1], [0.7], -1, 0.6),
        (("money", "water"), "money water boat", "water", [0.1], [0.7], -1, 0.6),
        (("money", "money"), "money water", "water", [0.1], [0.7], 1, 0.4),
        (("money", "money"), "money water boat", "its other senses", [0.1], [0.7, 0.5], 1, 0.4),
    ],
)
def test_line_runs_from_own_sense_to_another_sense(senses, known, end, near, far, toward, at):
    known, pair = known.split(), hidden_pair_of(senses=senses, places=(0.2, 0.4))
    placed = [
        PlacedWord(SimpleNamespace(**vars(each.sentence), ids=(n,)), each.positions)
        for n, each in enumerate(pair.placed)
    ]
    rows = [LabelledRow("money", "A", 0.0), LabelledRow("money", "s1", 0.1), LabelledRow("water", "s2", 0.3)]
    rows += [LabelledRow("boat", "s3", 0.5)] if "boat" in known else []
    means = SimpleNamespace(senses=known, counts=[3] * len(known), rows=dict(zip([(0,), (2,), (3,), (4,)], rows)))
    line = line_of(replace(pair, placed=tuple(placed)), means)
    assert (line.labels, line.toward, line.at) == (("money", end), (1, toward), (0.2, at))
    assert [[row.place for row in dots] for dots in line.dots] == [near, far]
    assert (" labelled senses. In a sentence" in line.about) == ("boat" in known)
    encoder = SimpleNamespace(hide_reason="", one_head_reason="")
    assert ("more than two senses" in method(encoder, pair, means, None)) == ("boat" in known)


def test_head_that_attends_most_to_another_word_is_found():
    """Each head's largest weight on another word in A and its largest weight on another word in B are added."""
    weights = torch.tensor([[[0.9, 0.1, 0.0], [0.1, 0.5, 0.4]], [[0.0, 0.6, 0.1], [0.1, 0.45, 0.45]]])
    other = torch.tensor([[[1.0, 0.0, 0.0], [0.1, 0.9, 0.0]], [[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]]])
    a, b = (SimpleNamespace(weights=own, others=[None, 0, 1]) for own in (weights, other))
    alone = SimpleNamespace(weights=weights, others=[None, None, None])
    assert (_most_to_another([a, alone]), _most_to_another([a, b])) == (Head(1, 0), Head(0, 1))


def test_only_heads_that_fit_a_pattern_are_described(made, reports):
    habits, table = made("bank")[1].live.data["heads"]["habits"], reports["head_profiles"].patterns
    row = table[(table["layer"] == 0) & (table["head"] == 2)].iloc[0]
    assert row["previous token"] >= 0.5 and habits["2"] == "mostly reads the previous token, whatever it is"
    assert "10" not in habits or table.iloc[10, 2:].max() >= 0.5
    assert all(row.iloc[2:].max() >= 0.5 for at, row in table.iterrows() if str(at) in habits)


def test_figure_data_hide_answer_before_guess(encoder, made):
    pair, _ = made("bank")
    heads = [heads_of_word(encoder, pair, *at, exact=False) for at in leading_words(pair)]
    panel = put_together(encoder, pair, heads, means=sense_means(encoder, LABELLED, "bank"), guess=True)
    data = panel.live.data
    assert (
        data["finding"] == 'Which word, if hidden, would change "bank" most? Click one.'
        and data["guess"]
        and data["way"] is None
    )
    assert {word["share"] for side in data["sides"] for word in side["words"]} == {None}
    assert data["chosen"] == {"hidden": [None, None], "head": 0, "open": False}
    assert all(not side[rows] for side in data["sides"] for rows in ("weights", "gradient", "exact", "named"))
    assert plain(panel.finding) == UNKNOWN_NOISE


def test_figure_data_contain_visitors_choices(encoder, made):
    pair, panel = made("bank")
    asked = chosen(panel, (6, None), head=43, guessed=(1, 2))
    assert asked.live.data == panel.live.data | {
        "chosen": {"hidden": [6, None], "head": 43, "open": True},
        "guessed": [1, 2],
    }
    assert asked.picture(Look()) != panel.picture(Look()) == chosen(panel).picture(Look())
    with pytest.raises(JsonSchemaValueException):
        chosen(panel, (6,))
    guess = put_together(encoder, pair, [], means=sense_means(encoder, LABELLED, "bank"), guess=True)
    assert chosen(guess, (6, None), head=43) is guess


def test_schema_refuses_wrong_data(made):
    data = json.loads(json.dumps(made("bank")[1].live.data))
    Live("way", data)
    for broken in (
        {"version": 1},
        {"sides": data["sides"][:1]},
        {"more": 1},
        {"way": {**data["way"], "between": "ends"}},
    ):
        with pytest.raises(JsonSchemaValueException):
            Live("way", {**data, **broken})
    side = {**data["sides"][0], "weights": ["1,0.5"]}
    with pytest.raises(JsonSchemaValueException):
        Live("way", {**data, "sides": [side, data["sides"][1]]})


def test_json_size_of_main_view_is_limited(made):
    assert len(json.dumps(made("bank")[1].live.data)) < 40_000


@pytest.mark.parametrize("word", ["bank", "star", "wave", "jam"])
def test_panel_has_tables_and_arrays(made, word):
    pair, panel = made(word)
    assert [*panel.tables] == ["words", "heads", "curves", "places"]
    assert len(panel.tables["heads"]) == 72 * sum(map(len, pair.words))
    assert panel.arrays["by_head_a"].shape == (len(pair.words[0]), 6, 12)
    assert pair.placed[0].sentence.text in panel.alt
    assert ("Noise level 21\u00a0%" in panel.method) == (pair.senses is not None)


def test_rounded_integers_print_same_percentages_as_exact_numbers():
    values = torch.tensor([[0.125, 0.12499, -0.125, 0.00499, math.nan, 0.44995]])
    (text,) = whole_numbers(values, 10_000)
    for part, value in zip(ints(text), values[0].tolist()):
        assert part is None if value != value else numbers.percent(part / 10_000) == numbers.percent(value)
    assert whole_numbers(torch.full((1, 3), math.nan), 1000) == [""]


@pytest.mark.slow
@pytest.mark.parametrize("words", [32, 61])
def test_json_size_is_limited_for_large_encoder(tmp_path, words):
    family = FAMILIES["BERT"]
    shape = {"num_hidden_layers": 24, "num_attention_heads": 16, "hidden_size": 64}
    large = replace(family, settings={**family.settings, **shape})
    encoder = load_encoder(str(save_tiny(large, tmp_path / "large")))
    filler = ["the", "river", "of", "a", "loan"]
    sides = []
    for shift in (0, 1):
        text = " ".join(["bank", *(filler[(at + shift) % 5] for at in range(words))])
        sides.append(encoder.encode(text).places("bank")[0])
    assert [len(side.others) for side in sides] == [words, words]
    *_, panel = main_view(encoder, *sides)
    data = panel.live.data
    assert (data["heads"]["layers"], data["heads"]["heads"]) == (24, 16)
    assert len(data["sides"][0]["tokens"]) == (words if words == 32 else 8) + 3
    assert len(json.dumps(data)) < 500_000
