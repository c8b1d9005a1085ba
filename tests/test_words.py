"""Words and word pieces: examples in many scripts, and properties that hold for any text and any tokeniser."""

import unicodedata

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selfattn.encoders.families import TOKENIZERS
from selfattn.words import Word, between_groups, character_spans, shared_words, to_groups, token_groups, token_words

BACKENDS = {kind: make().backend_tokenizer for kind, make in TOKENIZERS.items()}

# Letters of many scripts, marks, digits, joiners, punctuation, emoji, white space and controls: what people paste.
SPELLED = (
    "river bank The didn't well-known naïve İstanbul ﬁ ß Ω 河 岸 ไทย हिन्दी عربي 42 ½ ₂ . , ' - -- ’ … “ $ _ ## Ġ ▁ "
    "[CLS] <s> 😀 ❤️ 👩\u200d🚀 \ufffd e\u0301 \u0301 می\u200cخواهم"
)
BETWEEN = [" ", "  ", "\n", "\t", "\u00a0", "\u200b", "\x00", "\x85"]
PIECES = st.sampled_from([*SPELLED.split(" "), *BETWEEN])
TEXTS = st.lists(PIECES | st.characters(exclude_categories=["Cs"]), max_size=12).map("".join)

in_any_time = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a machine may be busy


def words_of(text: str) -> list[str]:
    return [text[start:stop] for start, stop in character_spans(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The bank of the river.", ["The", "bank", "of", "the", "river", "."]),
        ("She didn't; it's well-known!", ["She", "didn't", ";", "it's", "well-known", "!"]),
        ("'quoted' - and dashed-", ["'", "quoted", "'", "-", "and", "dashed", "-"]),
        ("co-‑op rock-'n'-roll", ["co", "-", "‑", "op", "rock", "-", "'", "n", "'", "-", "roll"]),
        ("3.14 ½ x₂", ["3", ".", "14", "½", "x₂"]),
        ("cafe\u0301 हिन्दी", ["cafe\u0301", "हिन्दी"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("I ❤️ 😀😀", ["I", "❤️", "😀", "😀"]),
        ("a\u00a0b\u200bc\x00d", ["a", "b", "c", "d"]),
        ("a \u0301b \u0301", ["a", "\u0301b", "\u0301"]),  # a mark that follows nothing visible
        (" \n\t", []),
        ("", []),
    ],
)
def test_the_rule_in_examples(text, words):
    assert words_of(text) == words


@given(TEXTS)
@in_any_time
def test_every_visible_character_is_in_one_word(text):
    spans = character_spans(text)
    assert all(start < stop for start, stop in spans)
    for at, character in enumerate(text):
        times = sum(start <= at < stop for start, stop in spans)
        visible = unicodedata.category(character)[0] not in "CZ" and not character.isspace()
        assert times == 1 if visible else times <= (not character.isspace())


@pytest.mark.parametrize("kind", BACKENDS)
@given(text=TEXTS)
@in_any_time
@pytest.mark.slow
def test_tokens_go_to_the_first_word_they_reach_and_pooled_rows_still_sum_to_one(kind, text):
    found = BACKENDS[kind].encode(text)
    words = token_words(text, found.offsets, found.special_tokens_mask)
    # The same by brute force, from the definition: a token belongs to the first word that shares a character with it.
    expected: dict[int, list[int]] = {}
    spans = character_spans(text)
    for position, ((start, stop), special) in enumerate(zip(found.offsets, found.special_tokens_mask)):
        reached = [i for i, (first, last) in enumerate(spans) if max(first, start) < min(last, stop)]
        if reached and not special:
            expected.setdefault(reached[0], []).append(position)
    assert [(word.text, list(word.positions)) for word in words] == [
        (text[slice(*spans[i])], positions) for i, positions in expected.items()
    ]
    n = len(found.ids)
    weights = torch.rand(2, n, n, generator=torch.Generator().manual_seed(n)).softmax(-1)
    groups = token_groups(n, words)
    assert [position for group in groups for position in group] == list(range(n))
    torch.testing.assert_close(between_groups(weights, groups, groups).sum(-1), torch.ones(2, len(groups)))


def test_pooling_by_hand():
    # "riverbank" is positions 1 and 2: to it the sum, from it the mean.
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [0.3, 0.3, 0.4]])
    groups = token_groups(3, [Word("riverbank", 1, 3)])
    assert groups == [(0,), (1, 2)]
    torch.testing.assert_close(between_groups(weights, groups, groups), torch.tensor([[0.1, 0.9], [0.4, 0.6]]))
    torch.testing.assert_close(between_groups(weights, [(1, 2)], [(2,), (0,)]), torch.tensor([[0.325, 0.4]]))
    torch.testing.assert_close(to_groups(weights[0], [(0, 2), (1,)]), torch.tensor([0.8, 0.2]))
    assert to_groups(weights, []).shape == (3, 0)
    assert token_groups(3, []) == [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    ("kind", "tokens", "spans"),
    [
        ("wordpiece", ["[CLS]", "the", "river", "##bank", "[UNK]", ".", "[SEP]"], [(1, 2), (2, 4), (4, 5), (5, 6)]),
        ("bytes", ["<s>", "The", "Ġriver", "b", "ank", "Ġ", "æ", "²", "³", ".", "</s>"],
         [(1, 2), (2, 5), (6, 9), (9, 10)]),
        ("unigram", ["<s>", "▁The", "▁river", "bank", "▁", "河", ".", "</s>"], [(1, 2), (2, 4), (4, 6), (6, 7)]),
    ],
)  # fmt: skip
def test_each_kind_of_tokeniser(kind, tokens, spans):
    text = "The riverbank 河."
    found = BACKENDS[kind].encode(text)
    assert found.tokens == tokens
    words = token_words(text, found.offsets, found.special_tokens_mask)
    assert [word.text for word in words] == ["The", "riverbank", "河", "."]
    assert [(word.start, word.stop) for word in words] == spans


def test_finding_and_sharing():
    first = [Word("The", 0, 1), Word("Bank", 1, 2), Word(",", 2, 3), Word("riverbank", 3, 5)]
    second = [Word("bank", 0, 1), Word(",", 1, 2), Word("THE", 2, 3)]
    assert shared_words(first, second) == ["Bank", "The"]  # longest first; a comma is no word to compare
