"""Test the choice of labelled sentences for a word's senses, and the cache keys of their results."""

import pandas as pd
import pytest

from selfattn.dashboard import answer, session
from selfattn.examples import labelled_sentences


@pytest.fixture
def upload(monkeypatch):
    """Return a function that sets the session of a visitor who has uploaded this table."""

    def uploaded(table):
        monkeypatch.setattr(session.st, "session_state", {session.TABLE_READ: ("id", table, None, "digest")})

    return uploaded


def own(*senses):
    return pd.DataFrame({"sentence": ["A bank."] * len(senses), "word": ["Bank "] * len(senses), "sense": senses})


def test_uploaded_labels_replace_built_in_ones(upload, encoder):
    upload(own("one", "two"))
    assert answer.labelled_rows("bank")["sense"].tolist() == ["one", "two"]
    built_in = labelled_sentences()
    assert answer.labelled_rows("Bat").equals(built_in[built_in["word"] == "bat"])
    assert answer.labelled_rows("gnome").empty
    assert answer.labels_key(encoder, "bank") == ("bank", "digest")
    assert answer.labels_key(encoder, "Bat") == ("bat", True)  # built-in labels, whose means are stored
    for table in (None, own("one").drop(columns="sense")):
        upload(table)
        assert len(answer.labelled_rows("bank")) == 24


def test_a_word_with_too_few_labels_has_no_means(upload, encoder):
    upload(own("one", "two"))
    assert answer.means_of_senses(encoder, "bank") is None
    upload(None)
    assert answer.means_of_senses(encoder, "bank").senses == ("finance", "riverside")
    assert answer.means_of_senses(encoder, "gnome") is None
