"""Attributions: each method against code of its own, the ranks and their agreement, and what can't be asked."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from scipy.stats import spearmanr

from selfattn.analysis.attention_rollout import rollout
from selfattn.analysis.attributions import Attributions, agreement, attribute, blank_token, direction
from selfattn.words import Word

A, B = "The bank of the river was unbelievably muddy.", "The bank approved the loan."

OTHERS = [
    "RoBERTa", "ALBERT", "DistilBERT", "ELECTRA", "MobileBERT", "ModernBERT", "NomicBERT", "T5 (encoder half)",
    "DeBERTa-v2", "MPNet", "XLNet",
]  # fmt: skip


@pytest.fixture(scope="module")
def asked(encoder):
    first, second = encoder.encode(A), encoder.encode(B)
    towards = direction((first, first.words[1].positions), (second, second.words[1].positions))
    seen = []
    return (
        first,
        towards,
        attribute(encoder, first, first.words[1], towards, lambda done, total: seen.append((done, total))),
        seen,
    )


@pytest.mark.slow
def test_the_number_is_the_projection_on_the_difference(encoder, asked):
    first, towards, opinions, _ = asked
    assert float(towards.norm()) == pytest.approx(1.0, abs=1e-5)
    assert opinions.number == pytest.approx(float(first.vector(encoder.n_layers, (2,)) @ towards), abs=1e-4)
    second = encoder.encode(B)
    apart = first.vector(encoder.n_layers, (2,)) - second.vector(encoder.n_layers, (2,))
    ours = opinions.number - float(second.vector(encoder.n_layers, (2,)) @ towards)
    assert ours == pytest.approx(float(apart.norm()), abs=1e-4)


def test_every_word_but_the_compared_one_is_asked_about(asked):
    _, _, opinions, _ = asked
    assert [word.text for word in opinions.words] == ["The", "of", "the", "river", "was", "unbelievably", "muddy", "."]
    assert [*opinions.values] == ["rollout", "integrated gradients", "occlusion"]
    assert list(opinions.frame()["word"]) == [word.text for word in opinions.words]


def test_occlusion_equals_one_sentence_at_a_time_with_the_word_masked(encoder, asked):
    first, towards, opinions, _ = asked
    mask_id = encoder.tokenizer.mask_token_id
    for word, value in zip(opinions.words, opinions.values["occlusion"]):
        ids = list(first.ids)
        ids[word.start : word.stop] = [mask_id] * (word.stop - word.start)
        with torch.no_grad():
            left = encoder.model(torch.tensor([ids])).last_hidden_state[0, 2] @ towards
        assert float(value) == pytest.approx(opinions.number - float(left), abs=1e-4), word.text


@pytest.mark.slow
def test_integrated_gradients_equal_a_riemann_sum_and_are_complete(encoder, asked):
    first, towards, opinions, _ = asked
    ids = torch.tensor([first.ids])
    # The word itself, at position 2, stays as it is.
    blanked = [
        i if s or p == 2 else encoder.tokenizer.mask_token_id for p, (i, s) in enumerate(zip(first.ids, first.special))
    ]
    empty = torch.tensor([blanked])
    table = encoder.model.get_input_embeddings()
    real, baseline = table(ids), table(empty)
    total = torch.zeros_like(real)
    points = 50
    for k in range(points):
        at = (baseline + (k + 0.5) / points * (real - baseline)).requires_grad_()
        number = encoder.model(inputs_embeds=at).last_hidden_state[0, 2] @ towards
        total += torch.autograd.grad(number, at)[0]
    expected = ((real - baseline) * total / points)[0].sum(-1)
    for word, value in zip(opinions.words, opinions.values["integrated gradients"]):
        assert float(value) == pytest.approx(float(expected[list(word.positions)].sum()), abs=2e-3), word.text
    with torch.no_grad():
        baseline_number = float(encoder.model(empty).last_hidden_state[0, 2] @ towards)
    assert opinions.baseline == pytest.approx(baseline_number, abs=1e-4)
    total = float(opinions.values["integrated gradients"].sum())  # the words that are shown are all there is
    assert total == pytest.approx(opinions.number - opinions.baseline, rel=1e-2)
    assert opinions.gap == pytest.approx(total - (opinions.number - opinions.baseline), abs=1e-5)


def test_rollout_is_the_words_last_row(asked):
    first, _, opinions, _ = asked
    row = rollout(first)[-1][2]
    expected = [float(row[word.start : word.stop].sum()) for word in opinions.words]
    assert opinions.values["rollout"].tolist() == opinions.rollout.tolist() == pytest.approx(expected, abs=1e-6)


def test_hiding_takes_the_place_of_rollout_and_one_that_was_not_run_has_no_rank(encoder_of):
    tiny = encoder_of("BERT")
    encoding = tiny.encode("The bank of the river.")
    (word,) = encoding.places("bank")
    hidden = torch.tensor([0.1, torch.nan, -0.4, 0.2, 0.0])
    found = attribute(tiny, encoding, word.word, torch.ones(tiny.d_model), hidden=hidden)
    assert [*found.values] == ["hiding", "integrated gradients", "occlusion"]
    ranks = found.frame()["hiding rank"]
    assert ranks.isna().tolist() == [False, True, False, False, False] and ranks.dropna().tolist() == [3, 1, 2, 4]
    assert found.rollout.shape == (5,)


def test_progress_counts_up_to_the_end(asked):
    *_, seen = asked
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]


def test_ranks_go_by_size_and_share_ties():
    words = tuple(Word(text, place, place + 1) for place, text in enumerate("abcde"))
    sizes = {"occlusion": torch.tensor([0.1, -3.0, 2.0, -2.0, 0.0])}
    found = Attributions(
        words=words, values=sizes, rollout=torch.zeros(5), number=0.0, baseline=0.0, gap=0.0, blank="[MASK]"
    ).frame()
    assert found["occlusion rank"].tolist() == [4.0, 1.0, 2.5, 2.5, 5.0]


def test_agreement_is_spearmans_correlation_of_sizes():
    values = {"a": torch.tensor([1.0, -2.0, 3.0, 4.0]), "b": torch.tensor([-1.0, 2.0, 4.0, -3.0]), "c": torch.ones(4)}
    found = agreement(values).set_index(["first", "second"])["correlation"]
    assert found["a", "b"] == pytest.approx(spearmanr([1, 2, 3, 4], [1, 2, 4, 3])[0])
    assert math.isnan(found["a", "c"])
    assert agreement({"a": torch.tensor([1.0, 2.0]), "b": torch.tensor([1.0, 2.0])})["correlation"].isna().all()


def test_the_same_vector_twice_has_no_difference_to_explain(encoder):
    first = encoder.encode(A)
    with pytest.raises(ValueError, match="no difference to explain"):
        direction((first, (2,)), (first, (2,)))
    with pytest.raises(ValueError, match="no difference to explain"):  # nor has one that is no number
        direction((replace(first, states=[state * torch.nan for state in first.states]), (2,)), (first, (3,)))


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.slow
def test_other_families_can_be_asked(encoder_of, name):
    encoder = encoder_of(name)
    first, second = encoder.encode("The bank of the river."), encoder.encode("The bank was muddy.")
    word, other = first.words[1], second.words[1]
    opinions = attribute(encoder, first, word, direction((first, word.positions), (second, other.positions)))
    assert all(values.isfinite().all() for values in opinions.values.values())
    assert opinions.blank == blank_token(encoder)[0]


def test_where_there_is_no_mask_token_the_padding_stands_for_a_word():
    tokenizer = SimpleNamespace(
        mask_token=None, mask_token_id=None, pad_token="<pad>", pad_token_id=0, unk_token="<unk>", unk_token_id=3
    )
    encoder = SimpleNamespace(tokenizer=tokenizer, title="an encoder", has_vector={0, 3}.__contains__)
    assert blank_token(encoder) == ("<pad>", 0)
    tokenizer.mask_token, tokenizer.mask_token_id = "<mask>", 9  # one that the encoder has no vector for
    assert blank_token(encoder) == ("<pad>", 0)
    tokenizer.pad_token = tokenizer.unk_token = None
    with pytest.raises(ValueError, match="no mask, padding or unknown token"):
        blank_token(encoder)
