"""Files to take away: the size asked for, the provenance inside, and no text that could harm the renderer."""

import io
import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from selfattn.charts import vega as charts
from selfattn.charts.drawable import drawable, drawable_spec
from selfattn.charts.theme import LIGHT
from selfattn.export import files as export

TOKENS = ["[CLS]", "</svg><script>alert(1)</script>", "bell \x07 nul \x00", "\ufffe \ud800", "😀"]


@pytest.fixture
def spec():
    weights = np.full((5, 5), 0.2)
    return charts.finish(charts.heatmap(weights, TOKENS, LIGHT), LIGHT)


@pytest.fixture
def provenance(encoder):
    encodings = {"A": encoder.encode("The bank of the river."), "B": encoder.encode("A <b>bank</b> & \x07 more.")}
    return export.Provenance.of(
        encoder, "What bank sees", encodings, layer=0, head=10, error=3e-8, link="http://x/?a=1"
    )


def test_png_has_the_size_asked_for_and_its_provenance_as_metadata(spec, provenance):
    with Image.open(io.BytesIO(export.png(spec, provenance, scale=3, width=400))) as picture:
        picture.load()  # every chunk's checksum is checked
        assert picture.width == 1200
        assert [round(dots) for dots in picture.info["dpi"]] == [216, 216]
        assert picture.text["Title"] == "What bank sees"
        assert picture.text["Software"] == "selfattn"
        assert picture.text["Source"] == "http://x/?a=1"
        origin = json.loads(picture.text["provenance"])
        assert len(np.unique(np.asarray(picture.convert("L")))) > 10  # something is drawn
    assert origin["model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert origin["revision"].startswith("1110a24")
    assert origin["digest"].startswith("53aa5117")
    assert (origin["layer"], origin["head"], origin["error"]) == (0, 10, 3e-8)
    assert origin["tokens"]["A"] == ["[CLS]", "the", "bank", "of", "the", "river", ".", "[SEP]"]
    assert {"python", "torch", "transformers", "altair", "vl-convert-python"} <= origin["versions"].keys()


def test_png_too_large_is_refused_with_the_numbers(spec, provenance):
    with pytest.raises(ValueError, match=r"40,000 x [\d,]+ pixels; at most 64,000,000"):
        export.png(spec, provenance, scale=4, width=10_000)


def test_svg_is_well_formed_has_the_width_asked_for_and_its_provenance(spec, provenance):
    picture = export.svg(spec, provenance, width=640)
    root = ElementTree.fromstring(picture)
    assert root.get("width") == "640"
    assert json.loads(root.find("{*}metadata").text)["head"] == 10
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    wide, high = export.svg_size(picture)
    box = [float(number) for number in root.get("viewBox").split()]
    assert wide / high == pytest.approx(box[2] / box[3], rel=1e-4)


def test_drawable_replaces_what_xml_forbids_also_in_expressions():
    assert drawable("a\x00b\tc\ud800\uffff") == "a\ufffdb\tc\ufffd\ufffd"
    labels = json.dumps(["\x00", "\b\f", "😀", "\ud800", "\\u0000"])
    cleaned = drawable_spec({"labelExpr": f"{labels}[datum.value]", "note": "\\u0000"})
    literal = cleaned["labelExpr"].removesuffix("[datum.value]")
    assert json.loads(literal) == ["\ufffd", "\ufffd\ufffd", "😀", "\ufffd", "\\u0000"]
    assert cleaned["note"] == "\\u0000"  # plain text that only looks like an escape


def test_labels_that_would_be_cut_inside_an_emoji_are_drawn_whole():
    tokens = ["😀" * length for length in range(1, 30)]
    picture = export.draw_svg(charts.finish(charts.heatmap(np.eye(len(tokens)), tokens, LIGHT), LIGHT))
    assert all(f">{token}<" in picture for token in tokens)


@pytest.mark.parametrize("title", ["constructor", "propertyIsEnumerable", "if"])
def test_a_title_that_vega_would_take_for_a_name(title):
    chart = charts.heatmap(np.eye(2), ["a", title], LIGHT, title=title)
    assert export.draw_svg(charts.finish(chart, LIGHT)).count(title) >= 2


def test_a_long_sentence_is_wrapped_beneath_the_title_and_what_is_left_out_is_counted(encoder):
    text = "The bank of the river was muddy. " * 60
    origin = export.Provenance.of(encoder, "T", {"A": encoder.encode(text)})
    lines = export.titled({}, origin)["title"]["subtitle"]
    assert max(map(len, lines)) <= 130
    assert len(lines) == export.SUBTITLE_LINES + 2
    shown = len(" ".join(lines[:-2])) - len("A: ")
    assert int(lines[-2].split()[2].replace(",", "")) == pytest.approx(len(text) - shown, abs=20)


def test_csv_says_where_it_comes_from_and_keeps_the_tables_own_columns(provenance):
    frame = pd.DataFrame({"head": [3, 4], "effect": [0.1, -0.2]})
    table = pd.read_csv(io.StringIO(export.csv(frame, provenance)))
    assert table["head"].tolist() == [3, 4]
    assert set(table["layer"]) == {0}
    assert set(table["model"]) == {"sentence-transformers/all-MiniLM-L6-v2"}
    assert set(table["error"]) == {3e-8}


def test_npz_opens_without_pickles_and_carries_the_provenance(encoder, provenance):
    weights = encoder.encode("The bank of the river.").weights(0)
    with np.load(io.BytesIO(export.npz({"A": weights}, provenance)), allow_pickle=False) as opened:
        np.testing.assert_array_equal(opened["A"], weights.numpy())
        assert json.loads(str(opened["provenance"]))["head"] == 10
