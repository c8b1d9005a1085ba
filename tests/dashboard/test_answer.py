"""Test the labelled sentences of a word, and their cache keys."""

import pandas as pd
import pytest

from selfattn.dashboard import answer, session
from selfattn.examples import labelled_sentences


@pytest.fixture
def upload(monkeypatch):
    """Return a function that stores an uploaded table in the session."""

    def uploaded(table):
        monkeypatch.setattr(session.st, "session_state", {session.TABLE_READ: ("id", table, None, "digest")})

    return uploaded


def own(*senses):
    return pd.DataFrame({"sentence": ["A bank."] * len(senses), "word": ["Bank "] * len(senses), "sense": senses})


def test_uploaded_labels_replace_built_in_labels(upload):
    upload(own("one", "two"))
    own_labels, built_in_labels = answer.labels_of("bank"), answer.labels_of("Bat")
    assert own_labels.rows["sense"].tolist() == ["one", "two"]
    assert (own_labels.key, own_labels.own) == (("bank", "digest"), True)
    built_in = labelled_sentences()
    assert built_in_labels.rows.equals(built_in[built_in["word"] == "bat"])
    assert (built_in_labels.key, built_in_labels.own) == (("bat", ""), False)
    assert answer.labels_of("gnome").rows.empty
    for table in (None, own("one").drop(columns="sense")):
        upload(table)
        assert len(answer.labels_of("bank").rows) == 24


def test_too_few_sentences_give_no_mean_vectors(upload, encoder):
    upload(own("one", "two"))
    assert answer.means_of_senses(encoder, answer.labels_of("bank")) is None
    upload(None)
    assert answer.means_of_senses(encoder, answer.labels_of("bank")).senses == ("finance", "riverside")
    assert answer.means_of_senses(encoder, answer.labels_of("gnome")) is None
