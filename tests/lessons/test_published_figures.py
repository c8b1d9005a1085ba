"""Every figure that the lessons print, to the printed digits."""

import pytest
import torch

from pages.learn.from_scratch.lesson_pages import dot_product, key_length, random_projections, softmax
from selfattn.lessons import recurrence, twelve_tokens, worked_example
from selfattn.words import split_words


def rounded(tensor, decimals=2):
    return [round(float(number), decimals) for number in tensor]


def test_s4_the_dot_product_of_the_lesson_is_7():
    a, b = map(torch.tensor, dot_product.SOURCE.values())
    assert float(a.norm() * b.norm()) * dot_product.cosine(a, b) == pytest.approx(7) == float(a @ b)


@pytest.mark.parametrize(("b", "expected"), [((3, 0), 1), ((0, 2), 0), ((-1, 0), -1), ((1, 1), 0.5**0.5)])
def test_s4_the_sign_follows_the_angle(b, expected):
    assert dot_product.cosine(torch.tensor([2.0, 0]), torch.tensor(b).float()) == pytest.approx(expected, abs=1e-6)


def test_s5_a_long_misaligned_key_outscores_a_short_aligned_one():
    query, keys = key_length.EXAMPLES["the source's"]
    found = key_length.compare(torch.tensor(query), *map(torch.tensor, keys.values()), names=list(keys))
    found = found.set_index("token")["score"]
    assert found.to_dict() == {"short, aligned": 5, "long, misaligned": 7, "long, aligned": 10}


def test_s7_the_worked_example():
    trace = worked_example.compute()
    assert trace.scores[0].tolist() == [10, 7, 5]
    assert round(1 / trace.scale, 2) == 1.41
    assert [f"{weight:.0%}" for weight in trace.weights[0].tolist()] == ["87%", "10%", "3%"]
    assert rounded(trace.context[0]) == [1.79, 1.44]


def test_s9_three_words():
    found = softmax.steps()
    assert found["score"].tolist() == [1, 0.5, 0]
    assert rounded(found["weight"]) == [0.46, 0.32, 0.22]


def test_s10_unmasked_good_looks_at_not_and_amazing():
    trace = twelve_tokens.compute()
    assert rounded(trace.weights[4]) == [0, 0, 0, 0.67, 0, 0, 0, 0, 0, 0, 0.33, 0]
    assert rounded(trace.context[4], 8) == [0.99999467, 0.33023767]


def test_s10_under_the_causal_mask_not_takes_everything():
    weights = twelve_tokens.compute(causal=True).weights[4]
    assert f"{float(weights[3]):.2f}" == "1.00"
    assert weights[5:].tolist() == [0] * 7


def test_s11_the_annotated_heatmap():
    weights = twelve_tokens.compute(twelve_tokens.OF_THE_MAP, causal=True).weights
    assert rounded(weights[3]) == [0.20, 0.20, 0.20, 0.40] + [0] * 8
    assert rounded(weights[4]) == [0.14, 0.14, 0.14, 0.29, 0.29] + [0] * 7
    amazing = rounded(weights[10])
    assert amazing[8] == amazing[10] == 0.50
    assert sum(amazing) == 1.0


def test_s3_it_is_word_7_bank_word_2_with_four_states_between():
    words = split_words(recurrence.SENTENCE)
    start, stop = words.index("bank") + 1, words.index("it") + 1
    assert (start, stop) == (2, 7)
    assert recurrence.steps_between(start, stop) == 5  # the page's own count of states, 4, is in tests/pages
    assert len(words) == 9


def test_s3_the_long_sentence_puts_17_words_between_cat_and_ran():
    words = split_words(recurrence.LONG_SENTENCE)
    assert recurrence.steps_between(words.index("cat") + 1, words.index("ran") + 1) == 17


def test_project_your_journey_starts_with_one_step():
    _, _, trace = random_projections.project()
    assert rounded(trace.scores[1], 4) == [1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440]
    assert rounded(trace.weights[1], 4) == [0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820]
    assert rounded(trace.context[1], 4) == [0.3061, 0.8210]
