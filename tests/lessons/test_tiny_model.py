"""Test that the tiny model learns to attend to position 4."""

import pytest
import torch

from selfattn.lessons import tiny_model
from selfattn.lessons.tiny_model import Settings


@pytest.fixture(scope="module")
def data():
    return tiny_model.samples(Settings())


@pytest.fixture(scope="module")
def run():
    return list(tiny_model.train(Settings()))


def test_data_match_published_data(data):
    assert data.tokens.shape == (8000, 7)
    assert data.tokens[0].tolist() == [0, 45, 48, 1, 4, 4, 40]
    assert data.tokens[103].tolist() == [0, 34, 13, 33, 42, 17, 3]
    assert int(data.labels.sum()) == 165
    assert int(data.labels.nonzero()[0]) == 103


@pytest.mark.slow
def test_model_learns_task_in_ten_epochs(run, data):
    first, last = run[0], run[-1]
    assert [state.epoch for state in run] == list(range(11))
    assert last.score.accuracy == last.score.recall == 1.0 and last.score.loss < 0.001
    before, after = last.model.probability(data.tokens[[0, 103]]).tolist()
    assert before < 0.5 < after
    assert int(last.weights[0].argmax()) == 4 and last.target_weight >= 0.3
    assert first.target_weight == pytest.approx(1 / 7, abs=0.02)
    assert tiny_model.score(last.model, data, tiny_model.without_edge()).recall < 0.1
    assert tiny_model.score(last.model, tiny_model.samples(Settings(), fresh=True)).accuracy > 0.999
    assert run[1].score.accuracy > 0.97 and run[1].score.recall < 0.5  # always answering "no" is right in 98 %


@pytest.mark.slow
def test_loss_accuracy_and_recall_match_torch(run, data):
    model = run[2].model
    states = model.tokens(data.tokens) + model.positions.weight
    projected = (project(states) for project in (model.query, model.key, model.value))
    context = torch.nn.functional.scaled_dot_product_attention(*projected)[:, 0]
    yes = model.decide(model.norm(states[:, 0] + model.output(context))).squeeze(-1).sigmoid()
    truth = data.labels
    assert run[2].score.loss == pytest.approx(float(torch.nn.functional.binary_cross_entropy(yes, truth)), rel=1e-4)
    assert run[2].score.accuracy == pytest.approx(float(((yes > 0.5) == (truth > 0.5)).float().mean()))
    assert run[2].score.recall == pytest.approx(float((yes[truth > 0.5] > 0.5).float().mean()))
    assert run[2].score.n_positives == 165


@pytest.mark.slow
def test_epoch_state_has_mean_attention_weights(run, data):
    model, state = run[-1].model, run[-1]
    _, trace = model.attention(data.tokens)
    assert torch.allclose(state.weights, trace.weights[data.labels == 1].mean(0), atol=1e-6)
    assert torch.allclose(state.negative_weights, trace.weights[data.labels == 0][:165].mean(0), atol=1e-6)
    assert state.target_weight == float(state.weights[0, 4])


def test_magic_number_decides_labels():
    data = tiny_model.samples(Settings(magic=7))
    assert torch.equal(data.labels == 1, data.tokens[:, 4] == 7)
    fresh = tiny_model.samples(Settings(magic=7), fresh=True)
    assert not torch.equal(fresh.tokens, data.tokens) and torch.equal(fresh.labels == 1, fresh.tokens[:, 4] == 7)


@pytest.mark.slow
def test_training_leaves_torch_random_state_unchanged(run):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    training = tiny_model.train(Settings())
    first = [next(training) for _ in range(2)]
    training.close()
    assert torch.equal(torch.rand(1), expected)
    assert [each.score for each in first] == [each.score for each in run[:2]]  # the same seed gives the same model
