"""Test right-to-left text."""

from selfattn.charts.labels import drawable_spec, isolated, isolated_words, right_to_left
from selfattn.export import report


def test_right_to_left_words_get_unicode_isolates():
    mixed = 'Hide "נהר", and "בנק" goes 44 % of the way (next: של הנהר, 16 %).'
    alone = 'Hide "\u2068נהר\u2069", and "\u2068בנק\u2069" goes 44 % of the way (next: \u2068של הנהר\u2069, 16 %).'
    assert isolated_words(mixed) == alone
    assert isolated_words(alone) == alone  # a second call changes nothing
    assert isolated_words("البنك 0.44, می\u200cخواهم 0.1") == "\u2068البنك\u2069 0.44, \u2068می\u200cخواهم\u2069 0.1"
    english = 'Hide "river", and "bank" goes −44 % of the way; 银行 0.1.'
    assert isolated_words(english) == english
    assert drawable_spec({"text": "נהר 0.44"}) == {"text": "\u2068נהר\u2069 0.44"}
    assert report.paragraph("נהר 0.44") == '<p class="quiet">\u2068נהר\u2069 0.44</p>'


def test_first_letter_decides_writing_direction():
    assert isolated("הבנק, 5 bank.") == "\u2068הבנק, 5 bank.\u2069" and isolated("The בנק.") == "The בנק."
    assert isolated_words(f"0.31  {isolated('הבנק, 5 שקל.')} (money)") == "0.31  \u2068הבנק, 5 שקל.\u2069 (money)"
    assert [right_to_left(text) for text in ("12 הבנק", "a הבנק", "5 % …", "")] == [True, False, False, False]
