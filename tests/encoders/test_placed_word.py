"""Test PlacedWord, a word at its place in a sentence."""

import re

import pytest
import torch

from selfattn import TextError, notebook
from selfattn.analysis.word_map import places
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import labelled_sentences
from selfattn.lessons.encoded_words import first_word
from selfattn.senses import check_rows
from selfattn.words import shared_words

TEXT = "The bank by the river bank."


def test_places_finds_every_occurrence(encoder):
    first, second = encoder.encode(TEXT).places("BANK")
    assert (first.word.text, first.positions, first.number, second.number) == ("bank", (2,), 1, 2)
    assert (second.rows, second.word.at) == (slice(6, 7), TEXT.rindex("bank"))
    assert second.key == encoder.locate(TEXT, "bank")[1].key == (TEXT, None, (6,))
    assert encoder.placed((TEXT, 2)).key == encoder.placed((TEXT, (2,))).key == first.key


def test_unpatched_encoding_is_reused(encoder):
    encoding = encoder.encode(TEXT)
    assert encoder.encoded(encoding.places("river")[0]) is encoding
    patched = encoder.encode(TEXT, patches=encoder.removed([(0, 0)]))
    assert encoder.encoded(patched.places("river")[0]).patches == ()


def test_tokens_with_padding_or_of_other_tokeniser_are_refused(encoder, encoder_of):
    padded = encoder.encode(TEXT, pad_to=12)
    for text in (encoder_of("BERT").tokenize(TEXT), padded):
        for call in (encoder.encode, lambda tokens: encoder.placed(PlacedWord(tokens, (1,)))):
            with pytest.raises(ValueError, match="tokeniser, without padding"):
                call(text)
    with pytest.raises(IndexError, match="positions from 0 to 8"):
        encoder.placed((TEXT, (9,)))


GLUED = "The bank🏦 of the river, and a bank."


def test_label_says_that_word_is_unknown(encoder, encoder_of):
    """The tokeniser reads both "bank🏦" and "loan🏦" as [UNK]."""
    encoding, other = encoder.encode(GLUED), encoder.encode(GLUED.replace("bank🏦", "loan🏦"))
    assert torch.equal(encoding.hidden, other.hidden)
    assert encoding.unknown == {2} and encoding.tokens[2] == "[UNK]"
    assert [word.label for word in encoding.words][:3] == ["The", "bank🏦 [UNK]", "of"]
    assert places(encoding).labels[2] == "bank🏦 [UNK]" and places(encoding, words=False).labels[2] == "[UNK]"
    assert [place.positions for place in encoding.places("bank")] == [(9,)]  # only the known word
    assert "loan" not in shared_words(other.words, encoder.encode("A loan.").words)
    # XLM-R's tokeniser returns an unknown word's spelling as the token; RoBERTa's tokeniser knows every word.
    assert encoder_of("XLM-R").tokenize("naïve bank").words[0].label == "naïve <unk>"
    assert not encoder_of("RoBERTa").tokenize(GLUED).unknown and not encoder.tokenize("A naïve swashbuckler.").unknown


def test_error_names_unknown_word(encoder):
    reason = "doesn't know 'bank🏦' and reads it as \\[UNK\\]"
    for call in (
        lambda: encoder.locate(GLUED, "Bank"),
        lambda: encoder.knock_out(GLUED, "bank", heads=[(0, 0)]),
        lambda: notebook.two_sentences(encoder, GLUED.partition(",")[0], "The bank.", "bank", layer=0, head=0),
        lambda: first_word(encoder.encode(GLUED.partition(",")[0]), "bank"),
    ):
        with pytest.raises(ValueError, match=reason):
            call()
    with pytest.raises(TextError, match="doesn't know '🏦bank' and reads"):
        encoder.locate("A 🏦bank.", "bank")  # no other token contains the word
    assert encoder.encode("A 🏦 bank and a $ bank.", pair="A 🏦loan.").read_as_unknown() == ["🏦", "🏦loan"]
    frame = labelled_sentences().query("word == 'bank'").reset_index(drop=True)
    frame.loc[3, "sentence"] = frame.loc[3, "sentence"].replace("bank", "bank🏦")
    usable, rejected = check_rows(encoder, frame)
    assert 3 not in usable.index and re.search(reason, rejected["reason"][3]) and len(rejected) == 1


def test_other_words_include_second_occurrence_of_word(encoder):
    bank, again = encoder.tokenize("The bank, a bank.").places("bank")
    assert [(word.text, word.start) for word in bank.others] == [("The", 1), (",", 3), ("a", 4), ("bank", 5), (".", 6)]
    assert [word.start for word in again.others] == [1, 2, 3, 4, 6]
