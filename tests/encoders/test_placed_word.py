"""A text that was read is passed on: it isn't read or run again, and not by an encoder that didn't read it."""

import pytest

from selfattn import Encoder
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import labelled_sentences
from selfattn.senses import interchange, removal, separation

TEXT = "The bank by the river bank."


def test_a_word_where_it_stands_knows_its_number_its_rows_and_what_it_is_kept_by(encoder):
    first, second = encoder.encode(TEXT).places("BANK")
    assert (first.word.text, first.positions, first.number, second.number) == ("bank", (2,), 1, 2)
    assert (second.rows, second.first_character) == (slice(6, 7), TEXT.rindex("bank"))
    assert second.key == encoder.locate(TEXT, "bank")[1].key == (TEXT, None, (6,))
    assert encoder.placed((TEXT, 2)).key == encoder.placed((TEXT, (2,))).key == first.key


def test_what_was_run_is_passed_on_and_what_was_patched_is_run_again(encoder):
    encoding = encoder.encode(TEXT)
    assert encoder.encoded(encoding.places("river")[0]) is encoding
    patched = encoder.encode(TEXT, patches=encoder.removed([(0, 0)]))
    assert encoder.encoded(patched.places("river")[0]).patches == ()


def test_what_another_encoder_read_or_what_is_padded_is_refused(encoder, encoder_of):
    padded = encoder.encode(TEXT, pad_to=12)
    for text in (encoder_of("BERT").tokenize(TEXT), padded):
        for call in (encoder.encode, lambda own: encoder.placed(PlacedWord(own, (1,)))):
            with pytest.raises(ValueError, match="has read, whole and without padding"):
                call(text)
    with pytest.raises(IndexError, match="positions from 0 to 8"):
        encoder.placed((TEXT, (9,)))


@pytest.mark.slow
@pytest.mark.parametrize("report", [interchange, removal, lambda *given: separation(*given, floor=False)])
def test_the_senses_read_each_sentence_once(encoder, monkeypatch, report):
    read, tokenize, frame = [], Encoder.tokenize, labelled_sentences().query("word == 'bank'")
    frame = frame.groupby("sense").head(4)

    def counted(self, text, pair=None):
        read.extend([text] if isinstance(text, str) else [])
        return tokenize(self, text, pair)

    monkeypatch.setattr(Encoder, "tokenize", counted)
    report(encoder, frame)
    assert sorted(read) == sorted(frame["sentence"])
