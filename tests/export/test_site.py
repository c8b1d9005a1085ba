"""The example pairs as static pages: the index leads to all of them, and each says what the main view says."""

import base64
import io
import re
from dataclasses import replace

import pandas as pd
import pytest

from selfattn import Head, NotRecomputable, numbers
from selfattn.__main__ import main
from selfattn.analysis.measures import drift
from selfattn.analysis.swapping import swap_pair
from selfattn.analysis.word_map import word_map
from selfattn.captions.attention import largest_cell
from selfattn.charts.curves import DASHED
from selfattn.charts.theme import LIGHT
from selfattn.examples import PAIRS
from selfattn.export import report
from selfattn.export.site import SiteError, pair_view, write_site
from tests.charts.scene import drawn, on_ramp, same_color, texts
from tests.export.test_report import Elements


@pytest.fixture(scope="module")
def site(encoder, tmp_path_factory):
    """The folder of two pairs' pages and their index, what was said to be written, and the pages' views."""
    folder, wrote, views = tmp_path_factory.mktemp("web") / "new" / "site", [], []
    html = report.html
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "html", lambda view, **options: views.append(view) or html(view, **options))
        write_site(encoder, PAIRS[:2], folder, wrote.append)
    return folder, wrote, views


@pytest.mark.slow
def test_the_index_leads_to_a_page_a_pair(site):
    folder, wrote, _ = site
    assert wrote == ["bank.html", "bat.html", "index.html"]
    assert {path.name for path in folder.iterdir()} == set(wrote)
    index = Elements((folder / "index.html").read_text("utf-8"))
    assert [attributes["href"] for name, attributes in index.found if name == "a"] == wrote[:2]
    for pair in PAIRS[:2]:
        assert pair.first in index.text and pair.second in index.text
    assert "One head makes a quarter of the difference." in index.text
    assert "Where 2 words get their meaning" in index.text
    assert "Encoder: sentence-transformers/all-MiniLM-L6-v2. Every head is recomputed" in index.text
    bank = Elements((folder / "bank.html").read_text("utf-8"))
    assert [name for name, _ in bank.found].count("img") == 4
    assert "script" not in {name for name, _ in index.found + bank.found}
    assert "a quarter of the way" in bank.text and "(25 %)" in bank.text and "(river side)" in bank.text
    assert PAIRS[0].control in bank.text
    assert '24 labelled sentences of "bank" show whether it holds.' in bank.text
    assert re.search(r"our weights equal the model's own to 0\.000000\d", bank.text)


@pytest.mark.slow
def test_a_page_holds_its_own_pairs_numbers(encoder, site):
    """Of the second pair: in both directions, of the head that leads, of A and of B, and of A's sense alone."""
    page, pair = (site[0] / "bat.html").read_text("utf-8"), PAIRS[1]
    elements = Elements(page)
    links = [attributes for name, attributes in elements.found if name == "a"]
    assert links[0]["href"] == "index.html"
    heads, words = (pd.read_csv(io.BytesIO(base64.b64decode(link["href"].split(",")[1]))) for link in links[1:])
    encodings = [encoder.encode(text) for text in (pair.first, pair.second, pair.control)]
    places = [(each.text, each.places(pair.word)[0].positions) for each in encodings]
    swapped = swap_pair(encoder, *places)
    for name in ("share", "a_from_b", "b_from_a", "control"):
        own = heads["control_share" if name == "control" else name]
        assert own.tolist() == pytest.approx(getattr(swapped, name).flatten().tolist(), abs=1e-5), name
    leading = divmod(int(swapped.share.argmax()), 12)
    assert f"<td>layer</td><td>{leading[0]}</td></tr><tr><td>head</td><td>{leading[1]}</td>" in page
    errors = []
    for name, encoding, (text, at) in zip("AB", encodings, places):
        own = encoder.reference_weights(text)[leading][list(at)].mean(0)
        row = words[words["sentence"] == name]
        assert row["weight"].iloc[[0, -1]].tolist() == pytest.approx(own[[0, -1]].tolist(), abs=1e-5)
        assert row.loc[row["chosen"], "weight"].item() == pytest.approx(float(own[list(at)].sum()), abs=1e-5)
        errors.append(float((encoding.weights(*leading) - encoding.own_weights(*leading)).abs().max()))
    assert words["error"].iloc[0] == pytest.approx(max(errors))
    control = float(drift((encodings[0], places[0][1]), (encodings[2], places[2][1]))[-1])
    assert f"({pair.senses[0]}) end at {numbers.cosine(control)}" in elements.text
    maps = [word_map(encoding, encoding.weights(*leading)) for encoding in encodings[:2]]
    said = [f"In {name}: {largest_cell(own.matrix.numpy(), own.labels)}" for name, own in zip("AB", maps)]
    assert " ".join(said) in elements.text
    assert f'moves "bat" furthest: {numbers.share(float(swapped.share.max()))} of the way' in elements.text
    assert 'it gives 0.36 of its attention to "cave" in A and 0.16 to "ball" in B' in elements.text


@pytest.mark.slow
def test_a_pages_pictures_are_of_its_own_pair(site):
    """Of the second pair: the two curves, the words of A and B, the map of the heads, the leading head's two maps."""
    view = site[2][1]
    parting, words, heads, whole = (draw() for draw in view.figures.values())
    frame, strip = (make() for make in view.tables.values())
    assert {line["stroke"]: line["strokeDash"] for line in drawn(parting, "line")} == {
        LIGHT.ink: [1, 0], LIGHT.sentence_a: DASHED
    }  # fmt: skip
    assert [text["text"] for text in drawn(words, "text") if text["fontSize"] == 14] == strip["text"].tolist()
    cells = [cell["fill"] for cell in drawn(heads, "rect") if cell["stroke"] != LIGHT.ink]
    shares = frame["share"] / frame["share"].abs().max()
    assert all(map(same_color, cells, (on_ramp(LIGHT.effect, (share + 1) / 2) for share in shares)))
    leading = frame["name"][frame["share"].idxmax()]
    assert [cell["description"] for cell in drawn(heads, "rect") if cell["stroke"] == LIGHT.ink] == [leading]
    assert texts(whole, "title-text") == [f"{name}   {leading}, from scratch" for name in "AB"]
    outlines = [item for item in drawn(whole, "rect") if item["stroke"] == LIGHT.ink]
    for name, outline in zip("AB", outlines, strict=True):
        chosen = strip["chosen"][strip["sentence"] == name].tolist()
        assert outline["height"] == pytest.approx(400 / len(chosen))
        top = min(item["y"] for item in drawn(whole, "rect"))
        assert round((outline["y"] - top) / outline["height"]) == chosen.index(True)


@pytest.mark.slow
def test_a_file_from_a_page_names_the_head_and_the_sentences_that_it_shows(site):
    view = site[2][1]
    of_all = [name for name in (*view.figures, *view.tables) if view.origin(name).layer is None]
    assert of_all == ["where the two vectors part", "all heads: swap", "heads"]
    both = [name for name in (*view.figures, *view.tables) if [*view.origin(name).sentences] == ["A", "B"]]
    assert both == [
        'what "bat" attends to',
        f"the whole head {Head(view.provenance.layer, view.provenance.head)}",
        "words",
    ]


def test_a_pair_at_two_positions_has_them_for_a_reason(encoder_of):
    view, _ = pair_view(encoder_of("BERT"), replace(PAIRS[0], first="By the river the bank was muddy."))
    assert "because their positions differ" in view.captions["where the two vectors part"]


def test_an_encoder_that_is_shown_only_has_no_site(encoder, tmp_path):
    shown = replace(encoder, recomputable=False, reason="it has terms of its own")
    with pytest.raises(NotRecomputable, match="terms of its own"):
        write_site(shown, PAIRS[:1], tmp_path / "site", print)
    assert not (tmp_path / "site").exists()


def test_a_folder_that_holds_something_is_left_alone(encoder, tmp_path):
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(SiteError, match=r"holds something already\. Choose a new or empty folder"):
        write_site(encoder, PAIRS[:1], tmp_path, print)
    assert (tmp_path / "index.html").read_text() == "mine"


def test_the_command_names_what_it_wrote_and_what_it_could_not_write(tmp_path, capsys, monkeypatch, encoder):
    def write(given, pairs, folder, wrote):
        assert (given, pairs, folder) == (encoder, PAIRS, tmp_path)
        wrote("bank.html")
        raise OSError("No space left")

    monkeypatch.setattr("selfattn.load_encoder", lambda name: encoder)
    monkeypatch.setattr("selfattn.export.site.write_site", write)
    assert main(["site", str(tmp_path)]) == 2
    assert capsys.readouterr() == (f"{tmp_path / 'bank.html'}\n", "selfattn site: No space left\n")


def test_the_command_says_what_is_wrong(tmp_path, capsys):
    assert main(["site", str(tmp_path / "site"), "--model", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.startswith("selfattn site: ")
    assert not (tmp_path / "site").exists()
