"""Test `separation` and its statistics."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.senses import nearest_centroid, random_twin, separation
from selfattn.senses.nearest_centroid import (
    beyond_baselines,
    centroid_cosines,
    cosines,
    each_left_out,
    score,
    shuffled_accuracy,
)
from selfattn.senses.resampling import interval, p_values, threshold
from tests.senses.conftest import tiny_table


def unit(vector):
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length if length else 0.0 for x in vector]


def nearest_centroid_scores(vectors, senses):
    """Score each sentence: 1 if its own sense's centroid is nearest, 1 / k if k centroids tie, else 0."""
    vectors = [unit(vector.tolist()) for vector in vectors]
    scores = []
    for i, vector in enumerate(vectors):
        similarity = {}
        for sense in set(senses):
            others = [vectors[j] for j in range(len(vectors)) if j != i and senses[j] == sense]
            centroid = unit([sum(column) / len(others) for column in zip(*others)])
            similarity[sense] = sum(a * b for a, b in zip(vector, centroid))
        best = max(similarity.values())
        winners = [sense for sense in similarity if best - similarity[sense] < 1e-9]
        scores.append((senses[i] in winners) / len(winners))
    return scores


def loop_vectors(encoder, frame):
    kinds = {}
    for row in frame.itertuples():
        encoding = encoder.encode(row.sentence)
        word = encoding.places(row.word)[0]
        positions = list(word.positions)
        for layer in range(encoder.n_layers + 1):
            kinds.setdefault(("layer", layer), []).append(encoding.hidden[layer, positions].mean(0))
        outside = [p for p, special in enumerate(encoding.special) if not special and p not in positions]
        kinds.setdefault(("bag",), []).append(encoding.static[outside].mean(0))
        for layer in range(encoder.n_layers):
            for head in range(encoder.n_heads):
                trace = encoding.trace(layer, head)
                kinds.setdefault(("accuracy", layer, head), []).append(trace.context[positions].mean(0))
                kinds.setdefault(("uniform", layer, head), []).append(trace.value.mean(0))
                kinds.setdefault(("own_value", layer, head), []).append(trace.value[positions].mean(0))
    return kinds


@pytest.fixture(scope="module")
def small(encoder, labelled):
    return labelled, separation(encoder, labelled, shuffles=200)


def beyond_baselines_loop(scores, baselines, senses):
    """Return each sentence's score minus a baseline's score for this sentence.

    Sentences are split into two halves. We subtract the baseline that scores higher in the half without this sentence; in a tie,
    the mean of both baselines.
    """
    seen, halves = {}, []
    for sense in senses:
        seen[sense] = seen.get(sense, 0) + 1
        halves.append(seen[sense] % 2)
    added = []
    for i, half in enumerate(halves):
        right = [sum(kind[j] for j in range(len(senses)) if halves[j] != half) for kind in baselines]
        chosen = [kind for kind, points in zip(baselines, right) if max(right) - points < 1e-9]
        added.append(scores[i] - sum(kind[i] for kind in chosen) / len(chosen))
    return added


@pytest.mark.slow
def test_accuracies_agree_with_plain_loops(encoder, small):
    frame, report = small
    words = {word: loop_vectors(encoder, rows) for word, rows in frame.groupby("word")}

    def scores(*kind):
        return [nearest_centroid_scores(words[word][kind], list(rows["sense"])) for word, rows in frame.groupby("word")]

    def mean(*kind):
        return np.mean([np.mean(of_word) for of_word in scores(*kind)])

    expected = [mean("layer", layer) for layer in range(encoder.n_layers + 1)]
    assert report.layers["accuracy"].tolist() == pytest.approx(expected, abs=1e-12)
    per_word = np.array(
        [[np.mean(of_word) for of_word in scores("layer", layer)] for layer in range(encoder.n_layers + 1)]
    ).T
    np.testing.assert_allclose(report.layers[["low", "high"]].T, interval(per_word))
    assert report.bag[0] == pytest.approx(mean("bag"), abs=1e-12)
    assert report.chance == pytest.approx((1 / 3 + 1 / 2) / 2)
    labels = [list(rows["sense"]) for _, rows in frame.groupby("word")]
    for row in report.heads.itertuples():
        kinds = [scores(kind, row.layer, row.head) for kind in ("accuracy", "uniform", "own_value")]
        expected = [np.mean([np.mean(of_word) for of_word in kind]) for kind in kinds]
        assert [row.accuracy, row.uniform, row.own_value] == pytest.approx(expected, abs=1e-12)
        added = [np.mean(beyond_baselines_loop(of_word, both, of)) for of_word, *both, of in zip(*kinds, labels)]
        low, high = interval(np.array(added)[:, None])
        assert [row.adds, row.adds_low, row.adds_high] == pytest.approx([np.mean(added), low[0], high[0]], abs=1e-9)


def test_scores_minus_better_baseline_match_plain_loop():
    labels = [0, 0, 1, 0, 1, 1, 0, 1, 0]
    generator = np.random.default_rng(2)
    head_scores, *baselines = generator.choice([0.0, 0.5, 1.0], size=(3, 40, 9))
    found = beyond_baselines(torch.from_numpy(head_scores), torch.from_numpy(np.stack(baselines)), torch.tensor(labels))
    for at, (scores, first, second) in enumerate(zip(head_scores, *baselines)):
        assert found[at].tolist() == pytest.approx(beyond_baselines_loop(scores, (first, second), labels), abs=1e-9)


def test_scores_with_sentences_left_out_match_plain_loop():
    generator = torch.Generator().manual_seed(3)
    vectors, senses = torch.randn(9, 4, generator=generator), [0, 1, 0, 1, 1, 0, 1, 0, 1]
    starts = [5, 1, 2, 4, 9, 7, 3, 1, 2]
    places = {sense: sorted((starts[i], i) for i in range(9) if senses[i] == sense) for sense in (0, 1)}
    expected = []
    for i, sense in enumerate(senses):
        place = places[sense].index((starts[i], i))
        partner = places[1 - sense][place * len(places[1 - sense]) // len(places[sense])][1]
        kept = [j for j in range(9) if j != partner]
        expected.append(nearest_centroid_scores(vectors[kept], [senses[j] for j in kept])[kept.index(i)])
    found = each_left_out(cosines(vectors[:, None]), torch.tensor(senses), 2, torch.tensor(starts))
    assert found.tolist() == [expected]
    assert 0 < sum(expected) < 9


def test_accuracy_is_mean_score_of_sentences(small):
    _, report = small
    for row in report.heads.iloc[::7].itertuples():
        sentences = report.sentences(row.layer, row.head)
        assert sentences.groupby("word")["score"].mean().mean() == pytest.approx(row.accuracy)
        right = sentences["score"] == 1
        assert (sentences["nearest"] == sentences["sense"])[right].all()
        assert (sentences["nearest"] != sentences["sense"])[sentences["score"] == 0].all()


def test_score_is_divided_among_tied_senses():
    alike = torch.ones(4, 1, 3)  # four sentences with the same vector
    labels = torch.tensor([[0, 0, 1, 1]])
    assert score(centroid_cosines(cosines(alike), labels, 2), labels).tolist() == [[[0.5] * 4]]
    # The mean of six equal vectors differs from the mean of five by rounding.
    rounded = torch.randn(384, generator=torch.Generator().manual_seed(0)).expand(11, 1, 384)
    uneven = torch.tensor([[0] * 6 + [1] * 5])
    assert score(centroid_cosines(cosines(rounded), uneven, 2), uneven).tolist() == [[[0.5] * 11]]
    zeros = torch.zeros(6, 1, 3)
    three = torch.tensor([[0, 0, 1, 1, 2, 2]])
    assert score(centroid_cosines(cosines(zeros), three, 3), three)[0, 0].tolist() == pytest.approx([1 / 3] * 6)


def test_shuffled_accuracy_equals_accuracies_computed_one_by_one():
    generator = torch.Generator().manual_seed(0)
    between = cosines(torch.randn(7, 3, 5, generator=generator))
    labels = torch.tensor([0, 0, 0, 1, 1, 2, 2])
    together = shuffled_accuracy(between, labels, 3, 20, seed=4)
    orders = np.random.default_rng(4).permuted(np.tile(labels.numpy(), (20, 1)), axis=1)
    one_by_one = [
        score(centroid_cosines(between, torch.from_numpy(o)[None], 3), torch.from_numpy(o)[None]).mean(-1)[:, 0]
        for o in orders
    ]
    assert torch.allclose(together, torch.stack(one_by_one, dim=1))
    assert together.std(dim=1).min() > 0


def test_shuffles_of_word_n_use_seed_n(encoder, labelled, monkeypatch):
    """Other seeds would change the p-values of stored reports."""
    seeds, one_word = [], nearest_centroid._one_word
    keep = lambda model, rows, n, seed: (seeds.append(seed), one_word(model, rows, n, seed))[1]  # noqa: E731
    monkeypatch.setattr(nearest_centroid, "_one_word", keep)
    separation(encoder, labelled, shuffles=1, floor=False)
    assert seeds == list(range(1, labelled["word"].nunique() + 1))


def test_separation_shuffles_1000_times(encoder_of):
    p = separation(encoder_of("BERT"), tiny_table(), floor=False).heads["p_value"].to_numpy()
    assert p * 1001 == pytest.approx((p * 1001).round(), abs=1e-6) and p.min() < 1


def test_floor_is_accuracy_of_untrained_encoder(encoder_of):
    encoder = encoder_of("BERT")
    report = separation(encoder, tiny_table(), shuffles=1)
    twin = separation(random_twin(encoder), tiny_table(), shuffles=1, floor=False)
    for own, other in ((report.layers, twin.layers), (report.heads, twin.heads)):
        assert own["floor"].tolist() == pytest.approx(other["accuracy"].tolist())


def test_p_values_equal_values_computed_by_hand():
    shuffled = np.array([[0.5, 0.6, 0.4, 0.5], [0.5, 0.3, 0.7, 0.2]])  # the best head of each shuffle: .5 .6 .7 .5
    assert p_values(np.array([0.6, 0.8, 0.5]), shuffled) == pytest.approx([3 / 5, 1 / 5, 1.0])
    assert threshold(np.arange(1000)[None] / 1000) == pytest.approx(0.950)
    assert threshold(shuffled) == 1.0  # with four shuffles, p < .05 is impossible


@pytest.mark.slow
def test_random_twin_of_encoder_has_new_weights(encoder):
    torch.manual_seed(123)
    before = torch.get_rng_state()
    twin = random_twin(encoder)
    assert torch.equal(before, torch.get_rng_state())
    weights, untrained = encoder.model.state_dict(), twin.model.state_dict()
    assert {k: v.shape for k, v in weights.items()} == {k: v.shape for k, v in untrained.items()}
    name = "encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(weights[name], untrained[name])
    assert torch.equal(untrained[name], random_twin(encoder).model.state_dict()[name])
    contents = {encoder.content, twin.content, random_twin(encoder).content, random_twin(encoder, seed=1).content}
    assert twin.digest == "" and random_twin(encoder).content == twin.content and len(contents) == 3
    assert twin.recomputable
    assert torch.isfinite(twin.encode("The bank of the river.").hidden).all()


def test_bad_rows_are_rejected(encoder, labelled):
    bad = {
        ("The river was muddy.", "bank", "water"): "not a word of the sentence",
        ("A bank beside a bank.", "bank", "water"): "occurs 2 times",
        ("the  bank approved the LOAN.", "bank", "money"): "An earlier row has the same sentence",
        (None, "bank", "money"): "sentence is missing",
        ("The bank opened.", None, "money"): "word is missing",
        ("The bank opened.", "bank", None): "sense is missing",
        ("The bank closed.", "bank", " "): "sense is missing",
        ("The river bank opened.", "river bank", "money"): "Expected one word",
        ("bank " + "very " * 600, "bank", "money"): "tokens",
        ("The bank of the moon.", "bank", "a single one"): "one usable sentence",
        ("The moon rose.", "moon", "sky"): "no second sense",
        ("The moon set.", "moon", "sky"): "no second sense",
    }
    frame = pd.concat([labelled, pd.DataFrame(list(bad), columns=labelled.columns)], ignore_index=True)
    report = separation(encoder, frame, shuffles=5, floor=False)
    assert report.items.drop(columns=["start", "stop"]).sort_index().equals(labelled)
    assert report.rejected.index.tolist() == list(range(len(labelled), len(frame)))
    reasons = report.rejected["reason"].tolist()
    assert all(part in reason for part, reason in zip(bad.values(), reasons)), reasons
    assert report.layers["floor"].isna().all()


def test_wrong_tables_are_refused(encoder, labelled):
    with pytest.raises(ValueError, match=r"got sentence, word\. Missing: sense"):
        separation(encoder, labelled[["sentence", "word"]])
    with pytest.raises(ValueError, match=r"None of the 2 rows .* no second sense"):
        separation(encoder, labelled.iloc[:2])
    with pytest.raises(ValueError, match="None of the 0 rows"):
        separation(encoder, labelled.iloc[:0])
    with pytest.raises(ValueError, match="at least 1"):
        separation(encoder, labelled, shuffles=0)
