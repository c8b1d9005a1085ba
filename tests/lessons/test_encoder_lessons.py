"""Test the lessons that need an encoder or attention weights."""

import pytest
import torch
from scipy.stats import binomtest

from pages.learn.from_scratch.lesson_pages import one_word_one_vector, textbook_weights, word_order
from pages.learn.from_scratch.lesson_pages.textbook_weights import TextbookWeights
from pages.learn.pronouns_and_negation import many_heads
from selfattn.analysis.measures import similarity
from selfattn.examples import NEUTRAL_SENTENCES, PRONOUNS, STATIC_WORD_SENTENCES, PronounSentence
from selfattn.lessons import encoded_words, pronouns
from selfattn.lessons.pronouns import PronounRows
from selfattn.words import Word


def made_up(pronoun, antecedent, distractor, weights):
    words = [Word("", place, place + 1) for place in (pronoun, antecedent, distractor)]
    return PronounRows(torch.tensor(weights).reshape(1, 1, -1), *words)


def test_accuracy_counts_tie_as_half():
    preferences = torch.tensor([0.3, -0.1, 0.0, 0.2]).reshape(4, 1, 1)
    assert float(pronouns.accuracy(preferences)) == pytest.approx(0.625)


def test_position_baseline_averages_weights_over_other_sentences():
    one_back = [0.0, 0.1, 0.9, 0.0]
    looks = [made_up(3, 2, 1, one_back), made_up(3, 2, 1, one_back), made_up(3, 1, 2, one_back)]
    preferences = torch.stack([look.preference for look in looks])
    assert torch.allclose(pronouns.position_only(looks), preferences)
    assert float(pronouns.accuracy(pronouns.position_only(looks))) == pytest.approx(2 / 3)
    both = [made_up(3, 2, 1, [0.0, 0.1, 0.9, 0.0]), made_up(5, 4, 3, [0.0, 0.0, 0.0, 0.7, 0.3, 0.0, 0.0])]
    assert pronouns.position_only(both).flatten().tolist() == pytest.approx([-0.4, 0.8])  # each from the other sentence


def test_chosen_pronoun_comes_after_both_nouns(encoder):
    encoding = encoder.encode("The dog, it seems, chased the cat until it fell.")
    rows = pronouns.pronoun_rows(encoding, PronounSentence("", "it", "dog", "cat", None))
    words = (encoding.places("it")[1], encoding.places("dog")[0], encoding.places("cat")[0])
    pronoun, *nouns = (word.positions[0] for word in words)
    assert [each.positions[0] for each in (rows.pronoun, rows.antecedent, rows.distractor)] == [pronoun, *nouns]
    weights = encoding.weights(2)[5, pronoun]
    assert float(rows.preference[2, 5]) == pytest.approx(float(weights[nouns[0]] - weights[nouns[1]]))


def test_best_accuracy_by_chance_grows_with_number_of_heads():
    noise = torch.randn(40, 6, 12, generator=torch.Generator().manual_seed(0))
    assert 0.65 < pronouns.luck(noise) < 0.85
    assert 0.55 < pronouns.luck(noise[:, :1, :1]) < 0.65  # in 95 of 100 tries, at most 25 of 40 coin tosses are right


def test_twin_sentences_are_in_same_half():
    halves = pronouns.halves(PRONOUNS)
    assert sorted(halves[0] + halves[1]) == list(range(len(PRONOUNS)))
    twins = [{PRONOUNS[place].twin for place in half} - {None} for half in halves]
    assert not twins[0] & twins[1]
    assert abs(len(halves[0]) - len(halves[1])) <= 2


def test_statistics_of_chosen_head_match_scipy():
    weights = [torch.rand(41, 6, 12, generator=torch.Generator().manual_seed(seed)).numpy() for seed in range(3)]
    found = pronouns.choose_head(pronouns.PronounWeights(*weights), range(20), range(20, 41))
    assert found.n == 21 and found.position_only == pytest.approx((weights[2][20:][:, *found.head] > 0).mean())
    wins = weights[0] > weights[1]
    assert (
        found.chosen_with
        == pytest.approx(wins[:20].mean(axis=0).max())
        == pytest.approx(wins[:20][:, *found.head].mean())
    )
    right = int(wins[20:][:, *found.head].sum())
    assert found.accuracy == pytest.approx(right / 21)
    assert found.p_value == pytest.approx(binomtest(right, found.n, alternative="greater").pvalue)
    assert found.interval == pytest.approx(tuple(binomtest(right, found.n).proportion_ci(method="wilson")))


def test_favourites_are_tokens_with_largest_weight():
    rows = torch.tensor([[[0.6, 0.2, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.1, 0.1, 0.7]]])
    found = many_heads.favourites(rows, 2, ("[CLS]", "a", "a", "b"), (True, False, False, False))
    assert found["kind"].tolist() == ["a special token", "the token before", "itself", "the token after"]
    assert found["token"].tolist() == ["[CLS]", "a", "a", "b"]


def test_bank_has_one_static_vector(encoder):
    encodings = [encoder.encode(sentence) for sentence in STATIC_WORD_SENTENCES]
    places = [each.places("bank")[0] for each in encodings]
    static = one_word_one_vector.vectors(places, one_word_one_vector.TABLE)
    assert torch.equal(static, static[:1].expand_as(static))
    encodings = [encoder.encode(sentence) for sentence in NEUTRAL_SENTENCES[:4]]
    others = [(each, each.words[1].positions) for each in encodings]
    frame = one_word_one_vector.baselines(places, ("w", "w", "m", "m", "m", "w"), others, 6)
    last = frame[frame["stage"] == 6].set_index("pairs")["cosine"]
    assert last["two other words"] < last["different senses"] < last["same sense"] < 1
    assert frame[frame["stage"] == -1]["cosine"].tolist()[:2] == pytest.approx([1, 1])
    marks = [(each, each.words[0].positions) for each in map(encoder.encode, ("river", "loan"))]
    ahead = [one_word_one_vector.near(places, marks, stage) @ torch.tensor((1.0, -1.0)).double() for stage in (-1, 6)]
    assert (ahead[0] < 0).all()  # in the embedding table, "bank" is nearer to "loan"
    assert [n for n, each in enumerate(ahead[1]) if each > 0] == [0, 1, 5]  # the sentences about water


def test_split_word_has_mean_row_and_summed_column(encoder):
    encoding = encoder.encode("It was well-capitalized by the bank, it was.")
    split = encoded_words.first_word(encoding, "Well-capitalized")
    places = list(split.positions)
    assert len(places) > 1
    rows = encoding.word_rows(split.positions)
    expected = encoding.weights(2)[5, places].mean(0)
    assert torch.allclose(rows[2, 5], expected, atol=1e-6)
    assert float(encoded_words.weight_on(rows, split)[2, 5]) == pytest.approx(float(expected[places].sum()))
    last = encoded_words.first_word(encoding, "it", after=places[0]).positions[0]
    assert last > places[-1] + 1 and encoded_words.first_word(encoding, "it", after=last).positions[0] == last
    with pytest.raises(ValueError, match="spelling"):
        encoded_words.first_word(encoding, "it", after=len(encoding.tokens) - 1)


def test_head_nearest_to_textbook_weights_comes_first():
    weights = torch.rand(2, 3, 1, 3, generator=torch.Generator().manual_seed(0)).double()
    found = textbook_weights.compare(weights, weights[1, 2].tolist())
    assert (found["layer"][0], found["head"][0]) == (1, 2)
    assert found["distance"][0] == pytest.approx(0, abs=1e-6)
    assert found["distance"].is_monotonic_increasing


def test_between_words_accepts_word_of_several_tokens(encoder):
    textbook = TextbookWeights("", "It was well-capitalized by the bank.", (2, 0), (2, 5), ((1, 1), (1, 1)), "")
    encoding = encoder.encode(textbook.sentence)
    split, bank, it = (list(encoding.words[index].positions) for index in (2, 5, 0))
    assert len(split) > 1
    weights = encoding.weights(3)[7]
    expected = [[weights[rows][:, columns].sum(1).mean() for columns in (split, bank)] for rows in (split, it)]
    assert torch.allclose(textbook_weights.between_words(encoding, textbook)[3, 7], torch.tensor(expected))


def test_zero_position_ids_make_vector_ignore_word_order(encoder):
    usual, same = word_order.compare_orders(encoder, "dog bites man", "man bites dog", "dog")
    assert float((same[0] - same[1]).abs().max()) < 1e-5
    assert float(similarity(*usual)) < 0.99 < float(similarity(*same))

    with pytest.raises(ValueError, match="same tokens"):
        word_order.compare_orders(encoder, "dog bites man", "men bite dog", "dog")
