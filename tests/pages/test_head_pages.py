"""Test the pages "Inside a head" and "All heads"."""

import pytest
import torch

from selfattn import Head, load_encoder, notebook, numbers
from selfattn.analysis.measures import MEASURES, Measure, head_measures
from selfattn.analysis.patterns import fits, nearest_first
from selfattn.charts.vega import drawn_frame
from selfattn.dashboard import kernel_figure
from selfattn.encoders.families import FAMILIES, Family, save_tiny
from selfattn.examples import labelled_sentences
from selfattn.stored_reports import stored
from selfattn.views.all_heads import moved_word, profile
from selfattn.views.rounding import NOISE

from .conftest import open_link, open_page
from .pictures import live, records_of

pytestmark = pytest.mark.slow

INSIDE, ALL = "pages/explore/inside_a_head/page.py", "pages/explore/all_heads.py"
A, B = "The old riverbanks were muddy.", "She photographed riverbanks yesterday."  # "riverbanks" has three tokens
OWN = {"a": A, "b": B, "c": "", "example": None, "word": "riverbanks", "head": "L3 H7"}
FIELDS = {key: value or "" for key, value in OWN.items()}


def texts(at):
    return [element.value for element in at.get("text")]


def bold(at):
    return [element.value.replace("\\", "").strip("*") for element in at.markdown]


def column(values):
    return pytest.approx(torch.as_tensor(values).flatten().tolist(), abs=2e-5)


# The page "Inside a head"


def printed(at, side, column):
    """Return one column of numbers from the figure of the steps inside a head."""
    return [row["cells"][column] for row in live(at, "kernel")["sides"][side]["rows"]]


def drawn_strip(at, chart, strip):
    cells = records_of(at.get("vega_lite_chart")[chart], "cells")
    return cells["v"][cells["strip"] == strip].tolist()


def test_link_of_older_version_chooses_tokens(encoder):
    at = open_link("inside-a-head", **FIELDS, piece_a="4: ##bank", piece_b="5", step="weights", alone="true")
    assert at.info[-1].value == "This link is from an older version. One figure now shows all steps."
    assert not {"step", "alone"} & {*at.query_params}
    assert [at.query_params[key] for key in ("piece_a", "piece_b")] == ["4", "5"]
    for side, (text, place) in enumerate(((A, 4), (B, 5))):
        trace = encoder.encode(text).trace(3, 7)
        assert printed(at, side, "weight") == list(map(numbers.weight, trace.weights[place].tolist()))
        assert printed(at, side, "score") == list(map(numbers.decimal, trace.scores[place].tolist()))
        assert drawn_strip(at, 0, side) == column(encoder.encode(text).hidden[3][place])
        assert drawn_strip(at, 2, side) == column(trace.context[place])
    assert len(at.get("vega_lite_chart")) == 4
    at = open_link("inside-a-head", **FIELDS, piece_a="99")
    assert "The link asks for token '99', which sentence A doesn't have." in at.warning[0].value.replace("\\", "")


def test_click_on_token_is_stored(encoder, monkeypatch):
    kept = {}
    monkeypatch.setattr(kernel_figure.st, "session_state", kept)
    monkeypatch.setattr(kernel_figure.st, "query_params", params := {})
    sides = {name: encoder.encode(text).places("riverbanks")[0] for name, text in zip("AB", (A, B))}
    for value in (None, 3, [0], [2, 1], [0, 99], [0, -1], ["A", 1], [0, 1, 1], [0, 1.5]):
        kernel_figure._choose(encoder, sides, None, "query", value)
    assert not kept and not params
    kernel_figure._choose(encoder, sides, None, "query", [1, 2])
    assert params == {"piece_b": "2"} and list(kept["queries"].values()) == [2]


def test_equal_weights_and_causal_mask_change_figure(encoder):
    at = open_page(INSIDE, **OWN, even=True)
    n = len(encoder.encode(A).tokens)
    assert printed(at, 0, "weight") == [numbers.weight(1 / n)] * n
    assert [" the same weight: " in each for each in live(at, "kernel")["findings"]] == [True, True]
    assert not any(" the same weight" in each.value for each in at.markdown)  # only the figure has this text
    assert any(text.startswith("With the changes, the largest weight in A ") for text in texts(at))
    place = encoder.encode(A).places("riverbanks")[0].positions[0]
    at = open_page(INSIDE, **OWN, causal=True, temperature=2.0)
    assert printed(at, 0, "masked")[place + 1 :] == ["−∞"] * (n - place - 1)
    scaled = encoder.encode(A).trace(3, 7).scaled[place] / 2
    assert printed(at, 0, "scaled") == list(map(numbers.decimal, scaled.tolist()))


@pytest.mark.parametrize("page", [INSIDE, ALL])
def test_head_pages_show_both_sentences(page):
    at = open_page(page, **{**OWN, "a": "The *old* riverbanks were muddy."})
    first, second = (each.value for each in at.markdown if each.value.startswith((":violet", ":orange")))
    assert first == r":violet[**A**]&emsp;The \*old\* :violet[**riverbanks**] were muddy\."
    assert second == r":orange[**B**]&emsp;She photographed :orange[**riverbanks**] yesterday\."


def test_pages_open_if_attention_cannot_be_recomputed(checkpoint, started_with):
    started_with(checkpoint("XLNet"))
    assert any("can't recompute this encoder's attention" in element.value for element in open_page(INSIDE).info)
    at = open_page(ALL)
    assert not at.error and not any("effect" in each for each in at.selectbox(key="measure").options)


# The page "All heads"


def numbers_of_all(at):
    """Return the value that the map of all heads shows for each head."""
    return [each.split(" ")[0] for each in live(at, "heads")["said"]]


def test_attention_map_of_chosen_head_is_enlarged(encoder):
    at = open_page(ALL, **OWN, sentence="B", measure="distance")
    encoding = encoder.encode(B)
    trace, place = encoding.trace(3, 7), encoding.places("riverbanks")[0].positions[0]
    assert printed(at, 0, "weight") == list(map(numbers.weight, trace.weights[place].tolist()))
    distances = head_measures(encoding)["distance"]
    assert numbers_of_all(at) == list(map(numbers.decimal, distances.flatten().tolist()))
    assert live(at, "heads")["chosen"] == 43
    large = live(at, "heads")["maps"]
    assert (large["rows"], large["sentence"], large["tokens"]) == ([place], "B", [*encoding.tokens])
    assert large["said"].split(",") == list(map(numbers.weight, trace.weights.flatten().tolist()))


def test_old_link_to_rollout_map_shows_note():
    at = open_link("all-heads", map_of="rollout", words="true")
    assert at.info[0].value.endswith("Use selfattn.analysis.measures to compute them.")
    assert "map_of" not in at.query_params


def test_page_offers_measure_that_was_added(encoder, monkeypatch):
    made = Measure(
        "a new one", "slugs", "text", lambda weights, encoding: weights.amax((-2, -1)), "What it means.", "a new one"
    )
    monkeypatch.setitem(MEASURES, made.name, made)
    at = open_page(ALL, **OWN, measure=made.name)
    wanted = torch.stack([encoder.encode(A).weights(layer).amax((-2, -1)) for layer in range(6)])
    assert made.name in at.selectbox(key="measure").options and any("What it means." in text for text in texts(at))
    assert numbers_of_all(at) == list(map(numbers.decimal, wanted.flatten().tolist()))
    assert any(f"({numbers.decimal(wanted.max())} slugs)" in text for text in bold(at))
    chart = notebook.all_heads(encoder, A, made.name, second=B, word="riverbanks").to_dict()
    assert drawn_frame(chart)[made.name].dropna().tolist() == column(wanted)


def test_page_shows_actual_head_count(tmp_path, started_with):
    """In ConvBERT, half of the heads in the config are convolutions."""
    family = Family("ConvBERT", "convbert", "wordpiece", {"embedding_size": 16, "head_ratio": 2})
    started_with(save_tiny(family, tmp_path))
    at = open_page(ALL)
    assert not at.error and len(numbers_of_all(at)) == 3 * 2


def test_head_profile_comes_from_stored_report(encoder):
    at = open_page(ALL, head="L5 H7")
    report = stored("head_profiles", encoder, labelled_sentences()).report
    own = report.sentences.query("layer == 5 and head == 7")
    patterns = report.patterns.query("layer == 5 and head == 7").iloc[0]
    assert profile(nearest_first(patterns), "L5 H7", "Over 768 labelled sentences") in bold(at)
    assert moved_word(stored("hidden_words", encoder, labelled_sentences()).report, Head(5, 7)).finding in bold(at)
    rows = [{word["text"]: word["number"] for word in row["words"]} for row in live(at, "shaded")["rows"]]
    assert [row[place.to] for row, place in zip(rows, own.itertuples(), strict=True)] == list(
        map(numbers.weight, own["weight"])
    )


def test_head_profile_of_new_encoder_covers_one_sentence(tmp_path, started_with):
    folder = save_tiny(FAMILIES["BERT"], tmp_path)
    started_with(folder)
    at = open_page(ALL, head="L1 H1", a="The bank of the river.", b="The bank lent it.")
    encoding = load_encoder(str(folder)).encode("The bank of the river.")
    assert profile(fits(encoding.weights(1, 1), encoding), "L1 H1", "In this sentence") in texts(at)


def test_link_to_removed_measure_shows_default_measure():
    at = open_link("all-heads", measure="swap, A from B")
    assert at.selectbox(key="measure").value == "entropy"
    expected = "The link asks for the measure 'swap, A from B', which this page doesn't have. Shown instead: how widely it looks."
    assert expected in at.warning[0].value.replace("\\", "")


def test_page_accepts_older_name_of_measure():
    at = open_link("all-heads", measure="itself", sorted="true", tab="Maps")
    assert at.selectbox(key="measure").value == "itself" and not at.warning
    assert at.query_params["measure"] == "weight on the token itself" and not {"sorted", "tab"} & {*at.query_params}


def test_effects_below_noise_are_shown_as_zero(monkeypatch):
    values = [float(each.replace("−", "-")) for each in numbers_of_all(open_page(ALL, measure="effect"))]
    monkeypatch.setitem(NOISE, "float32", 0.0055)
    at = open_page(ALL, measure="effect")
    wanted = [value if abs(value) > 0.0055 else 0 for value in values]
    assert [float(each.replace("−", "-")) for each in numbers_of_all(at)] == pytest.approx(wanted, abs=6e-4)
    assert 0 < wanted.count(0) < 72
    assert any(f"in {wanted.count(0)} of 72 heads, are drawn as 0." in text for text in texts(at))
