"""The lessons that need an encoder: the bundled one, and hand-made rows where the answer is known."""

import pytest
import torch
from scipy.stats import binomtest

from pages.learn.from_scratch.lesson_pages import one_word_one_vector, textbook_weights, word_order
from pages.learn.from_scratch.lesson_pages.textbook_weights import TextbookWeights
from pages.learn.pronouns_and_negation import many_heads, negation
from selfattn import Head
from selfattn.analysis.measures import similarity
from selfattn.examples import MOVIE, NEGATION_PAIRS, NEUTRAL_SENTENCES, PRONOUNS, STATIC_WORD_SENTENCES
from selfattn.lessons import encoded_words, pronouns
from selfattn.lessons.pronouns import PronounRows
from selfattn.words import Word


def made_up(pronoun, antecedent, distractor, weights):
    """One sentence of one layer and one head whose pronoun gives these weights."""
    words = [Word("", place, place + 1) for place in (pronoun, antecedent, distractor)]
    return PronounRows(torch.tensor(weights).reshape(1, 1, -1), *words)


def bank_paths(encoder):
    encodings = [encoder.encode(sentence) for sentence in STATIC_WORD_SENTENCES]
    return one_word_one_vector.word_paths([(e, e.places("bank")[0].positions) for e in encodings])


def test_preference_is_antecedent_minus_distractor():
    assert float(made_up(3, 0, 1, [0.5, 0.2, 0.2, 0.1]).preference) == pytest.approx(0.3)


def test_accuracy_counts_wins_and_half_a_tie():
    preferences = torch.tensor([0.3, -0.1, 0.0, 0.2]).reshape(4, 1, 1)
    assert float(pronouns.accuracy(preferences)) == pytest.approx(0.625)


def test_a_head_that_looks_by_distance_alone_is_unmasked():
    one_back = [0.0, 0.1, 0.9, 0.0]
    looks = [made_up(3, 2, 1, one_back), made_up(3, 2, 1, one_back), made_up(3, 1, 2, one_back)]
    preferences = torch.stack([look.preference for look in looks])
    assert torch.allclose(pronouns.position_only(looks), preferences)
    assert float(pronouns.accuracy(pronouns.position_only(looks))) == pytest.approx(2 / 3)


def test_the_best_of_many_noisy_heads_is_lucky():
    noise = torch.randn(40, 6, 12, generator=torch.Generator().manual_seed(0))
    assert 0.65 < pronouns.luck(noise) < 0.85
    assert pronouns.luck(noise[:, :1, :1]) < pronouns.luck(noise)


def test_twins_stay_in_one_half():
    halves = pronouns.halves(PRONOUNS)
    assert sorted(halves[0] + halves[1]) == list(range(len(PRONOUNS)))
    twins = [{PRONOUNS[place].twin for place in half} - {None} for half in halves]
    assert not twins[0] & twins[1]
    assert abs(len(halves[0]) - len(halves[1])) <= 2


@pytest.mark.parametrize(("right", "n"), [(11, 20), (0, 20), (20, 20), (14, 20), (15, 20), (33, 41)])
def test_the_interval_of_the_other_half_is_wilsons(right, n):
    found = pronouns.ChosenHead(Head(0, 0), 0.9, right / n, 0.5, 0.5, n, 0.7)
    wanted = binomtest(right, n).proportion_ci(method="wilson")
    assert found.interval == pytest.approx((wanted.low, wanted.high), abs=1e-6)


@pytest.mark.slow
def test_at_least_forty_sentences_are_scored_on_real_heads(encoder):
    rows = [pronouns.pronoun_rows(encoder.encode(sentence.sentence), sentence) for sentence in PRONOUNS]
    assert len(rows) >= 40
    found = pronouns.choose_head(pronouns.pronoun_weights(rows), *pronouns.halves(PRONOUNS))
    assert found.n >= 20
    assert found.chosen_with >= found.accuracy - 0.15
    assert 0.5 < found.luck < 1
    assert abs(found.position_only - 0.5) < 0.15
    right = int(found.accuracy * found.n)
    assert found.p_value == pytest.approx(binomtest(right, found.n, alternative="greater").pvalue)


@pytest.mark.slow
def test_negators_draw_weight_beyond_their_place(encoder):
    pairs = [
        negation.negator_weights(encoder.encode(pair.negated), encoder.encode(pair.plain), pair)
        for pair in NEGATION_PAIRS
    ]
    negator, instead = torch.stack(pairs).mean(0)
    gain = negator - instead
    assert divmod(int(gain.argmax()), 12) == (5, 9)
    assert float(gain.max()) > 0.4


def test_the_illustrative_row_is_a_row_of_the_movie_sentence(encoder):
    encoding = encoder.encode(MOVIE)
    assert [word.text for word in encoding.words] == MOVIE.split()
    assert len(negation.ILLUSTRATIVE_ROW) == len(encoding.words)
    assert sum(negation.ILLUSTRATIVE_ROW) == pytest.approx(1)
    row = negation.row_by_words(encoding, 4)
    rows = encoding.rows(encoding.words[4].start)
    assert torch.allclose(row[..., 3], rows[..., encoding.words[3].start])


def test_favourites_name_what_each_head_looks_at_most():
    rows = torch.tensor([[[0.6, 0.2, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.1, 0.1, 0.7]]])
    found = many_heads.favourites(rows, 2, ("[CLS]", "a", "a", "b"), (True, False, False, False))
    assert found["kind"].tolist() == ["a special token", "the token before", "itself", "the token after"]
    assert found["token"].tolist() == ["[CLS]", "a", "a", "b"]


def test_bank_has_one_static_vector_and_many_contextual_ones(encoder):
    paths = bank_paths(encoder)
    assert paths.same_tokens
    assert torch.equal(paths.static, paths.static[:1].expand_as(paths.static))
    frame = one_word_one_vector.baselines(paths, ("w", "w", "m", "m", "m", "w"))
    last = frame[frame["stage"] == 6].set_index("pairs")["cosine"]
    assert last["different senses"] < last["same sense"] < 1
    assert frame[frame["stage"] == -1]["cosine"].tolist() == pytest.approx([1, 1])


def test_two_other_words_are_less_alike(encoder):
    encodings = [encoder.encode(sentence) for sentence in NEUTRAL_SENTENCES[:4]]
    others = one_word_one_vector.word_paths([(e, e.words[1].positions) for e in encodings])
    frame = one_word_one_vector.baselines(bank_paths(encoder), ("w", "w", "m", "m", "m", "w"), others)
    last = frame[frame["stage"] == 6].set_index("pairs")["cosine"]
    assert last["two other words"] < last["different senses"]


def test_a_split_words_rows_are_averaged_and_its_columns_summed(encoder):
    encoding = encoder.encode("It was well-capitalized by the bank, it was.")
    split = encoded_words.first_word(encoding, "Well-capitalized")
    places = list(split.positions)
    assert len(places) > 1
    rows = encoding.word_rows(split.positions)
    expected = encoding.weights(2)[5, places].mean(0)
    assert torch.allclose(rows[2, 5], expected, atol=1e-6)
    assert float(encoded_words.weight_on(rows, split)[2, 5]) == pytest.approx(float(expected[places].sum()))
    assert encoded_words.first_word(encoding, "it", after=places[0]).positions[0] > places[-1] + 1
    with pytest.raises(ValueError, match="spelling"):
        encoded_words.first_word(encoding, "it", after=len(encoding.tokens) - 1)


def test_the_plane_states_what_it_keeps(encoder):
    (start, points, _), explained = one_word_one_vector.plane(bank_paths(encoder))
    assert torch.allclose(points.mean(1), torch.zeros(7, 2, dtype=torch.float64), atol=1e-9)  # each layer's own mean
    assert points.shape == (7, 6, 2)
    assert 0.3 < explained < 1
    assert torch.allclose(start, start[:, :1].expand_as(start), atol=1e-9)  # one static vector: one point


def test_points_that_lie_in_a_plane_are_kept_whole():
    turned = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    paths = one_word_one_vector.WordPaths(turned[:2], turned.reshape(2, 2, 3), True)
    assert one_word_one_vector.plane(paths)[1] == pytest.approx(1)


def test_drawn_numbers_find_the_head_that_drew_them():
    weights = torch.rand(2, 3, 1, 3, generator=torch.Generator().manual_seed(0)).double()
    found = textbook_weights.compare(weights, weights[1, 2].tolist())
    assert (found["layer"][0], found["head"][0]) == (1, 2)
    assert found["distance"][0] == pytest.approx(0, abs=1e-6)
    assert found["distance"].is_monotonic_increasing


def test_drawn_words_and_their_published_weights_stand_where_they_should(encoder):
    expected = {
        "bank, to deposit, the, check": (["bank"], ["Deposit", "the", "check"], [[0.85, 0.02, 0.13]]),
        "a map of three words": (["Dog", "bites", "man"],) * 2 + ([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6]],),
        "it, to animal, street, tired": (["it"], ["animal", "street", "tired"], [[0.9, 0.2, 0.6]]),
        "it, to every word": (
            ["it"], textbook_weights.TEXTBOOK[2].sentence.rstrip(".").split(), [[0.15, 0.9, *[0.15] * 3, 0.2, *[0.15] * 4, 0.6]]
        ),
        "it, because it was tired": (["it"], ["animal", "street", "tired"], [[0.9, 0.2, 0.6]]),
        "it, too wide": (["it"], ["animal", "street", "wide"], [[0.2, 0.9, 0.6]]),
        "it, to the loan sentence": (["it"], ["The", "bank", "approved", "the", "loan"], [[0.05, 0.82, 0.08, 0.02, 0.15]]),
    }  # fmt: skip
    for textbook in textbook_weights.TEXTBOOK:
        words = [word.text for word in encoder.encode(textbook.sentence).words]
        queries, keys = ([words[n] for n in places] for places in (textbook.queries, textbook.keys))
        assert (queries, keys, [list(row) for row in textbook.weights]) == expected[textbook.title]


def test_between_words_sums_a_split_words_pieces(encoder):
    """By hand: the rows of a split word averaged, its columns summed."""
    textbook = TextbookWeights("", "It was well-capitalized by the bank.", (2, 0), (2, 5), ((1, 1), (1, 1)), "")
    encoding = encoder.encode(textbook.sentence)
    split, bank, it = (list(encoding.words[index].positions) for index in (2, 5, 0))
    assert len(split) > 1
    weights = encoding.weights(3)[7]
    expected = [[weights[rows][:, columns].sum(1).mean() for columns in (split, bank)] for rows in (split, it)]
    assert torch.allclose(textbook_weights.between_words(encoding, textbook)[3, 7], torch.tensor(expected))


def test_without_positions_the_encoder_cannot_tell_who_bites_whom(encoder):
    usual, same = word_order.compare_orders(encoder, "dog bites man", "man bites dog", "dog")
    assert float((same[0] - same[1]).abs().max()) < 1e-5
    assert float(similarity(*usual)) < 0.99 < float(similarity(*same))


def test_order_needs_the_same_tokens(encoder):
    with pytest.raises(ValueError, match="same tokens"):
        word_order.compare_orders(encoder, "dog bites man", "man bites cat", "dog")


def test_s23_a_bag_of_words_misses_not():
    assert negation.bag_of_words(MOVIE) == (2, 0)


def test_s32_landmarks_lie_on_their_own_side(encoder):
    paths, words = bank_paths(encoder), ("river", "loan", "money")
    found = [encoder.encode(word) for word in words]
    marks = one_word_one_vector.word_paths([(each, (1,)) for each in found])
    (_, points, known), _ = one_word_one_vector.plane(paths, marks)
    river, loan, _ = known[-1, :, 0]
    water, coins = points[-1, [0, 1, 5], 0], points[-1, 2:5, 0]
    assert (water.mean() - river).abs() < (water.mean() - loan).abs() and (coins.mean() - loan).abs() < (
        coins.mean() - river
    ).abs()
    near = [
        one_word_one_vector.nearness(paths, marks, 6, [w == (i in (0, 1, 5)) for i in range(6)]) for w in (True, False)
    ]
    assert [round(value, 2) for value in near] == [0.44, 0.31]
