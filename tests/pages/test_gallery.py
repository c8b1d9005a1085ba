"""Each sentence of the gallery is what the library computes, and each link opens the view that shows it."""

import re
from urllib.parse import parse_qs

import pytest

from pages.explore.two_sentences.gallery import GALLERY
from selfattn.analysis.patterns import fits
from selfattn.analysis.swapping import swap_pair
from selfattn.examples import PAIRS

from .conftest import open_link

SWAPS = {  # the sentence's claim, on the leading head's share and its control
    "One head makes a quarter": lambda share, control: 0.2 < share < 0.3 and control < share / 2,
    "Here one head makes half": lambda share, control: 0.45 < share < 0.55 and control < share / 2,
    "No head stands out: none": lambda share, control: share < 0.1,
    "No head stands out: what": lambda share, control: share >= 0.1 and share / 2 < control < share,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "page", "view"), [entry for entry in GALLERY if not entry[1]], ids=lambda part: str(part)[:30]
)
def test_what_a_swap_is_said_to_do_it_does(encoder, text, page, view):
    pair = next(pair for pair in PAIRS if pair.word == view["example"])
    found = swap_pair(encoder, *((sentence, pair.word) for sentence in pair.sentences))
    leading = encoder.all_heads[int(found.share.argmax())]
    assert str(leading) == view["head"]
    (claim,) = [claim for start, claim in SWAPS.items() if text.startswith(start)]
    assert claim(float(found.share[leading]), float(found.control[leading]))


def test_what_a_head_is_said_to_attend_to_it_does(encoder):
    encoding = encoder.encode(PAIRS[0].first)
    before, special = (fits(encoding.weights(*head), encoding)[0] for head in ((0, 2), (4, 5)))
    assert [view["head"] for _, page, view in GALLERY if page] == ["L0 H2", "L4 H5"]
    assert (before.name, special.name) == ("previous token", "special tokens")
    assert before.value > 0.99 and special.value > 0.8


@pytest.mark.slow
def test_six_links_stand_on_the_main_view_and_each_opens_its_view(main_view):
    (shown,) = [element.value for element in main_view.markdown if element.value.startswith("**Six views")]
    links = re.findall(r"^- \[(.*)\]\(\./(.*)\?(.*)\)$", shown, re.M)
    assert [text for text, *_ in links] == [text for text, *_ in GALLERY] and len(links) == 6
    for (_, page, query), (_, _, view) in zip(links, GALLERY):
        at = open_link(page, **{key: value for key, (value,) in parse_qs(query).items()})
        assert not at.error and not at.warning
        assert at.select_slider(key="head").value == view["head"]
        if "example" in view:
            pair = next(pair for pair in PAIRS if pair.word == view["example"])
            assert at.text_input(key="a").value == pair.first
            assert any("No single head stands out" in text.value for text in at.markdown) == (
                view["example"] in ("spring", "wave")
            )
