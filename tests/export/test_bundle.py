"""Test the ZIP of a page's figures and tables."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT
from selfattn.export import bundle
from selfattn.export.provenance import Provenance
from selfattn.tidy_tables import weights_frame
from tests.small_panel import panel_of, view_of


@pytest.fixture
def view(encoder):
    encoding = encoder.encode("The crane waded.")
    weights = encoding.weights(3, 7)
    origin = Provenance.of(encoder, "What crane attends to", {"A": encoding}, layer=3, head=7, error=1e-8)
    spec = heatmap(weights.numpy(), encoding.tokens, LIGHT)
    frame = weights_frame(weights, encoding.tokens)
    map_of_a = panel_of(spec, frame, name="map", finding="Crane attends to [SEP].", one_head=True)
    return view_of(origin, map_of_a, panel_of(spec, frame, name="../curve"), arrays={"A": lambda: weights})


@pytest.mark.slow
def test_zip_has_every_figure_and_table(view, encoder):
    with zipfile.ZipFile(io.BytesIO(bundle.zipped(view, scale=1, width=500))) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        content = {name: archive.read(name) for name in names}
    pictures = [f"figures/{name}.{kind}" for name in ("map", "curve") for kind in ("png", "svg")]
    tables = ["tables/map.csv", "tables/curve.csv"]
    assert {*names} == {"provenance.json", *pictures, *tables, "weights.npz", "report.html"}
    assert Image.open(io.BytesIO(content["figures/map.png"])).width == 500
    assert json.loads(content["provenance.json"])["sentences"] == {"A": "The crane waded."}
    weights = encoder.reference_weights("The crane waded.")[3, 7].numpy()
    np.testing.assert_allclose(np.load(io.BytesIO(content["weights.npz"]))["A"], weights, atol=1e-5)
    table, curve = (pd.read_csv(io.BytesIO(content[name])) for name in tables)
    np.testing.assert_allclose(table["weight"], weights.flatten(), atol=1e-5)
    assert set(zip(table["layer"], table["head"])) == {(3, 7)} and not {"layer", "head"} & {*curve}
    assert b"layer 3, head 7" in content["figures/map.svg"] and b"layer 3" not in content["figures/curve.svg"]
    assert b"<h2>Crane attends to [SEP].</h2>" in content["report.html"]


def test_safe_name_keeps_safe_characters():
    assert bundle.safe_name("../../etc/passwd") == "etc-passwd"
    assert bundle.safe_name("L0 H10: \x00 中") == "L0-H10"
    assert bundle.safe_name("中") == "unnamed"
