"""The example pairs as static pages: the index leads to all of them, and each says what the main view says."""

import base64
import io
import json
from dataclasses import replace

import pandas as pd
import pytest

from selfattn import NotRecomputable, numbers
from selfattn.__main__ import main
from selfattn.analysis.hiding import hidden_heads, hidden_pair
from selfattn.captions.hidden_words import answer
from selfattn.charts.labels import drawable_spec
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.export import live, report
from selfattn.export.site import SiteError, write_site
from tests.export.test_live import policy, scripts
from tests.export.test_report import Elements

SPRING = PAIRS[2]  # B's word has the larger share, and a head of A's the larger share of a head


@pytest.fixture(scope="module")
def site(encoder, tmp_path_factory):
    """The folder of a pair's page and its index, what was said to be written, and the page's view."""
    folder, wrote, views = tmp_path_factory.mktemp("web") / "new" / "site", [], []
    html = report.html
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "html", lambda view, **options: views.append(view) or html(view, **options))
        write_site(encoder, [SPRING], folder, wrote.append)
    return folder, wrote, views[0]


@pytest.mark.slow
def test_the_index_leads_to_a_page_a_pair_and_the_script_stands_once_beside_them(site):
    folder, wrote, view = site
    assert (
        sorted(path.name for path in folder.iterdir()) == sorted(wrote) == ["figures.js", "index.html", "spring.html"]
    )
    page = (folder / "index.html").read_text("utf-8")
    index = Elements(page)
    assert [attributes["href"] for name, attributes in index.found if name == "a"] == ["spring.html"]
    assert scripts(page) == [] and "script-src" not in policy(page)
    assert SPRING.first in index.text and SPRING.second in index.text
    assert (folder / "figures.js").read_text("utf-8") == live.script()
    page = (folder / "spring.html").read_text("utf-8")
    *specs, (attributes, run) = scripts(page)
    assert (attributes, run) == ({"src": "figures.js"}, "") and policy(page)["script-src"] == "'self' file:"
    written = [json.loads(content) for kind, content in specs if kind == {"type": "application/json"}]
    asked = [{"description": view.captions[name], **draw()} for name, draw in view.live.items()]
    assert written == json.loads(json.dumps(drawable_spec(asked))) and len(asked) == 2
    assert [name for name, _ in Elements(page).found].count("img") == len(view.figures) == 3


@pytest.mark.slow
def test_a_page_holds_its_own_pairs_numbers(encoder, site):
    """Of each word, of each head of the words that lead, of A and of B, run here by themselves."""
    sides = [encoder.encode(text).places(SPRING.word)[0] for text in SPRING.sentences]
    rows = labelled_sentences()
    hidden = hidden_pair(encoder, *sides, senses=rows[rows["word"] == SPRING.word])
    leading = list(zip(sides, (words[top] for words, top in zip(hidden.words, hidden.top)), hidden.ways))
    shares = [hidden_heads(encoder, *each) for each in leading]
    page = (site[0] / "spring.html").read_text("utf-8")
    elements = Elements(page)
    links = [attributes for name, attributes in elements.found if name == "a"]
    assert links[0]["href"] == "index.html"
    words, heads, curves = (pd.read_csv(io.BytesIO(base64.b64decode(link["href"].split(",")[1]))) for link in links[1:])
    for name, share, (_, word, _), exact in zip("AB", hidden.share, leading, shares):
        own = words[(words["sentence"] == name) & ~words["chosen"]]
        assert own["share"].tolist() == pytest.approx(share.tolist(), abs=1e-5)
        run = heads[(heads["sentence"] == name) & (heads["place"] == word.start)]
        assert run["share"].tolist() == pytest.approx(exact.flatten().tolist(), abs=1e-5)
    assert curves["similarity"].iloc[6] == pytest.approx(float(hidden.cosine[0, 0]), abs=1e-5)
    assert all(line in elements.text for line in answer(hidden))
    # The head of the largest share, of the word that moves it further.
    first = max((0, 1), key=lambda side: float(hidden.share[side][hidden.top[side]]))
    assert first != max((0, 1), key=lambda side: float(shares[side].max()))
    head = divmod(int(shares[first].argmax()), 12)
    assert f"<td>layer</td><td>{head[0]}</td></tr><tr><td>head</td><td>{head[1]}</td>" in page
    ours = [side.sentence.weights(*head) for side in sides[:2]]
    error = max(float((own - side.sentence.own_weights(*head)).abs().max()) for own, side in zip(ours, sides))
    assert f"our weights equal the model's own to {numbers.error(error)}." in elements.text


@pytest.mark.slow
def test_a_file_from_a_page_names_the_head_and_the_sentences_that_it_shows(site):
    view = site[2]
    figure, whole, row, *tables = names = [*view.figures, *view.tables]
    assert [name for name in names if view.origin(name).layer is None] == [figure, *tables]
    assert [name for name in names if [*view.origin(name).sentences] == ["A", "B"]] == [whole, row, "words", "heads"]


def test_a_shown_encoder_and_a_folder_that_holds_something_are_refused(encoder, tmp_path):
    shown = replace(encoder, reason="it has terms of its own")
    with pytest.raises(NotRecomputable, match="terms of its own"):
        write_site(shown, PAIRS[:1], tmp_path / "site", print)
    assert not (tmp_path / "site").exists()
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
