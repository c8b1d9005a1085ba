"""Find words among the tokens of every kind of tokeniser."""

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


def reader_of(folder, model, normalizer) -> TextReader:
    backend = tokenizers.Tokenizer(model)
    backend.pre_tokenizer, backend.normalizer = pre_tokenizers.WhitespaceSplit(), normalizer
    saved = PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="[UNK]", mask_token="[MASK]", sep_token="[SEP]", pad_token="[PAD]"
    )
    special = [AddedToken(token, special=True) for token in ("[MASK]", "[SEP]", "[E1]")]
    saved.add_tokens(special, special_tokens=True)
    saved.add_tokens([AddedToken(token, special=False) for token in ("@user", "<url>")])
    saved.save_pretrained(folder)
    model = nn.Module()
    model.get_input_embeddings = lambda: nn.Embedding(len(saved), 2)
    tokenizer = Tokenizer(folder, "mine")
    return TextReader(name="mine", revision=None, max_tokens=512, device="cpu", model=model, tokenizer=tokenizer)


def vocabulary(*pieces: str) -> dict[str, int]:
    return {piece: at for at, piece in enumerate(dict.fromkeys(["[UNK]", "[PAD]", *pieces]))}


@pytest.fixture(scope="module")
def at_spaces(tmp_path_factory):
    """Return a `TextReader` that splits texts only at spaces."""
    model = models.WordLevel(vocabulary(*WHOLE.split()), "[UNK]")
    return reader_of(tmp_path_factory.mktemp("spaces"), model, normalizers.NFC())


@pytest.fixture(scope="module")
def by_characters(tmp_path_factory):
    """Return a `TextReader` whose tokens are the single characters and the two pairs 银行 and 在银."""
    letters = "abcdefghijklmnopqrstuvwxyzT[]@<>/1,.我去取钱银行在河边中国很大ธนาครฉไปน"
    model = models.BPE(vocabulary(*letters, "银行", "在银"), [("银", "行"), ("在", "银")], unk_token="[UNK]")
    return reader_of(tmp_path_factory.mktemp("characters"), model, normalizers.Replace("\u200b", ""))


def test_several_words_in_one_token_are_found(at_spaces):
    tokens = at_spaces.tokenize(WHOLE)
    assert [word.text for word in tokens.words] == WHOLE.split()
    where = {"1": (6,), "000": (6,), "1,000": (6,), "24/7": (8,), "7": (8,), "5": (4,), "$5": (4,), "COM": (12,)}
    for name, positions in where.items():
        assert [place.positions for place in tokens.places(name)] == [positions], name
    assert [place.positions for place in tokens.places("river")] == [(10,), (11,)]
    assert [place.word.text for place in at_spaces.locate(WHOLE, "river")] == ["/river", "river"]
    assert [place.word.at for place in at_spaces.locate(WHOLE, "/river")] == [WHOLE.index("/river")]
    assert not tokens.places("the bank") and not tokens.places("iver")
    with pytest.raises(TextError, match=r"Expected one word, got '\$6' \(2 words or symbols\)"):
        at_spaces.locate(WHOLE, "$6")


def test_equivalent_spellings_are_found(at_spaces):
    tokens = at_spaces.tokenize(WHOLE)
    for name in ("cafe\u0301", "CAFÉ", "caf\u00adé"):
        assert [place.word.text for place in tokens.places(name)] == ["café"]
    for name in ("istanbul’t", "İSTANBUL't", "i\u0307stanbulʼt"):
        assert [place.word.text for place in tokens.places(name)] == ["İstanbul't"]
    assert [place.word.text for place in tokens.places("😡")] == ["😡"]
    assert [place.word.text for place in at_spaces.tokenize("cafe\u0301 bank").places("café")] == ["cafe\u0301"]


def test_invisible_characters_do_not_split_words(by_characters, encoder):
    for reader in (by_characters, encoder):
        for text in ("the ban\u200bk is", "the \u200bbank is"):
            (place,) = reader.locate(text, "bank")
            assert (place.word.text.replace("\u200b", ""), place.number) == ("bank", 1)
    assert [word.text for word in encoder.tokenize("ban\u00adk an\x07d").words] == ["ban\u00adk", "an\x07d"]


def test_added_tokens_are_not_split(at_spaces, by_characters):
    for reader in (at_spaces, by_characters):
        tokens = reader.tokenize("The [MASK] bank[SEP] @user [E1]bank <url> river")
        added = {token: special for token, special in zip(tokens.tokens, tokens.special) if token[0] in "[@<"}
        assert added == {"[MASK]": True, "[SEP]": True, "@user": False, "[E1]": True, "<url>": False}
        assert [word.text for word in tokens.words] == ["The", "bank", "@user", "bank", "<url>", "river"]
        assert all(tokens.special[p] is False for word in tokens.words for p in word.positions)
        assert not tokens.places("MASK") and not tokens.places("E1")
        assert [place.word.text for place in tokens.places("user")] == ["@user"]
        assert len(tokens.places("bank")) == 2


def test_unknown_token_is_not_special(at_spaces):
    tokens = at_spaces.tokenize("The [UNK] strange river")
    assert tokens.special == (False,) * 4 and tokens.unknown == {1, 2}
    assert [word.label for word in tokens.words] == ["The", "[UNK] [UNK]", "strange [UNK]", "river"]
    assert "doesn't know 'strange'" in tokens.why_unknown("strange") and not tokens.places("strange")


def test_word_is_found_in_text_without_spaces(by_characters):
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


def test_word_inside_longer_token_is_found(by_characters):
    # 在银 is one token.
    (place,) = by_characters.locate("在银河", "银")
    assert (place.positions, place.word.text) == ((0,), "在银")


def test_rarest_first_returns_shared_chinese_characters(by_characters):
    first, second = map(by_characters.tokenize, ("在银河", "中国银行"))
    assert rarest_first(first, second) == ["银"]
    assert rarest_first(by_characters.tokenize("在银 abc"), by_characters.tokenize("银行 abd")) == ["银"]
    assert rarest_first(by_characters.tokenize("abc"), by_characters.tokenize("abd")) == []


def test_unknown_chinese_word_is_not_found(encoder):
    assert encoder.tokenize(CHINESE[0]).places("银行") == ()
    with pytest.raises(TextError, match="doesn't know '银'"):
        encoder.locate(CHINESE[0], "银行")
    assert [place.word.text for place in encoder.locate(CHINESE[2], "中国")] == ["中国"]
