"""A PlacedWord is a word at its place in a sentence. It reuses the sentence's tokens or encoding. Unknown words are refused."""

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


def test_places_returns_each_occurrence_of_a_word_with_its_positions(encoder):
    first, second = encoder.encode(TEXT).places("BANK")
    assert (first.word.text, first.positions, first.number, second.number) == ("bank", (2,), 1, 2)
    assert (second.rows, second.word.at) == (slice(6, 7), TEXT.rindex("bank"))
    assert second.key == encoder.locate(TEXT, "bank")[1].key == (TEXT, None, (6,))
    assert encoder.placed((TEXT, 2)).key == encoder.placed((TEXT, (2,))).key == first.key


def test_an_encoding_is_reused_unless_it_was_patched(encoder):
    encoding = encoder.encode(TEXT)
    assert encoder.encoded(encoding.places("river")[0]) is encoding
    patched = encoder.encode(TEXT, patches=encoder.removed([(0, 0)]))
    assert encoder.encoded(patched.places("river")[0]).patches == ()


def test_padded_tokens_and_tokens_of_another_encoder_are_refused(encoder, encoder_of):
    padded = encoder.encode(TEXT, pad_to=12)
    for text in (encoder_of("BERT").tokenize(TEXT), padded):
        for call in (encoder.encode, lambda tokens: encoder.placed(PlacedWord(tokens, (1,)))):
            with pytest.raises(ValueError, match="tokeniser, without padding"):
                call(text)
    with pytest.raises(IndexError, match="positions from 0 to 8"):
        encoder.placed((TEXT, (9,)))


GLUED = "The bank🏦 of the river, and a bank."


def test_a_word_that_the_tokeniser_does_not_know_is_labelled_and_never_found(encoder, encoder_of):
    """ "bank🏦" and "loan🏦" both become [UNK], so their numbers say nothing about "bank"."""
    encoding, other = encoder.encode(GLUED), encoder.encode(GLUED.replace("bank🏦", "loan🏦"))
    assert torch.equal(encoding.hidden, other.hidden)
    assert encoding.unknown == {2} and encoding.tokens[2] == "[UNK]"
    assert [word.label for word in encoding.words][:3] == ["The", "bank🏦 [UNK]", "of"]
    assert places(encoding).labels[2] == "bank🏦 [UNK]" and places(encoding, words=False).labels[2] == "[UNK]"
    assert [place.positions for place in encoding.places("bank")] == [(9,)]  # only the known word
    assert "loan" not in shared_words(other.words, encoder.encode("A loan.").words)
    # A unigram tokeniser keeps the spelling of unknown words. Byte-level and letter-level tokenisers know every word.
    assert encoder_of("XLM-R").tokenize("naïve bank").words[0].label == "naïve <unk>"
    assert not encoder_of("RoBERTa").tokenize(GLUED).unknown and not encoder.tokenize("A naïve swashbuckler.").unknown


def test_an_error_says_that_the_tokeniser_does_not_know_a_word(encoder):
    reason = "doesn't know 'bank🏦' and reads \\[UNK\\]"
    for call in (
        lambda: encoder.locate(GLUED, "Bank"),
        lambda: encoder.knock_out(GLUED, "bank", heads=[(0, 0)]),
        lambda: notebook.two_sentences(encoder, GLUED.partition(",")[0], "The bank.", "bank", layer=0, head=0),
        lambda: first_word(encoder.encode(GLUED.partition(",")[0]), "bank"),
    ):
        with pytest.raises(ValueError, match=reason):
            call()
    with pytest.raises(TextError, match="doesn't know '🏦bank' and reads"):
        encoder.locate("A 🏦bank.", "bank")  # the word has no other token
    assert encoder.encode("A 🏦 bank and a $ bank.", pair="A 🏦loan.").read_as_unknown() == ["🏦", "🏦loan"]
    frame = labelled_sentences().query("word == 'bank'").reset_index(drop=True)
    frame.loc[3, "sentence"] = frame.loc[3, "sentence"].replace("bank", "bank🏦")
    usable, rejected = check_rows(encoder, frame)
    assert 3 not in usable.index and re.search(reason, rejected["reason"][3]) and len(rejected) == 1


def test_others_includes_further_occurrences_of_the_placed_word(encoder):
    bank, again = encoder.tokenize("The bank, a bank.").places("bank")
    assert [(word.text, word.start) for word in bank.others] == [("The", 1), (",", 3), ("a", 4), ("bank", 5), (".", 6)]
    assert [word.start for word in again.others] == [1, 2, 3, 4, 6]
