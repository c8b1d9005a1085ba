"""The senses of the nearest sentences in words, and of a word that nobody has labelled."""

import pandas as pd

from selfattn.captions.nearest_sentences import nearest, no_sentences


def ranked(*rows):
    return pd.DataFrame(rows, columns=["sense", "cosine"])


def test_the_senses_of_the_nearest_sentences_state_by_state():
    before = ranked(("river", 1.0), ("money", 1.0), ("river", 0.99995), ("money", 0.99990), ("river", 0.9))
    after = ranked(("river", 0.9), ("river", 0.8), ("river", 0.7), ("money", 0.69))
    assert nearest({"alone": before, "in its sentence": after}) == (
        "Senses of the three nearest: alone 2 of river and 1 of money (1 more is as near); "
        "in its sentence all three of river."
    )
    assert "(2 more are as near)" in nearest({"x": ranked(*[("river", 1.0)] * 5)})


def test_a_word_without_labelled_sentences():
    assert no_sentences("gnome") == (
        'There are no labelled sentences of "gnome", so what its vectors mean can\'t be said in words.'
    )
