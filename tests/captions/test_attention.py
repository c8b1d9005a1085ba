"""Captions of attention name the token, the head and the sentence of the numbers they are given, whichever these are."""

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.analysis.compare import compare_sentences
from selfattn.analysis.patterns import nearest_first
from selfattn.captions import attention as captions
from selfattn.tidy_tables import heads_frame, named_heads, strip_frame
from tests.captions.conftest import HEAD, LAYER


@pytest.fixture
def strip(sides):
    """The word's row in both sentences, as the main view draws it."""
    tables = [strip_frame(e, w[word.start], word, name) for name, (e, word, w) in sides.items()]
    return pd.concat(tables).to_dict("records")


def rows(weights, texts=("[CLS]", "crane", "beam"), special=(0,), chosen=1, **columns):
    n = len(texts)
    places = range(n)
    flags = {"special": [i in special for i in places], "chosen": [i == chosen for i in places]}
    return pd.DataFrame({"sentence": "B", "text": texts, "weight": weights, **flags, **columns})


def test_most_weight_says_what_the_models_own_weights_say(strip, sides):
    text = captions.most_weight(strip, "crane", by="sentence")
    assert text.startswith('"crane" gives most weight in A to ')
    for (_, (encoding, word, weights)), part in zip(sides.items(), text.split("; ")):
        row = weights[word.start]
        top = int(row.argmax())
        assert encoding.special[top], "L3 H7 attends to a special token first; choose another head for the other branch"
        ordinary = [i for i, special in enumerate(encoding.special) if not special]
        best = max(ordinary, key=lambda i: float(row[i]))
        name = "itself" if best == word.start else f'"{encoding.tokens[best]}"'
        assert f"to {encoding.tokens[top]} ({row[top]:.2f}), and among the words to {name} ({row[best]:.2f})" in part


@pytest.mark.parametrize(
    ("weights", "special", "text"),
    [
        ([0.1, 0.2, 0.7], (0,), 'in B to "beam" (0.70).'),
        ([0.1, 0.7, 0.2], (0,), "in B to itself (0.70)."),
        ([0.6, 0.3, 0.1], (0,), "in B to [CLS] (0.60), and among the words to itself (0.30)."),
        ([0.6, 0.1, 0.3], (0,), 'in B to [CLS] (0.60), and among the words to "beam" (0.30).'),
        ([0.6, 0.1, 0.3], (0, 1, 2), "in B to [CLS] (0.60)."),
    ],
)
def test_most_weight_by_what_gets_it(weights, special, text):
    said = captions.most_weight(rows(weights, special=special).to_dict("records"), "crane", by="sentence")
    assert said == f'"crane" gives most weight {text}'


def test_most_weight_of_several_heads_laid_over_one_another():
    frame = pd.concat([rows([0, 0.1, 0.9], source="L5 H1"), rows([0, 0.8, 0.2], source="rollout")])
    text = captions.most_weight(frame.drop(columns="special").to_dict("records"), "crane", by="source")
    assert text == '"crane" gives most weight in L5 H1 to "beam" (0.90); in rollout to itself (0.80).'


def test_the_largest_cell_of_a_map(sides):
    encoding, _, weights = sides["B"]
    weights = weights[1:, 1:].numpy()  # without [CLS], which gives itself the most of all
    labels = encoding.tokens[1:]
    i, j = np.unravel_index(weights.argmax(), weights.shape)
    expected = f'Largest weight: {weights.max():.2f}, from "{labels[i]}" to "{labels[j]}".'
    assert i != j and captions.largest_cell(weights, labels) == expected


def test_the_largest_cell_goes_by_absolute_value_and_keeps_its_sign():
    matrix = np.array([[np.nan, 0.1], [-0.3, 0.2]])
    assert captions.largest_cell(matrix, ("a", "b"), "difference") == 'Largest difference: −0.30, from "b" to "a".'
    assert "own: 0.0000003, from" in captions.largest_cell(matrix * 1e-6, ("a", "b"), "difference to the model's own")


def test_the_surest_word_of_a_map():
    frame = pd.DataFrame({"word": ["a", "b"], "attends most to": ["b", "[SEP]"], "weight": [0.4, 0.9]})
    assert (
        captions.surest_word(frame, "Rollout")
        == 'Rollout: of the words, "b" gives the largest weight, 0.90 to "[SEP]".'
    )
    assert "no word" in captions.surest_word(frame[:0], "Rollout")


def test_hidden_weight_names_each_sentence():
    assert "12 % in A, 68 % in B of the weight" in captions.hidden_weight({"A": 0.12, "B": 0.68})


@pytest.mark.parametrize("swapped", [False, True])
def test_weight_difference_says_the_largest_of_all_and_the_words_own(sides, swapped):
    first, second = reversed(sides.values() if swapped else list(sides.values())[::-1])
    pair = compare_sentences(*((e, word.positions) for e, word, _ in (first, second)), LAYER, HEAD)
    text = captions.weight_difference(pair)
    # Matched are [CLS], a, crane, the, the full stop and [SEP], each one token here.
    cells = {}
    for query in pair.labels:
        for key in pair.labels:
            a, b = (_cell(side, query, key) for side in (first, second))
            if a is not None and b is not None:
                cells[query.casefold(), key.casefold()] = a - b
    (query, key), value = max(cells.items(), key=lambda cell: abs(cell[1]))
    sign = "+" if value > 0 else "−"
    assert f"Largest difference: {sign}{abs(value):.2f}, from" in text
    assert f'from "{query}" to "{key}"' in text.casefold()
    assert f"gets more in {'A' if value > 0 else 'B'}." in text
    own = {key: value for (query, key), value in cells.items() if query == "crane"}
    top = max(own, key=lambda key: abs(own[key]))
    sign = "+" if own[top] > 0 else "−"
    assert (
        f'"crane" itself differs most in what it gives "{top}" ({sign}{abs(own[top]):.2f})'.casefold()
        in text.casefold()
    )
    a, b = pair.matched_weight
    assert f"take {100 * a:.0f} % of the weight in A and {100 * b:.0f} % in B" in text
    even_a, even_b = (
        1 / (len(encoding.words) + 2) for encoding, *_ in (first, second)
    )  # [CLS] and [SEP] are columns, too
    assert even_a != even_b
    assert f"weights fall as 1/n: an even one would be {even_a:.2f} in A and {even_b:.2f} in B; " in text
    assert f"{even_a - even_b:+.2f} of a difference can be length alone".replace("-", "−") in text


def _cell(side, query, key):
    encoding, _, weights = side
    tokens = [token.casefold() for token in encoding.tokens]
    if query.casefold() not in tokens or key.casefold() not in tokens:
        return None
    return float(weights[tokens.index(query.casefold()), tokens.index(key.casefold())])


def test_a_measure_names_the_heads_with_the_most_and_the_least_and_the_chosen_one():
    frame = heads_frame(
        entropy=torch.tensor([[1.5, 0.25], [2.75, 2.0]]), effect=torch.tensor([[0.01, -0.0316], [0.02, 0.0]])
    )
    text = captions.measure_by_head(frame, "entropy", "bits", "L1 H1")
    assert text.startswith("Entropy: most in L1 H0 (2.75 bits), least in L0 H1 (0.25 bits). L1 H1 has 2.00 bits.")
    text = captions.measure_by_head(frame, "effect", "effect", "L0 H0")
    assert text.startswith("Effect: most in L1 H0 (+0.020), least in L0 H1 (−0.032). L0 H0 has +0.010.")
    assert "L1 H1 has 2.00. Each" in captions.measure_by_head(frame, "entropy", "", "L1 H1")


def test_a_passport_says_the_patterns_that_fit_or_where_most_of_the_weight_goes():
    values = {"previous token": 0.05, "next token": 0.06, "itself": 0.21, "special tokens": 0.4, "punctuation": 0.1}
    text = captions.head_profile(nearest_first({**values, "broad": 0.8}), "L3 H7", "In this sentence")
    assert text == (
        "In this sentence L3 H7 fits no named pattern: 40 % to special tokens and 21 % to the token itself, "
        "the rest elsewhere."
    )
    text = captions.head_profile(
        nearest_first({**values, "next token": 0.5, "broad": 0.91}), "L1 H8", "Over 768 sentences"
    )
    assert text == (
        "Over 768 sentences L1 H8 has an entropy of at least nine tenths of the largest possible (0.91) and "
        "at least half of the weight on the token after (0.50)."
    )


def test_counterparts_name_the_chosen_head_and_the_one_that_moved_most():
    frame = heads_frame(distance=torch.tensor([[0.1, 0.2], [0.45, 0.3]]))
    text = captions.counterparts(frame, "L0 H1")
    assert text.startswith("L0 H1: 0.20 of the weight lies elsewhere in the second; most in L1 H0, 0.45.")


def test_two_checkpoints_over_many_texts():
    heads = {"layer": [0, 0], "head": [0, 1], "distance": [0.1, 0.4], "n": 7, "low": [0.05, 0.3], "high": [0.2, 0.6]}
    frame = named_heads(pd.DataFrame({**heads, "others": [0.5, 0.55]}))
    said = captions.over_texts(frame, "L0 H0")
    assert said.startswith(
        "Over 7 sentences, L0 H0: 0.10 of the weight lies elsewhere (95 %: 0.05 to 0.20); most in L0 H1, 0.40."
    )
    assert "From the other heads of its layer: 0.50. 1 of 2 heads may be as far from their counterpart" in said
    once = named_heads(
        pd.DataFrame({**heads, "n": 1, "low": np.nan, "high": np.nan, "others": np.nan})
    )  # one head a layer
    said = captions.over_texts(once, "L0 H1")
    assert said == "Over 1 sentence, L0 H1: 0.40 of the weight lies elsewhere; most in L0 H1, 0.40."
