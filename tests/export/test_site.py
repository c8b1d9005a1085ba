"""Test the static pages of `selfattn site`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from selfattn import NotRecomputable, numbers
from selfattn.__main__ import main
from selfattn.examples import PAIRS
from selfattn.export.site import SiteError, pair_panel, write_site
from tests.export.test_component_page import policy, scripts
from tests.export.test_report import Elements

SPRING = PAIRS[2]
DEMO = Path(__file__).parents[2] / "docs" / "demo.html"


@pytest.fixture(scope="module")
def site(encoder, tmp_path_factory):
    folder, wrote = tmp_path_factory.mktemp("web") / "new" / "site", []
    write_site(encoder, [SPRING], folder, wrote.append)
    return folder, wrote


def data_of(page: Path) -> dict:
    (kind, block), (module, _) = scripts(page.read_text("utf-8"))
    assert kind == {"type": "application/json"} and module == {"type": "module"}
    return json.loads(block)


def hidden_in(data: dict, side: int) -> dict[str, float]:
    return {word["text"]: word["share"] for word in data["sides"][side]["words"] if word["at"] is not None}


@pytest.mark.slow
def test_index_links_to_pages(site):
    folder, wrote = site
    assert sorted(path.name for path in folder.iterdir()) == sorted(wrote) == ["index.html", "spring.html"]
    page = (folder / "index.html").read_text("utf-8")
    index = Elements(page)
    assert [attributes["href"] for name, attributes in index.found if name == "a"] == ["spring.html"]
    assert scripts(page) == [] and policy(page)["script-src"] == "'none'"
    finding = data_of(folder / "spring.html")["finding"]
    assert all(text in index.text for text in (SPRING.first, SPRING.second, finding))


@pytest.mark.slow
def test_page_names_encoder_and_method(encoder, site):
    text = (site[0] / "spring.html").read_text("utf-8")
    elements = Elements(text)
    links = [attributes["href"] for name, attributes in elements.found if name == "a"]
    assert links == ["index.html"]
    differences = [
        float((encoding.weights(layer) - encoding.own_weights(layer)).abs().max())
        for encoding in map(encoder.encode, SPRING.sentences)
        for layer in range(encoder.n_layers)
    ]
    error = max(differences)
    origin = f"{encoder.title} @ {encoder.revision[:7]}, float32 on cpu"
    assert f"{origin}; recomputed weights equal the model's own to within {numbers.error(error)}" in elements.text
    folded = text[text.index("<details>") : text.index("</details>")]
    assert folded.startswith("<details><summary>How this was measured</summary><p") and "Noise level" in folded


@pytest.mark.slow
def test_demo_page_is_current(encoder):
    """If this fails, run `make demo`."""
    data, now = data_of(DEMO), json.loads(json.dumps(pair_panel(encoder, PAIRS[0]).live.data))
    del now["beyond"]["link"]
    assert DEMO.stat().st_size < 80_000
    for part in ("version", "finding", "below", "beyond", "word", "encoder"):
        assert data[part] == now[part], part
    for side in (0, 1):
        assert hidden_in(data, side) == pytest.approx(hidden_in(now, side), abs=1e-3)
        assert [*data["sides"][side]["exact"]] == [*now["sides"][side]["exact"]]
    assert data["way"]["at"] == pytest.approx(now["way"]["at"], abs=1e-3)


def test_unusable_encoder_or_folder_is_refused(encoder, tmp_path):
    shown = replace(encoder, reason="it has terms of its own")
    with pytest.raises(NotRecomputable, match="terms of its own"):
        write_site(shown, PAIRS[:1], tmp_path / "site", print)
    assert not (tmp_path / "site").exists()
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(SiteError, match=r"is not an empty folder\. Choose a new or empty folder"):
        write_site(encoder, PAIRS[:1], tmp_path, print)
    assert (tmp_path / "index.html").read_text() == "mine"


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (OSError("No space left"), 2, "No space left"),
        (KeyboardInterrupt(), 130, "stopped. The pages written so far are in the folder."),
    ],
)
def test_command_prints_files_and_error(tmp_path, capsys, monkeypatch, encoder, error, status, said):
    def write(given, pairs, folder, wrote):
        assert (given, pairs, folder) == (encoder, PAIRS, tmp_path)
        wrote("bank.html")
        raise error

    monkeypatch.setattr("selfattn.load_encoder", lambda name: encoder)
    monkeypatch.setattr("selfattn.export.site.write_site", write)
    assert main(["site", str(tmp_path)]) == status
    assert capsys.readouterr() == (f"{tmp_path / 'bank.html'}\n", f"selfattn site: {said}\n")
