"""Test the cache key of the kernel figure."""

import pytest

from selfattn.dashboard import cache, kernel_figure
from selfattn.dashboard.kernel_figure import kernel_of
from selfattn.encoders.capture import Head, Hide
from selfattn.views.kernel_view import kernel_panel

TEXTS = {"A": "We sat on the bank of the river.", "B": "We went to the bank for a loan."}
HEAD = Head(0, 1)


@pytest.fixture
def made(monkeypatch):
    """Empty the cache. Return a list to which each newly made panel is added."""
    panels = []
    monkeypatch.setattr(cache, "_results", cache.Cache(2**24, cache.bytes_of))

    def make(*given, **more):
        panels.append(kernel_panel(*given, **more))
        return panels[-1]

    monkeypatch.setattr(kernel_figure, "kernel_panel", make)
    monkeypatch.setattr(cache, "_results", cache.Cache(2**26, cache.bytes_of))  # other tests may have filled the cache
    return panels


def sides_of(encoder, texts=TEXTS, hidden=()):
    return {name: encoder.encode(text, hidden=hidden).places("bank")[0] for name, text in texts.items()}


def asked(encoder, sides=None, head=HEAD, **queries):
    sides = sides or sides_of(encoder)
    return kernel_of(encoder, sides, head, {name: side.positions[0] for name, side in sides.items()} | queries)


@pytest.mark.slow
def test_each_part_of_cache_key_matters(encoder, encoder_of, made):
    river = encoder.encode(TEXTS["A"]).places("river")[0].positions
    bank = sides_of(encoder)["A"].positions
    others = [
        lambda: asked(encoder),
        lambda: asked(encoder, head=Head(0, 2)),
        lambda: asked(encoder, A=0),
        lambda: asked(encoder, sides_of(encoder, TEXTS | {"B": "We came to the bank for a rest."})),
        lambda: asked(encoder, {"A": sides_of(encoder)["A"]}),
        lambda: asked(encoder, sides_of(encoder, hidden=[Hide(bank, river)])),
        lambda: asked(encoder_of("BERT")),
    ]
    first = [ask() for ask in others]
    assert len(made) == len(others)
    assert [ask() for ask in others] == first == made  # a panel equals only itself
    assert len({str(panel.live.data["sides"]) for panel in made}) == len(others)
    hidden = [row["text"] for row in made[5].live.data["sides"][0]["rows"] if row["hidden"]]
    assert hidden == ["river"]
