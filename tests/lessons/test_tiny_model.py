"""The tiny model on the source's own data: it learns, it looks at position 4, and without that look it can't decide."""

import time

import pytest
import torch

from selfattn.lessons import tiny_model
from selfattn.lessons.tiny_model import Settings


@pytest.fixture(scope="module")
def data():
    return tiny_model.samples(Settings())


@pytest.fixture(scope="module")
def runs():
    """Five seeds of training on the source's data (numpy seed 0 makes the data, torch's the model)."""
    started = time.perf_counter()
    found = [list(tiny_model.train(Settings(), model_seed=seed)) for seed in range(5)]
    return found, time.perf_counter() - started


def test_the_data_are_the_sources(data):
    assert data.tokens.shape == (8000, 7)
    assert data.tokens[0].tolist() == [0, 45, 48, 1, 4, 4, 40]
    assert data.tokens[103].tolist() == [0, 34, 13, 33, 42, 17, 3]
    assert int(data.labels.sum()) == 165
    assert int(data.labels.nonzero()[0]) == 103


def test_777_parameters():
    model = tiny_model.TinyModel()
    assert model.n_parameters == 777
    parts = {
        "embeddings": [model.tokens, model.positions],
        "attention": [model.query, model.key, model.value, model.output],
        "norm": [model.norm],
        "decision": [model.decide],
    }
    counted = {name: sum(p.numel() for part in group for p in part.parameters()) for name, group in parts.items()}
    assert counted == {"embeddings": 464, "attention": 288, "norm": 16, "decision": 9}


def learned(states, data):
    first, last = states[0], states[-1]
    both = data.tokens[[0, 103]]
    before, after = last.model.probability(both).tolist()
    blind = tiny_model.score(last.model, data, tiny_model.without_edge())
    fresh = tiny_model.score(last.model, tiny_model.samples(Settings(), fresh=True))
    return (
        last.score.accuracy == 1.0
        and last.score.recall == 1.0
        and last.score.loss < 0.001
        and before < 0.5 < after
        and int(last.weights[0].argmax()) == 4
        and abs(first.target_weight - 1 / 7) < 0.02
        and last.target_weight >= 0.3
        and blind.recall < 0.1
        and fresh.accuracy > 0.999
    )


def test_at_least_four_of_five_seeds_learn_in_well_under_a_minute_each(runs, data):
    states, seconds = runs
    assert sum(learned(run, data) for run in states) >= 4
    assert seconds / 5 < 40


def test_a_constant_no_is_right_in_98_per_cent(runs):
    first_epoch = runs[0][0][1].score
    assert first_epoch.accuracy > 0.97
    assert first_epoch.recall < 0.5


def test_random_labels_leave_nothing_to_learn():
    settings = Settings(random_labels=True, epochs=3)
    assert int(tiny_model.samples(settings).labels.sum()) == 165
    last = list(tiny_model.train(settings))[-1]
    assert last.score.recall < 0.1
    assert last.target_weight < 0.3


def test_another_magic_number_and_width_learn_too():
    settings = Settings(magic=7, width=12, epochs=6)
    last = list(tiny_model.train(settings))[-1]
    assert last.score.recall == 1.0
    assert tiny_model.TinyModel(12).n_parameters != 777


def test_training_can_be_stopped_and_leaves_torchs_seed_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    training = tiny_model.train(Settings(n_samples=320))
    assert next(training).epoch == 0
    assert next(training).epoch == 1
    training.close()
    assert torch.equal(torch.rand(1), expected)


def test_same_seed_same_model():
    one, other = (list(tiny_model.train(Settings(n_samples=640, epochs=1)))[-1].score.loss for _ in range(2))
    assert one == other
