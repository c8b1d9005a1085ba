"""What a click chooses, and what the files of a page are made from: for a head and sentences that are not the first ones."""

from types import SimpleNamespace

import pytest
import torch

from selfattn import Head
from selfattn.dashboard import download, figures, session
from selfattn.dashboard.figures import Page


class State(dict):
    """Stands in for the session's state, whose keys are attributes too."""

    __setattr__, __getattr__ = dict.__setitem__, dict.__getitem__


@pytest.mark.parametrize(("picked", "head"), [([{"layer": 3, "head": 7}], "L3 H7"), ([], "L0 H10")])
def test_a_click_on_a_head_chooses_it_and_a_click_beside_the_heads_keeps_the_choice(monkeypatch, picked, head):
    state = State(head="L0 H10")
    state["map-0"] = SimpleNamespace(selection={"pick": picked})
    monkeypatch.setattr(session.st, "session_state", state)
    figures._choose_clicked("map-0")
    assert state["head"] == head


def test_the_files_of_a_page_are_made_from_its_own_head_and_sentences(encoder, monkeypatch):
    texts = {
        name: encoder.encode(text) for name, text in (("A", "A quiet bank."), ("B", "The river rose again today."))
    }
    page = Page(title="A page", texts={name: (encoder, e) for name, e in texts.items()})
    page.encoder, page.head = encoder, Head(3, 7)
    page.texts["second encoder"] = (object(), texts["A"])
    weights = download._weights(page)
    assert list(weights) == ["A", "B"]
    for name, encoding in texts.items():
        assert torch.equal(weights[name](), encoding.weights(3, 7))
    provenance = download._provenance(page, "the link")
    errors = [float((e.weights(3, 7) - e.own_weights(3, 7)).abs().max()) for e in texts.values()]
    assert provenance.error == max(errors) > min(errors)
    assert (provenance.layer, provenance.head) == (3, 7)
    assert list(provenance.sentences) == ["A", "B"]
