"""Test the positions of labelled words' vectors between the means of their senses."""

import pytest
import torch
from torch.nn.functional import normalize

from selfattn.analysis.hiding import hidden_pair
from selfattn.analysis.sense_means import sense_means
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.stored_reports import stored

LABELLED = labelled_sentences()


def unit(encoder, sentence, word):
    encoding = encoder.encode(sentence)
    (placed,) = encoding.places(word)
    return normalize(encoding.vector(encoder.n_layers, placed.positions).double(), dim=0)


def test_place_between_sense_means_matches_plain_loop(encoder):
    rows = LABELLED[LABELLED["word"] == "bank"]
    means = sense_means(encoder, rows, "bank")
    units = {row.sentence: (row.sense, unit(encoder, row.sentence, "bank")) for row in rows.itertuples()}
    assert {row.sentence for row in means.rows.values()} == {*units}
    for row in means.rows.values():
        sense, vector = units[row.sentence]
        left = [u for text, (label, u) in units.items() if label == sense and text != row.sentence]
        others = [u for label, u in units.values() if label != sense]
        start, end = torch.stack(left).mean(dim=0), torch.stack(others).mean(dim=0)
        assert row.sense == sense
        assert row.place == pytest.approx(
            float((vector - start) @ (end - start) / (end - start).square().sum()), abs=1e-6
        )
        assert means.way(encoder.tokenize(row.sentence), vector).place == pytest.approx(row.place, abs=1e-6)


def test_word_nearer_to_own_sense_has_place_below_half(encoder):
    means = sense_means(encoder, LABELLED, "wave")
    ways = [
        means.way(encoder.tokenize(row.sentence), unit(encoder, row.sentence, "wave")) for row in means.rows.values()
    ]
    # place: 0 at the mean of the own sense, 1 at the mean of the others
    assert [way.nearest == way.sense for way in ways] == [way.place < 0.5 for way in ways]
    assert {way.nearest == way.sense for way in ways} == {True, False}


def test_way_method_returns_third_sense_of_labelled_row(encoder):
    rows = LABELLED[LABELLED["word"] == "bank"].copy()
    money = rows.index[rows["sense"] == "finance"]
    rows.loc[money[:6], "sense"] = "a third"
    means = sense_means(encoder, rows, "bank")
    row = next(row for row in means.rows.values() if row.sense == "a third")
    found = means.way(encoder.tokenize(row.sentence), unit(encoder, row.sentence, "bank"))
    assert found.place == pytest.approx(row.place, abs=1e-6)
    assert found.sense == "a third"


def test_labelled_sentences_are_nearest_to_own_sense(encoder):
    """The dashboard's main view shows the labelled sentences of these three words as dots."""
    report = stored("sense_means", encoder, LABELLED).report
    for word in ("bank", "light", "trunk"):
        sides = [row.place < 0.5 for row in report.of(word, encoder, LABELLED).rows.values()]
        assert (sum(sides), len(sides)) == (24, 24), word


def test_stored_position_between_senses_equals_computed_position(encoder):
    report = stored("sense_means", encoder, LABELLED).report
    kept, now = report.of("bark", encoder, LABELLED), sense_means(encoder, LABELLED, "bark")
    assert kept.rows.keys() == now.rows.keys()
    for ids, row in now.rows.items():
        assert kept.rows[ids][:2] == row[:2] and kept.rows[ids].place == pytest.approx(row.place, abs=1e-4)


def test_position_plus_effect_is_position_after_hiding(encoder):
    means = sense_means(encoder, LABELLED, "bank")
    pair = hidden_pair(encoder, *((text, "bank") for text in PAIRS[0].sentences[:2]), senses=means)
    for side in (0, 1):
        placed, way = pair.placed[side], pair.ways[side]
        at = means.senses.index(pair.senses[side])
        vectors = encoder.hide(*placed, [pair.words[side][pair.top[side]].positions])
        moved = (normalize(vectors[0].double(), dim=0) - means.means[at]) @ way / way.square().sum()
        assert pair.places[side] + float(pair.share[side][pair.top[side]]) == pytest.approx(float(moved), abs=1e-6)
    assert pair.nearest == pair.senses


def test_position_between_senses_is_nan_without_labels(encoder):
    pair = hidden_pair(encoder, *((text, "bank") for text in PAIRS[0].sentences[:2]))
    assert pair.nearest is None and all(place != place for place in pair.places)
