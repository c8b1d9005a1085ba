"""The dashboard's charts in a notebook: the lines that the README shows are run here."""

import re
import textwrap
from pathlib import Path

import pytest

from selfattn import TextError, notebook
from selfattn.export.files import draw_svg

PAIR = ("The bank of the river.", "The bank approved the loan.")


def test_the_three_lines_of_the_docstring_make_the_figure():
    lines = textwrap.dedent(re.search(r"\n\n((?:    .*\n)+)", notebook.__doc__)[1]).splitlines()
    assert len(lines) == 3
    names = {}
    exec("\n".join(lines[:2]), names)
    chart = eval(lines[2], names)
    picture = draw_svg(chart.to_dict())
    assert picture.count("river") >= 3  # in the strip, as a row, as a column
    assert "0.62" in picture  # bank to river in L0 H10


def test_the_readme_shows_the_same_lines():
    readme = Path(__file__).parents[1] / "README.md"
    if not readme.exists():
        pytest.skip("there is no README yet")
    lines = textwrap.dedent(re.search(r"\n\n((?:    .*\n)+)", notebook.__doc__)[1])
    assert lines in readme.read_text("utf-8")


def test_each_function_gives_a_chart_that_is_valid_and_draws(encoder):
    charts = [
        notebook.attention(encoder, PAIR[0], 0, 10),
        notebook.removals(encoder, *PAIR, chosen="L0 H10"),
        notebook.parting(encoder, *PAIR, word="BANK"),
    ]
    for chart in charts:
        assert draw_svg(chart.to_dict(validate=True)).count("<path") > 5


def test_a_word_that_is_missing_is_named(encoder):
    with pytest.raises(TextError, match=r"'loan' is not a word of 'The bank of the river\.'"):
        notebook.parting(encoder, *PAIR, word="loan")
    with pytest.raises(TextError, match="No word stands in both"):
        notebook.parting(encoder, "One.", "Two!")
