"""Test the grouping of tokens into words."""

import itertools
import re

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from selfattn.encoders.families import TOKENIZERS
from selfattn.words import (
    UNITS,
    Word,
    between_groups,
    character_spans,
    fold,
    shared_words,
    split_words,
    to_groups,
    token_groups,
    token_words,
    words_in,
)


def character_tokenizer() -> Tokenizer:
    merges = [("t", "h"), ("th", "e"), ("1", ","), ("/", "r"), ("银", "行")]
    pieces = ["<unk>", *"abcdefghijklmnopqrstuvwxyz0123456789.,/银行河в", *("".join(pair) for pair in merges)]
    model = models.BPE({piece: at for at, piece in enumerate(pieces)}, merges, unk_token="<unk>", fuse_unk=True)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


BACKENDS = {kind: make().backend_tokenizer for kind, make in TOKENIZERS.items()} | {"characters": character_tokenizer()}

# Texts that people paste, in many scripts.
SPELLED = (
    "river bank The didn't well-known naïve İstanbul ﬁ ß Ω 河 岸 ไทย हिन्दी عربي 42 ½ ₂ . , ' - -- ’ … “ $ _ ## Ġ ▁ "
    "[CLS] <s> 😀 ❤️ 👩\u200d🚀 \ufffd e\u0301 \u0301 می\u200cخواهم 1,000 /river 24/7 .com 👍🏽 🇩🇪 1️⃣ река "
    "בנק நதி 은행 银行在河边 ラーメン ναός ban\u200bk ban\u00adk \ue000"
)
BETWEEN = [" ", "  ", "\n", "\t", "\u00a0", "\u200b", "\x00", "\x85"]
PIECES = st.sampled_from([*SPELLED.split(" "), *BETWEEN])
TEXTS = st.lists(PIECES | st.characters(exclude_categories=["Cs"]), max_size=12).map("".join)

WHITE = re.compile(r"[^\S\x1c-\x1f]")  # Python's \s also matches four control characters
in_any_time = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines may be busy


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
        ("👍🏽🇩🇪🇫🇷 👩\u200d🚀 ☹ 1️⃣©", ["👍🏽", "🇩🇪", "🇫🇷", "👩\u200d🚀", "☹", "1️⃣", "©"]),
        ("a\u00a0b\u200bc\x00d\u00ade", ["a", "b\u200bc\x00d\u00ade"]),
        ("\ufeffThe bank\u200b. \u200b", ["\ufeffThe", "bank\u200b", ".", "\u200b"]),
        ("abc银行 2023年 ラーメンです ภาษาไทย", ["abc", "银行", "2023", "年", "ラーメンです", "ภาษาไทย"]),
        ("a \u0301b \u0301", ["a", "\u0301b", "\u0301"]),  # combining marks after white space
        (" \n\t", []),
        ("", []),
    ],
)
def test_character_spans_split_text_into_words(text, words):
    assert words_of(text) == words


@given(TEXTS)
@in_any_time
def test_words_cover_all_but_white_space(text):
    for spans in (character_spans(text), [unit.span() for unit in UNITS.finditer(text)]):
        covered = [at for start, stop in spans for at in range(start, stop)]
        assert covered == [at for at, character in enumerate(text) if not WHITE.fullmatch(character)]


@pytest.mark.parametrize("kind", BACKENDS)
@given(text=TEXTS)
@in_any_time
@pytest.mark.slow
def test_tokens_of_any_text_are_grouped_into_words(kind, text):
    found = BACKENDS[kind].encode(text)
    words = token_words(text, found.offsets, found.special_tokens_mask)
    assert all(text[slice(*word.span)] == word.text for word in words)
    assert all(one.span[1] <= other.span[0] and one.stop <= other.start for one, other in itertools.pairwise(words))
    read = set()
    for position, ((start, stop), special) in enumerate(zip(found.offsets, found.special_tokens_mask)):
        characters = {at for at in range(start, stop) if not WHITE.fullmatch(text[at])} if not special else set()
        owners = [word for word in words if position in word.positions]
        assert len(owners) == bool(characters)
        assert all(characters <= {*range(*word.span)} for word in owners)
        read |= characters
    # Each match of UNITS lies in one word, or in none if no token covers the match.
    for start, stop in (unit.span() for unit in UNITS.finditer(text)):
        holders = [word for word in words if word.at <= start and stop <= word.span[1]]
        assert len(holders) == (not read.isdisjoint(range(start, stop)))
    n = len(found.ids)
    if n == 0:
        return
    weights = torch.rand(2, n, n, generator=torch.Generator().manual_seed(n)).softmax(-1)
    groups = token_groups(n, words)
    assert [position for group in groups for position in group] == list(range(n))
    torch.testing.assert_close(between_groups(weights, groups, groups).sum(-1), torch.ones(2, len(groups)))


@pytest.mark.parametrize(
    "same",
    [
        ("café", "cafe\u0301", "CAFÉ", "CAFE\u0301"),
        ("İstanbul", "I\u0307stanbul", "istanbul", "ISTANBUL", "i\u0307stanbul"),
        ("didn't", "didn’t", "Didnʼt"),
        ("well-known", "well\u2011known", "well\u2010known"),
        ("bank", "ban\u200bk", "ban\u00adk", "ban\x07k", "\ufeffbank", "Bank\u2060"),
        ("Straße", "STRASSE"),
        ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"),
        ("❤", "❤️"),
    ],
)
def test_fold_makes_equivalent_spellings_equal(same):
    assert len({fold(text) for text in same}) == 1


def test_fold_keeps_different_words_apart():
    assert len({fold(text) for text in ("cafe", "café", "ı", "i", "x²", "x2", "its", "it's")}) == 8


def test_words_in_finds_words_of_any_script():
    wanted = ("bank", "银行", "i̇stanbul", "river")
    assert words_in("The Bank in İSTANBUL, the a/river", tuple(map(fold, wanted))) == ("bank", "istanbul", "river")
    assert [words_in(text, ["银行"]) for text in ("我去银行取钱", "银行在河边", "中国银行很大")] == [("银行",)] * 3
    assert words_in("The bankers of 银 行", ("bank", "银行")) == ()
    assert words_in("ฉันไปธนาคาร", ["ธนาคาร"]) == ("ธนาคาร",)


def test_word_label_keeps_control_characters():
    assert Word("\x1d", 0, 1).label == "\x1d" and Word("bank", 0, 1, unknown="[UNK]").label == "bank [UNK]"


def test_emoji_are_words_but_symbols_are_not():
    assert split_words("I am 😡, 👩\u200d🚀 ☹ © — 5 $ \u200b 🇩🇪") == ("I", "am", "😡", "👩\u200d🚀", "☹", "5", "🇩🇪")
    assert [Word(text, 0, 1).is_punctuation for text in ("😡", "$5", "#️⃣", "\u3164", "$", "™")] == [
        False, False, False, True, True, True
    ]  # fmt: skip


def test_between_groups_sums_columns_and_averages_rows():
    # "riverbank" has the positions 1 and 2.
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
def test_every_tokeniser_gives_same_words(kind, tokens, spans):
    text = "The riverbank 河."
    found = BACKENDS[kind].encode(text)
    assert found.tokens == tokens
    words = token_words(text, found.offsets, found.special_tokens_mask)
    assert [word.text for word in words] == ["The", "riverbank", "河", "."]
    assert [(word.start, word.stop) for word in words] == spans


def test_words_that_share_token_are_merged():
    text = "The bank lent $5 of 1,000 in a/river 24/7 .com"
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == " ")]
    offsets = [(start, stop - 1) for start, stop in zip(starts, [*starts[1:], len(text) + 1])]
    words = token_words(text, offsets, [False] * 10)
    assert [word.text for word in words] == text.split()
    assert [(word.start, word.stop, word.at) for word in words] == [(n, n + 1, at) for n, at in enumerate(starts)]
    # Two tokens overlap in "/", so their text is one word.
    assert token_words("of the/of it", [(0, 7), (6, 9), (10, 12)], [False] * 3) == [
        Word("of the/of", 0, 2), Word("it", 2, 3)
    ]  # fmt: skip


def test_shared_words_are_spelled_as_in_first_sentence():
    first = [Word("The", 0, 1), Word("Bank", 1, 2), Word(",", 2, 3), Word("riverbank", 3, 5)]
    second = [Word("bank", 0, 1), Word(",", 1, 2), Word("THE", 2, 3)]
    assert shared_words(first, second) == ["Bank", "The"]  # a comma is no word
    assert shared_words([Word("a/river", 0, 1)], [Word("River", 0, 1)]) == ["river"]  # a part of the word
    assert shared_words([Word("a/river", 0, 1)], [Word("A/River", 0, 1)]) == ["a/river"]
    assert shared_words([Word("cafe\u0301", 0, 1)], [Word("Café", 0, 1)]) == ["cafe\u0301"]
    assert shared_words([Word("😡", 0, 1), Word("$", 1, 2)], [Word("😡", 0, 1), Word("$", 1, 2)]) == ["😡"]
