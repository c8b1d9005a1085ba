"""Inside a head and All heads by AppTest: what each control changes, beside the library's own numbers."""

import re
from urllib.parse import parse_qs

import altair as alt
import pytest
import torch
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from selfattn import load_encoder, notebook, numbers
from selfattn.analysis.measures import MEASURES, Measure
from selfattn.analysis.patterns import fits, nearest_first
from selfattn.analysis.steps import head_steps
from selfattn.analysis.word_map import word_map
from selfattn.captions import attention as captions
from selfattn.captions.vectors import NOISE
from selfattn.charts.vega import drawn_frame
from selfattn.dashboard import encoder_picker
from selfattn.dashboard.cache import Cache, forget
from selfattn.encoders.families import FAMILIES, Family, save_tiny
from selfattn.examples import labelled_sentences
from selfattn.stored_reports import stored
from tests.encoders.test_loading import change_config

from .conftest import open_link, open_page
from .pictures import charts, matrix, spec_of

pytestmark = pytest.mark.slow

INSIDE, ALL = "pages/explore/inside_a_head/page.py", "pages/explore/all_heads.py"
A, B = "The old riverbanks were muddy.", "She photographed riverbanks yesterday."  # a word of three pieces
OWN = {"a": A, "b": B, "c": "", "example": None, "word": "riverbanks", "head": "L3 H7"}


def texts(at):
    return [element.value for element in at.get("text")]


def column(values):
    return pytest.approx(torch.as_tensor(values).flatten().tolist(), abs=2e-5)


# Inside a head


def rail(at):
    return at.button_group(key="step")


@pytest.fixture
def pieces(encoder):
    """A piece of the word in each sentence, not the same one, and the head's steps there."""
    sides = zip((A, B), (1, 2))
    return [(encoder.encode(text).places("riverbanks")[0].positions[nth], encoder.encode(text)) for text, nth in sides]


def test_the_followed_piece_is_the_one_that_is_chosen(encoder, pieces):
    (in_a, a), (in_b, b) = pieces
    chosen, first, second = {**OWN, "piece_a": in_a, "piece_b": in_b}, *(head_steps(encoder, e, 3, 7) for e in (a, b))
    at = open_page(INSIDE, **chosen, step="maximum")
    drawn = {metric.label[0]: float(metric.value.replace("−", "-").replace(",", "")) for metric in at.metric}
    maxima = [float(steps["maximum"].values[place, 0]) for steps, place in ((first, in_a), (second, in_b))]
    assert list(drawn.values()) == pytest.approx(maxima, abs=1e-4) and list(drawn) == ["A", "B"]
    at = rail(at).set_value("weights").run()
    rows = [row["layer"][0]["data"]["values"] for row in spec_of(at.get("vega_lite_chart")[0])["vconcat"]]
    for row, encoding, place in zip(rows, (a, b), (in_a, in_b), strict=True):
        assert [bar["v"] for bar in row] == column(encoding.weights(3, 7)[place])


def test_every_step_stands_in_the_rail_and_one_is_shown(encoder):
    at = open_page(INSIDE, **OWN, follow="A")
    steps = head_steps(encoder, encoder.encode(A), 3, 7)
    assert rail(at).options == [step.name for step in steps.steps] and rail(at).value == "input"
    assert at.button(key="arrow_back").disabled
    at = at.button(key="arrow_forward").click().run()
    assert rail(at).value == "query"
    assert [code.value for code in at.code if code.value.startswith("def")] == [steps["query"].code]
    alt.Root.validate(spec_of(at.get("vega_lite_chart")[0]))
    assert rail(at.button(key="arrow_back").click().run()).value == "input"
    at = rail(at).set_value("output").run()
    assert at.button(key="arrow_forward").disabled and not at.button(key="arrow_back").disabled


def test_a_step_that_this_head_has_not_got_is_said():
    at = open_link("inside-a-head", step="turned query")
    assert rail(at).value == "input"
    assert any("asks for the step" in warning.value for warning in at.warning)


def test_the_dot_product_opens_on_the_largest_key_until_another_is_chosen(encoder):
    encoding = encoder.encode(A)
    place = encoding.places("riverbanks")[0].positions[0]
    steps, other = head_steps(encoder, encoding, 3, 7), head_steps(encoder, encoding, 0, 2)

    def written(at, steps, key):
        score = numbers.decimal(float(steps.trace.scores[place, key]), 3)
        return any(score in code.value and "sum, the score" in code.value for code in at.code)

    first, then = (int(one.trace.scores[place].argmax()) for one in (steps, other))
    at = open_page(INSIDE, **OWN, step="scores")
    assert first != then and at.selectbox(key="with_a").value == first and written(at, steps, first)
    at = at.select_slider(key="head").set_value("L0 H2").run()
    assert at.selectbox(key="with_a").value == then and written(at, other, then)
    at = at.selectbox(key="with_a").set_value(3).run()
    assert at.select_slider(key="head").set_value("L3 H7").run().selectbox(key="with_a").value == 3
    assert written(at, steps, 3)


def test_even_weights_stand_beside_the_heads_own_on_one_scale(pieces):
    (_, encoding), _ = pieces
    at = open_page(INSIDE, **OWN, part="What if", even=True, follow="A")
    place = encoding.places("riverbanks")[0].positions[0]
    own, changed = spec_of(at.get("vega_lite_chart")[0])["vconcat"]
    n, weights = len(encoding.tokens), encoding.weights(3, 7)[place]
    assert [bar["v"] for bar in own["layer"][0]["data"]["values"]] == column(weights)
    assert [bar["v"] for bar in changed["layer"][0]["data"]["values"]] == column([1 / n] * n)
    for row in (own, changed):
        assert row["layer"][0]["encoding"]["y"]["scale"]["domain"] == pytest.approx([0, float(weights.max())], abs=1e-5)


@pytest.fixture
def started_with(monkeypatch):
    """The folder that the server starts with."""
    start = "selfattn.dashboard.permissions.start_model"
    return lambda folder: monkeypatch.setattr(start, lambda: str(folder))


@pytest.mark.parametrize("changed", [False, True])
def test_an_evicted_encoder_takes_its_results_along(tmp_path, checkpoint, started_with, monkeypatch, changed):
    """Two encoders and an untrained twin evict it; its configuration may change before it is loaded anew."""
    monkeypatch.setattr(encoder_picker, "_encoders", Cache(2, lambda _: 1, forget))
    first = save_tiny(FAMILIES["BERT"], tmp_path / "first")
    own = {"example": None, "a": "The bank of the river.", "b": "The bank lent it.", "c": "", "word": "bank"}
    started_with(first)

    def query():
        at = open_page(INSIDE, head="L2 H1", step="query", follow="A", **own)
        (row,) = spec_of(at.get("vega_lite_chart")[0])["vconcat"]
        return [bar["v"] for bar in row["layer"][0]["data"]["values"]]

    before = query()
    started_with(checkpoint("DistilBERT"))
    open_link("two-encoders")
    assert [each.title for each in encoder_picker._encoders.values] == ["distilbert", "distilbert, random weights"]
    if changed:
        change_config(first, hidden_act="relu")
    started_with(first)
    encoder = load_encoder(first)
    encoding = encoder.encode(own["a"])
    after = head_steps(encoder, encoding, 2, 1)["query"].values[encoding.places("bank")[0].positions[0]]
    assert query() == column(after) and (before == column(after)) is not changed


def test_an_encoder_that_is_shown_only_says_so(checkpoint, started_with):
    started_with(checkpoint("XLNet"))
    assert any("can't be recomputed" in element.value for element in open_page(INSIDE).info)
    at = open_page(ALL)
    assert not at.error and "effect" not in at.selectbox(key="measure").options


# All heads


def placed_heads(at):
    """The grid's rows: a head each, with its place in the picture."""
    for chart in at.get("vega_lite_chart"):
        for held in chart.proto.datasets:
            frame = convert_arrow_bytes_to_pandas_df(held.data.data)
            if {"name", "x", "y", "entropy"} <= set(frame.columns):
                return frame
    raise AssertionError("no grid on the page")


def test_the_cards_map_follows_the_switches_and_sorting_puts_the_most_first(encoder):
    at = open_page(ALL, **OWN, sentence="B", words=True, hide=True, measure="entropy", sorted=True)
    encoding = encoder.encode(B)
    wanted = word_map(encoding, encoding.weights(3, 7), words=True, special=False)
    assert matrix(charts(at)[-1]).ravel().tolist() == column(wanted.matrix)
    assert captions.hidden_weight({"L3 H7": wanted.hidden}) in texts(at)
    alt.Root.validate(spec_of(at.get("vega_lite_chart")[0]))
    places = placed_heads(at).sort_values(["y", "x"])
    assert list(places["entropy"]) == sorted(places["entropy"], reverse=True)


def test_a_new_measure_is_one_entry_and_stands_on_the_page_in_its_table_and_in_the_notebook(encoder, monkeypatch):
    made = Measure("a new one", "slugs", "text", lambda weights, encoding: weights.amax((-2, -1)), "What it means.")
    monkeypatch.setitem(MEASURES, made.name, made)
    at = open_page(ALL, **OWN, measure=made.name)
    wanted = torch.stack([encoder.encode(A).weights(layer).amax((-2, -1)) for layer in range(6)])
    assert made.name in at.selectbox(key="measure").options and "What it means." in [c.value for c in at.caption]
    assert placed_heads(at)[made.name].tolist() == column(wanted)
    assert any(f"({numbers.decimal(wanted.max())} slugs)" in text for text in texts(at))
    chart = notebook.all_heads(encoder, A, made.name, second=B, word="riverbanks").to_dict()
    assert drawn_frame(chart)[made.name].dropna().tolist() == column(wanted)


def test_an_encoder_with_fewer_heads_than_its_config_says_opens(tmp_path, started_with):
    """Half of ConvBERT's heads are convolutions."""
    family = Family("ConvBERT", "convbert", "wordpiece", {"embedding_size": 16, "head_ratio": 2})
    started_with(save_tiny(family, tmp_path))
    at = open_page(ALL)
    assert not at.error and len(placed_heads(at)) == 3 * 2


def test_the_passport_is_the_stored_report_of_the_chosen_head(encoder):
    at = open_page(ALL, head="L5 H7")
    report = stored("head_profiles", encoder, labelled_sentences()).report
    own = report.sentences.query("layer == 5 and head == 7")
    patterns = report.patterns.query("layer == 5 and head == 7").iloc[0]
    assert captions.head_profile(nearest_first(patterns), "L5 H7", "Over 768 labelled sentences") in texts(at)
    (listed,) = [element.value for element in at.markdown if element.value.startswith("In these it attends most")]
    lines = re.findall(r"^- \[(.*)\]\(\./\?(.*)\)$", listed, re.M)
    frame = labelled_sentences().loc[own["row"]]
    senses = labelled_sentences().set_index("sentence")["sense"]
    for (label, query), place, row in zip(lines, own.itertuples(), frame.itertuples(), strict=True):
        assert label.replace("\\", "") == f"{numbers.weight(place.weight)} {row.word} → {place.to}: {row.sentence}"
        asked = {key: value for key, (value,) in parse_qs(query, keep_blank_values=True).items()}
        assert (asked["a"], asked["word"], asked["head"]) == (row.sentence, row.word, "L5 H7")
        assert senses[asked["b"]] != row.sense == senses[asked["c"]] and asked["c"] != row.sentence


def test_an_encoder_without_a_stored_passport_has_this_sentences(tmp_path, started_with):
    folder = save_tiny(FAMILIES["BERT"], tmp_path)
    started_with(folder)
    at = open_page(ALL, head="L1 H1", a="The bank of the river.", b="The bank lent it.")
    encoding = load_encoder(str(folder)).encode("The bank of the river.")
    assert captions.head_profile(fits(encoding.weights(1, 1), encoding), "L1 H1", "In this sentence") in texts(at)


def test_a_removed_measure_is_refused():
    at = open_link("all-heads", measure="swap, A from B")
    assert at.selectbox(key="measure").value == "entropy"
    said = "The link asks for the measure 'swap, A from B', which this page hasn't got. Shown instead: entropy."
    assert said in at.warning[0].value.replace("\\", "")


def test_noise_is_drawn_as_0(monkeypatch):
    values = torch.tensor(placed_heads(open_page(ALL, measure="effect"))["effect"])
    monkeypatch.setitem(NOISE, "float32", 0.005)
    at = open_page(ALL, measure="effect")
    wanted = torch.where(values.abs() >= 0.005, values, 0.0)
    assert placed_heads(at)["effect"].tolist() == pytest.approx(wanted.tolist(), abs=1e-4)
    assert 0 < (wanted == 0).sum() < 72
    assert any(f"by up to 0.005: {(wanted == 0).sum()} of 72 heads lie under" in text for text in texts(at))


def test_each_lines_head_has_a_row_of_its_own(encoder):
    at = open_page(ALL, **OWN, tab="Lines from the word", overlaid=["L5 H2", "average of L1"])
    encoding = encoder.encode(B)
    rows = spec_of(at.get("vega_lite_chart")[1])["vconcat"]
    for row, weights in zip(rows, (encoding.weights(5, 2), encoding.weights(1).mean(0)), strict=True):
        by_word = word_map(encoding, weights)
        place = by_word.rows_of(encoding.places("riverbanks")[0].positions)[0]
        assert [bar["v"] for bar in row["layer"][0]["data"]["values"]] == column(by_word.matrix[place])
    assert [row["title"]["text"] for row in rows] == ["L5 H2", "average of L1"]
