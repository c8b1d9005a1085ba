"""Test that the lessons reproduce every number that they take from published sources."""

import pytest
import torch

from pages.learn.from_scratch import worksheet
from pages.learn.from_scratch.lesson_pages import hand_made, scores, softmax, twelve_tokens
from selfattn.lessons import worked_example


def rounded(tensor, decimals=2):
    return [round(float(number), decimals) for number in tensor]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [((2, 0), (3, 0), 1), ((2, 0), (0, 2), 0), ((2, 0), (-1, 0), -1), ((2, 0), (1, 1), 0.5**0.5)],
)
def test_cosine_follows_angle(a, b, expected):
    assert scores.cosine(torch.tensor(a).float(), torch.tensor(b).float()) == pytest.approx(expected, abs=1e-6)


def test_published_vectors_have_dot_product_7():
    a, b = map(torch.tensor, scores.SOURCE.values())
    assert float(a.norm() * b.norm()) * scores.cosine(a, b) == pytest.approx(7) == float(a @ b)


def test_long_key_outscores_aligned_key():
    query, keys = scores.LENGTHS["the source's"]
    found = scores.compare(torch.tensor(query), *map(torch.tensor, keys.values()), names=list(keys))
    found = found.set_index("token")["score"]
    assert found.to_dict() == {"short, aligned": 5, "long, misaligned": 7, "long, aligned": 10}


def test_worked_examples_match_published_numbers():
    trace = worked_example.compute()
    assert trace.scores[0].tolist() == [10, 7, 5] and round(1 / trace.scale, 2) == 1.41
    assert [f"{weight:.0%}" for weight in trace.weights[0].tolist()] == ["87%", "10%", "3%"]
    assert rounded(trace.context[0]) == [1.79, 1.44]
    trace = worked_example.compute(softmax.QUERY, softmax.KEYS)
    assert trace.scores[0].tolist() == [1, 0.5, 0] and rounded(trace.weights[0]) == [0.46, 0.32, 0.22]
    _, trace = hand_made.project()
    assert rounded(trace.scores[1], 4) == [1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440]
    assert rounded(trace.weights[1], 4) == [0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820]
    assert rounded(trace.context[1], 4) == [0.3061, 0.8210]


def test_word_good_attends_only_to_two_words():
    trace = twelve_tokens.compute()
    assert rounded(trace.weights[4]) == [0, 0, 0, 0.67, 0, 0, 0, 0, 0, 0, 0.33, 0]
    assert rounded(trace.context[4], 8) == [0.99999467, 0.33023767]
    weights = twelve_tokens.compute(causal=True).weights[4]
    assert f"{float(weights[3]):.2f}" == "1.00" and weights[5:].tolist() == [0] * 7


def test_heatmap_has_published_weights():
    weights = twelve_tokens.compute(twelve_tokens.OF_THE_MAP, causal=True).weights
    assert rounded(weights[3]) == [0.20, 0.20, 0.20, 0.40] + [0] * 8
    assert rounded(weights[4]) == [0.14, 0.14, 0.14, 0.29, 0.29] + [0] * 7
    amazing = rounded(weights[10])
    assert amazing[8] == amazing[10] == 0.50 and sum(amazing) == 1.0


ANSWERS = ("0.46", "0.32", "0.22", "1,177", "141", "34", "87%", "10%", "3%", "[1.79, 1.44]")


def test_only_answer_sheet_has_answers():
    answered, blank = (worksheet.page(answers) for answers in (True, False))
    for answer in ANSWERS:
        assert f">{answer}<" in answered and f">{answer}<" not in blank
    assert "rgba(8, 48, 107, 0.63)" in answered and "0.63" not in blank
    for page in (answered, blank):  # the page is complete, and loads nothing
        assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>") and "@media print" in page
        assert not any(each in page for each in ("<script", "http://", "https://", "src=", "@import"))
    scores = worked_example.compute().scores[0]
    assert "does “street” get more weight?" in blank and scores[1] > scores[2]  # "street" gets more than "because"
