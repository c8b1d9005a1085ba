"""Copy as Python: the three lines run, and make the figure of the view."""

import os
from types import SimpleNamespace

import pytest

from selfattn import Head, notebook
from selfattn.export.notebook_lines import notebook_lines

TEXTS = ('The "old" crane and a crane stood here.', "It wasn't a crane.")


@pytest.mark.slow
def test_the_three_lines_make_the_figure_of_the_view(encoder, monkeypatch):
    monkeypatch.setattr(notebook, "_chart", lambda spec: spec)
    lines = notebook_lines(encoder, TEXTS, "crane", (2, 1), Head(3, 7)).splitlines()
    assert len(lines) == 3
    names = {}
    exec("\n".join(lines[:2]), names)
    made = eval(lines[2], names)
    assert made == notebook.two_sentences(encoder, *TEXTS, "crane", at=(2, 1), layer=3, head=7)
    assert made != notebook.two_sentences(encoder, *TEXTS, "crane", layer=3, head=7)


@pytest.mark.parametrize(
    ("name", "revision", "shelf", "whole_path", "named"),
    [
        ("owner/name", "abc123", None, True, "'owner/name', revision='abc123'"),
        ("owner/name", "abc123", "/srv/shelf", False, "'owner/name', revision='abc123'"),
        ("owner/name", None, None, True, "'/home/me/owner/name'"),  # a folder's path is never taken for a Hub id
        ("../name", None, None, True, "'/home/name'"),
        ("owner/name", None, "/srv/shelf", True, "'/srv/shelf/owner/name'"),
        ("owner/name", None, "/srv/shelf", False, "'./name'"),
        ("/srv/shelf/name", None, "/srv/shelf", False, "'./name'"),
    ],
)
def test_they_name_an_encoder_that_is_not_the_bundled_one(name, revision, shelf, whole_path, named, monkeypatch):
    monkeypatch.setattr(os, "getcwd", lambda: "/home/me")
    monkeypatch.setenv("SELFATTN_MODEL_DIR", shelf or "")
    other = SimpleNamespace(name=name, title=name if revision else "name", revision=revision, dtype="bfloat16")
    line = notebook_lines(other, ("A bat.", "A bat!"), "bat", (1, 1), Head(0, 1), whole_path).splitlines()[2]
    assert line == (
        f"two_sentences(load_encoder({named}, dtype='bfloat16'), 'A bat.', 'A bat!', 'bat', layer=0, head=1)"
    )
