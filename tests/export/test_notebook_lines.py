"""Copy as Python: the three lines run, and make the figure of the view."""

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


def test_they_name_an_encoder_that_is_not_the_bundled_one():
    other = SimpleNamespace(name="owner/name", revision="abc123", dtype="bfloat16")
    line = notebook_lines(other, ("A bat.", "A bat!"), "bat", (1, 1), Head(0, 1)).splitlines()[2]
    assert line == (
        "two_sentences(load_encoder('owner/name', revision='abc123', dtype='bfloat16'), "
        "'A bat.', 'A bat!', 'bat', layer=0, head=1)"
    )
