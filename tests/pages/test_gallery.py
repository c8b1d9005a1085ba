"""Test the gallery's claims and links."""

import re
from urllib.parse import parse_qs, parse_qsl

import pytest

from pages.explore.two_sentences.gallery import GALLERY
from selfattn.analysis.hiding import hidden_pair
from selfattn.analysis.patterns import fits
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.stored_reports import stored

from .conftest import open_link

MODEL = {"model": "all-MiniLM-L6-v2"}
CLAIMS = {  # the start of a gallery text -> a check of its claim
    "Hide one word": lambda pair: pair.words[0][pair.top[0]].text == "river" and 0.4 < pair.share[0].max() < 0.5,
    'Hide "elephant"': lambda pair: pair.words[0][pair.top[0]].text == "elephant" and 0.45 < pair.share[0].max() < 0.55,
    "No single word": lambda pair: 0.045 <= float(pair.share[0][pair.top[0]]) < 0.055,
    "A failure": lambda pair: (
        pair.senses == ("sea swell",) * 2
        and [words[top].text for words, top in zip(pair.words, pair.top)] == ["The", "The"]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "page", "view"), [entry for entry in GALLERY if not entry[1]], ids=lambda part: str(part)[:30]
)
def test_claims_about_hiding_words_are_true(encoder, text, page, view):
    pair, labelled = next(pair for pair in PAIRS if pair.word == view["example"]), labelled_sentences()
    means = stored("sense_means", encoder, labelled).report.of(pair.word, encoder, labelled)
    found = hidden_pair(encoder, *((sentence, pair.word) for sentence in pair.sentences), senses=means)
    (claim,) = [claim for start, claim in CLAIMS.items() if text.startswith(start)]
    assert claim(found)


def test_claims_about_heads_are_true(encoder):
    encoding = encoder.encode(PAIRS[0].first)
    before, special = (fits(encoding.weights(*head), encoding)[0] for head in ((0, 2), (4, 5)))
    assert [view["head"] for _, page, view in GALLERY if page] == ["L0 H2", "L4 H5"]
    assert (before.name, special.name) == ("previous token", "special tokens")
    assert before.value > 0.99 and special.value > 0.8


@pytest.mark.slow
def test_links_of_gallery_open_expected_views(main_view):
    (shown,) = [element.value for element in main_view.markdown if element.value.startswith("- [Hide one word")]
    links = re.findall(r"^- \[(.*)\]\(\./(.*)\?(.*)\)$", shown, re.M)
    assert [text for text, *_ in links] == [text for text, *_ in GALLERY] and len(links) == 6
    for (_, page, query), (_, address, view) in zip(links, GALLERY):
        assert (page, parse_qs(query)) == (address, {key: [value] for key, value in {**MODEL, **view}.items()})
    (_, page, query), (_, _, view) = links[3], GALLERY[3]
    at = open_link(page, **dict(parse_qsl(query)))
    assert not at.error and not at.warning and at.session_state["head"] == view["head"]
