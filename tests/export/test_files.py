"""Test the size, text and provenance of downloaded files."""

import io
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from selfattn.charts.heatmap import heatmap
from selfattn.charts.labels import drawable, drawable_spec, expression
from selfattn.charts.theme import LIGHT
from selfattn.export import files
from selfattn.export.provenance import Provenance
from tests.small_panel import panel_of

TOKENS = ["[CLS]", "</svg><script>alert(1)</script>", "bell \x07 nul \x00", "\ufffe \ud800", "😀"]


@pytest.fixture
def spec():
    return heatmap(np.full((5, 5), 0.2), TOKENS, LIGHT)


@pytest.fixture
def provenance(encoder):
    encodings = {"A": encoder.encode("The bank of the river."), "B": encoder.encode("A <b>bank</b> & \x07 more.")}
    return Provenance.of(encoder, "What bank sees", encodings, layer=3, head=7, error=3e-8, link="http://x/?a=1")


def facts(kind, spec, origin):
    frame = pd.DataFrame({"weight": [0.5]})
    if kind == "png":
        with Image.open(io.BytesIO(files.png(spec, origin, scale=1))) as picture:
            return json.loads(picture.text["provenance"])
    if kind == "svg":
        return json.loads(ElementTree.fromstring(files.svg(spec, origin)).find("{*}metadata").text)
    if kind == "parquet":
        return json.loads(pq.read_table(io.BytesIO(files.parquet(frame, origin))).schema.metadata[b"provenance"])
    if kind == "npz":
        return json.loads(str(np.load(io.BytesIO(files.npz({}, origin)))["provenance"]))
    return pd.read_csv(io.StringIO(files.csv(frame, origin))).to_dict("records")[0]


@pytest.mark.parametrize("kind", ["png", "svg", "parquet", "npz", "csv"])
@pytest.mark.slow
def test_every_format_has_provenance(kind, encoder, spec, provenance):
    found = facts(kind, spec, provenance)
    assert (found["model"], found["revision"]) == (encoder.name, encoder.revision)
    assert (found["layer"], found["head"], found["error"]) == (3, 7, 3e-8)
    if kind == "csv":
        return
    for name in ("digest", "content", "device", "dtype"):
        assert found[name] == getattr(encoder, name)
    assert found["link"] == "http://x/?a=1" and found["recomputed"] is True
    assert found["sentences"]["A"] == "The bank of the river." and "<b>bank</b>" in found["sentences"]["B"]
    assert found["tokens"] == {name: list(encoder.encode(text).tokens) for name, text in provenance.sentences.items()}


def test_each_figure_has_its_own_provenance(provenance):
    table = pd.DataFrame({"x": [1]})
    tables = {"numbers": table, "more": table}
    first = replace(panel_of({}, name="map of B", one_head=True, sentences=("B",)), tables=tables)
    others = panel_of({}, name="curve"), panel_of({}, name="strip at L3 H7", one_head=True)
    panels = files.numbered([first, *others])
    view = files.View("page", provenance, panels, {"of the page": lambda: table})
    map_of_b, curve, both = map(view.origin, panels)
    assert [*view.tables] == ["1. map of B", "more", "2. curve", "3. strip at L3 H7", "of the page"]
    assert [view.tables[name][1].title for name in ("1. map of B", "more")] == ["Map of B, L3 H7", "More, L3 H7"]
    assert [origin.title for origin in (map_of_b, curve, both)] == ["Map of B, L3 H7", "Curve", "Strip at L3 H7"]
    assert list(map_of_b.sentences) == list(map_of_b.tokens) == ["B"]
    assert both.sentences == curve.sentences == provenance.sentences
    assert (both.layer, both.head, both.error) == (3, 7, 3e-8)


def drawn_texts(picture):
    root = ElementTree.fromstring(picture)
    return [line for text in root.findall(".//{*}text") for line in ([t.text for t in text] or [text.text])]


@pytest.mark.slow
def test_subtitle_fits_figure(provenance):
    narrow, wide = (heatmap(np.eye(2), ["a", "b"], LIGHT, size=size) for size in (260, 900))
    chart = files.svg_size(files.draw_svg(narrow))[0]
    assert files.svg_size(files.svg(narrow, provenance))[0] < chart + 40
    assert len(drawn_texts(files.svg(wide, provenance))) < len(drawn_texts(files.svg(narrow, provenance)))
    whole = " ".join(drawn_texts(files.svg(narrow, provenance)))
    assert provenance.line() in whole and "A: The bank of the river." in whole  # wrapped, but not cut
    text = "The bank of the river was muddy. " * 60
    lines = files.titled({}, Provenance(title="T", sentences={"A": text}), 700)["title"]["subtitle"]
    assert max(map(len, lines)) <= 130 and len(lines) == files.SUBTITLE_LINES + 2
    left_out = int(lines[-2].split()[2].replace(",", ""))
    assert left_out + len(" ".join(lines[:-2])) - len("A: ") == pytest.approx(len(text), abs=20)


def test_subtitle_of_twelve_lines_is_not_cut():
    """The name "A:" takes one of the twelve lines."""
    line = "x" * int(900 / files.LETTER)
    for n, more in ((11, []), (12, [f"... and {len(line)} more characters (see the file's metadata)"])):
        origin = Provenance(title="T", sentences={"A": " ".join([line] * n)})
        assert files.titled({}, origin, 900)["title"]["subtitle"][:-1] == ["A:", *[line] * 11, *more]


@pytest.mark.parametrize("n", [3, 70], ids=["cells", "image"])
@pytest.mark.slow
def test_plain_picture_has_no_title(n, provenance):
    weights = np.random.default_rng(0).dirichlet(np.ones(n), size=n)
    words = [f"w{i}" for i in range(n)]
    spec = heatmap(weights, words, LIGHT, kind="signed", marked=[1])
    plain = files.svg(spec, provenance, plain=True)
    assert drawn_texts(plain) == drawn_texts(files.draw_svg(spec)) and "What bank sees" in plain
    assert "What bank sees" not in drawn_texts(plain) and "What bank sees" in drawn_texts(files.svg(spec, provenance))
    pixels = np.asarray(Image.open(io.BytesIO(files.png(spec, provenance, 1, plain=True))).convert("RGB"))
    assert pixels[0, 0].tolist() == [255, 255, 255]


def test_subtitle_names_encoder_and_head_and_error(encoder, provenance):
    sentence, *_, line = files.titled({}, provenance, 900)["title"]["subtitle"]
    assert sentence == "A: The bank of the river." and encoder.revision[:7] in line
    assert "layer 3, head 7" in line and line.endswith(" 0.00000003")
    assert "layer" not in provenance.of_figure("All heads", one_head=False).line()
    assert "the model's own attention weights, not recomputed" in replace(provenance, recomputed=False).line()


@pytest.mark.slow
def test_png_has_chosen_size(spec, provenance):
    with Image.open(io.BytesIO(files.png(spec, provenance, scale=3, width=400))) as picture:
        picture.load()  # checks every chunk's checksum
        assert picture.width == 1200 and [round(dots) for dots in picture.info["dpi"]] == [216, 216]
        assert (picture.text["Title"], picture.text["Source"]) == ("What bank sees", "http://x/?a=1")
        assert len(np.unique(np.asarray(picture.convert("L")))) > 10  # the picture isn't empty


@pytest.mark.slow
def test_note_names_characters_without_font():
    """Unicode hasn't assigned U+E1234, so no font has it."""
    assert files.without_font("The café − 3 × 2 \u200d\ufe0f\U000e1234") == "\U000e1234"

    def drawn(name, plain):
        origin = Provenance(title="T", sentences={"A": name})
        return io.BytesIO(files.png(heatmap(np.eye(2), ["bank", name], LIGHT), origin, 1, 400, plain))

    for plain in (True, False):
        with Image.open(drawn("\U000e1234", plain)) as picture, Image.open(drawn("\ufffd", plain)) as other:
            note, none = (json.loads(each.text["provenance"])["note"] for each in (picture, other))
            assert (np.asarray(picture) == np.asarray(other)).all() if plain else picture.height > other.height + 20
        assert none == "" and "fonts-noto-cjk" in note
        assert note.startswith(
            "selfattn found no font with \U000e1234 (U+E1234), so a PNG shows \ufffd instead. Choose the SVG"
        )
    many = files.font_note("河岸銀行北京")
    assert "京 (U+4EAC)" not in many and "北 (U+5317) and 1 more" in many


def test_too_large_png_is_refused(spec, provenance):
    with pytest.raises(ValueError, match=r"40,000 x [\d,]+ pixels, but the limit is 64,000,000"):
        files.png(spec, provenance, scale=4, width=10_000)


def test_svg_has_chosen_width(spec, provenance):
    picture = files.svg(spec, provenance, width=640)
    root = ElementTree.fromstring(picture)
    assert root.get("width") == "640" and not root.findall(".//{*}script")
    wide, high = map(float, root.get("viewBox").split()[2:])
    assert 640 / float(root.get("height")) == pytest.approx(wide / high, rel=1e-4)


def test_drawable_replaces_forbidden_characters():
    assert drawable("a\x00b\tc\ud800\uffff") == "a\ufffdb\tc\ufffd\ufffd"
    texts = ["\x00", "\b\f", "😀", "\ud800", "\\u0000"]  # the last text is no escape sequence
    shown = ["\ufffd", "\ufffd\ufffd", "😀", "\ufffd", "\\u0000"]
    assert json.loads(expression(texts)) == shown and drawable_spec({"note": texts}) == {"note": shown}


@pytest.mark.slow
def test_emoji_labels_are_not_cut():
    tokens = ["😀" * length for length in range(1, 30)]
    picture = files.draw_svg(heatmap(np.eye(len(tokens)), tokens, LIGHT))
    assert all(f">{token}<" in picture for token in tokens)


def test_csv_and_parquet_keep_all_digits(provenance):
    frame = pd.DataFrame({"head": [3, 4], "effect": [0.1234567890123, -2e-7]})
    table = pd.read_csv(io.StringIO(files.csv(frame, provenance)))
    pd.testing.assert_frame_equal(table[["head", "effect"]], frame)
    assert set(table["layer"]) == {3}
    frame["text"] = ["=1", None]
    table = pq.read_table(io.BytesIO(files.parquet(frame, provenance)))
    pd.testing.assert_frame_equal(table.to_pandas(), frame, check_exact=True)
    assert table.schema.metadata[b"provenance"].decode() == provenance.json()
