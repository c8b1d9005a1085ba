"""Test clicks on the map of heads, and the contents of downloads."""

import pytest
import torch

from selfattn import Head
from selfattn.dashboard import download, figures, session
from selfattn.dashboard.figures import Page
from selfattn.panel import Live
from selfattn.views.heads_data import plain_heads


class State(dict):
    """A stand-in for `st.session_state`."""

    __setattr__, __getattr__ = dict.__setitem__, dict.__getitem__


@pytest.mark.parametrize(
    ("value", "head"), [(43, "L3 H7"), (72, "L0 H10"), (-1, "L0 H10"), ("4", "L0 H10"), (True, "L0 H10")]
)
def test_click_chooses_only_heads_that_exist(monkeypatch, value, head):
    state, choose = State(head="L0 H10"), []
    monkeypatch.setattr(session.st, "session_state", state)
    monkeypatch.setattr(figures, "show_live", lambda live, key, chosen, *states: choose.append(chosen))
    figures.show_heads("Head", Live("heads", plain_heads(6, 12, Head(0, 10), "Head")), session.HEAD)
    choose[0]("head", value)
    assert state["head"] == head


def test_download_has_weights_and_error_of_chosen_head(encoder, monkeypatch):
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
