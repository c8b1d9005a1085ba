"""Words in a sentence as tokenisers really cut it: several words in a token, added tokens, scripts without spaces, emoji."""

import pytest
import tokenizers
from tokenizers import AddedToken, models, normalizers, pre_tokenizers
from torch import nn
from transformers import PreTrainedTokenizerFast

from selfattn.analysis.compare import rarest_first
from selfattn.encoders.errors import TextError
from selfattn.encoders.text_reader import TextReader
from selfattn.encoders.tokenizer import Tokenizer

WHOLE = "The the bank lent $5 of 1,000 in 24/7 a /river river .com café İstanbul't 😡"
CHINESE = ["我去银行取钱", "银行在河边", "中国银行很大"]


def reader_of(
    folder, tokenizer: tokenizers.Tokenizer, special=("[MASK]", "[SEP]", "[E1]"), added=("@user", "<url>")
) -> TextReader:
    """A reader with this tokeniser, saved and loaded as an encoder's is."""
    own = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", mask_token="[MASK]", sep_token="[SEP]", pad_token="[PAD]"
    )
    own.add_tokens([AddedToken(token, special=True) for token in special], special_tokens=True)
    own.add_tokens([AddedToken(token, special=False) for token in added])
    own.save_pretrained(folder)
    model = nn.Module()
    model.get_input_embeddings = lambda: nn.Embedding(len(own), 2)
    tokens = Tokenizer(folder, "mine")
    return TextReader(name="mine", revision=None, max_tokens=512, device="cpu", model=model, tokenizer=tokens)


def tokenizer_of(pieces: list[str], pre=None, merges=()) -> tokenizers.Tokenizer:
    vocab = {piece: at for at, piece in enumerate(dict.fromkeys(["[UNK]", "[PAD]", *pieces]))}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab, list(merges), unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre or pre_tokenizers.WhitespaceSplit()
    return tokenizer


@pytest.fixture(scope="module")
def at_spaces(tmp_path_factory):
    """Reads whatever is between two spaces as one token."""
    tokenizer = tokenizers.Tokenizer(
        models.WordLevel({piece: at for at, piece in enumerate(["[UNK]", "[PAD]", *WHOLE.split()])}, "[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.normalizer = normalizers.NFC()
    return reader_of(tmp_path_factory.mktemp("spaces"), tokenizer)


@pytest.fixture(scope="module")
def by_characters(tmp_path_factory):
    """Reads a character at a time, but 银行 and 在银 as one token each, and drops what can't be seen."""
    letters = "abcdefghijklmnopqrstuvwxyzT[]@<>/1,.我去取钱银行在河边中国很大ธนาครฉไปน"
    tokenizer = tokenizer_of([*letters, "银行", "在银"], merges=[("银", "行"), ("在", "银")])
    tokenizer.normalizer = normalizers.Replace("\u200b", "")
    return reader_of(tmp_path_factory.mktemp("characters"), tokenizer)


def test_a_token_of_several_parts_is_one_word_found_by_each(at_spaces):
    tokens = at_spaces.tokenize(WHOLE)
    assert [word.text for word in tokens.words] == WHOLE.split()
    where = {"1": (6,), "000": (6,), "1,000": (6,), "24/7": (8,), "7": (8,), "5": (4,), "$5": (4,), "COM": (12,)}
    assert {name: [place.positions for place in tokens.places(name)] for name in where} == {
        name: [positions] for name, positions in where.items()
    }
    assert [place.positions for place in tokens.places("river")] == [(10,), (11,)]
    assert [place.word.text for place in at_spaces.locate(WHOLE, "river")] == ["/river", "river"]
    assert [place.word.at for place in at_spaces.locate(WHOLE, "/river")] == [WHOLE.index("/river")]
    assert not tokens.places("the bank") and not tokens.places("iver")
    with pytest.raises(TextError, match=r"Expected one word, got '\$6' \(2 words or signs\)"):
        at_spaces.locate(WHOLE, "$6")


def test_a_word_is_found_by_any_spelling_of_it(at_spaces):
    tokens = at_spaces.tokenize(WHOLE)
    for name in ("cafe\u0301", "CAFÉ", "caf\u00adé"):
        assert [place.word.text for place in tokens.places(name)] == ["café"]
    for name in ("istanbul’t", "İSTANBUL't", "i\u0307stanbulʼt"):
        assert [place.word.text for place in tokens.places(name)] == ["İstanbul't"]
    assert [place.word.text for place in tokens.places("😡")] == ["😡"]
    assert [place.word.text for place in at_spaces.tokenize("cafe\u0301 bank").places("café")] == ["cafe\u0301"]


def test_unseen_characters_do_not_cut_a_word(by_characters, encoder):
    for reader in (by_characters, encoder):
        for text in ("the ban\u200bk is", "the \u200bbank is"):
            (place,) = reader.locate(text, "bank")
            assert (place.word.text.replace("\u200b", ""), place.number) == ("bank", 1)
    assert [word.text for word in encoder.tokenize("ban\u00adk an\x07d").words] == ["ban\u00adk", "an\x07d"]


def test_added_tokens_in_a_text_are_whole_and_special_by_their_ids(at_spaces, by_characters):
    for reader in (at_spaces, by_characters):
        tokens = reader.tokenize("The [MASK] bank[SEP] @user [E1]bank <url> river")
        own = {token: out for token, out in zip(tokens.tokens, tokens.special) if len(token) > 3 and token != "bank"}
        own.pop("river", None)
        assert own == {"[MASK]": True, "[SEP]": True, "@user": False, "[E1]": True, "<url>": False}
        assert [word.text for word in tokens.words] == ["The", "bank", "@user", "bank", "<url>", "river"]
        assert all(tokens.special[p] is False for word in tokens.words for p in word.positions)
        assert not tokens.places("MASK") and not tokens.places("E1")
        assert [place.word.text for place in tokens.places("user")] == ["@user"]
        assert len(tokens.places("bank")) == 2


def test_what_is_unknown_is_no_special_token(at_spaces):
    tokens = at_spaces.tokenize("The [UNK] strange river")
    assert tokens.special == (False,) * 4 and tokens.unknown == {1, 2}
    assert [word.label for word in tokens.words] == ["The", "[UNK] [UNK]", "strange [UNK]", "river"]
    assert "doesn't know 'strange'" in tokens.why_unknown("strange") and not tokens.places("strange")


def test_in_a_script_without_spaces_a_word_is_the_run_of_tokens_that_spells_it(by_characters):
    places = [by_characters.locate(text, "银行") for text in CHINESE]
    assert [[place.positions for place in each] for each in places] == [[(2,)], [(0,)], [(2,)]]
    assert [word.text for word in places[0][0].others] == ["我", "去", "取", "钱"]
    (named,) = by_characters.locate(CHINESE[2], "中国")
    assert (named.positions, named.word.text, named.number, named.word.at) == ((0, 1), "中国", 1, 0)
    assert [word.text for word in named.others] == ["银行", "很", "大"]
    assert [place.positions for place in by_characters.tokenize("行行行行行").places("行行")] == [(0, 1), (2, 3)]
    (thai,) = by_characters.locate("ฉันไปธนาคาร", "ธนาคาร")
    assert thai.word.text == "ธนาคาร" and len(thai.positions) == 6
    assert not by_characters.tokenize("银 行").places("银行")


def test_a_token_that_reaches_over_the_named_word_belongs_to_its_place(by_characters):
    # 在银 is one token: 银 has no place of its own.
    (place,) = by_characters.locate("在银河", "银")
    assert (place.positions, place.word.text) == ((0,), "在银")


def test_sentences_that_share_no_token_offer_the_run_they_share(by_characters):
    first, second = map(by_characters.tokenize, ("在银河", "中国银行"))
    assert rarest_first(first, second) == ["银"]
    assert rarest_first(by_characters.tokenize("在银 abc"), by_characters.tokenize("银行 abd")) == ["银"]
    assert rarest_first(by_characters.tokenize("abc"), by_characters.tokenize("abd")) == []


def test_a_run_with_an_unknown_piece_is_no_place(encoder):
    assert encoder.tokenize(CHINESE[0]).places("银行") == ()
    with pytest.raises(TextError, match="doesn't know '银'"):
        encoder.locate(CHINESE[0], "银行")
    assert [place.word.text for place in encoder.locate(CHINESE[2], "中国")] == ["中国"]
