"""The whole view as one ZIP: each part there, readable, with its provenance; nothing made before it is asked for."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from selfattn.charts import vega as charts
from selfattn.charts.theme import LIGHT
from selfattn.export import bundle
from selfattn.export.files import Provenance, View


@pytest.fixture
def view(encoder):
    encoding = encoder.encode("The bank of the river.")
    origin = Provenance.of(encoder, "What bank sees", {"A": encoding}, layer=0, head=1, error=1e-8, link="http://x/")
    spec = charts.finish(charts.heatmap(encoding.weights(0)[1].numpy(), encoding.tokens, LIGHT), LIGHT)
    return View(
        "name",
        origin,
        {"map": lambda: spec, "../strip": lambda: spec},
        {"weights": lambda: pd.DataFrame({"weight": [0.5]})},
        {"A": lambda: encoding.weights(0)},
        {"map": "Bank looks at river."},
    )


def test_the_zip_holds_every_part(view):
    with zipfile.ZipFile(io.BytesIO(bundle.zipped(view, scale=1, width=500))) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        content = {name: archive.read(name) for name in names}
    assert names == [
        "README.txt",
        "provenance.json",
        "figures/map.png",
        "figures/map.svg",
        "figures/strip.png",
        "figures/strip.svg",
        "tables/weights.csv",
        "weights.npz",
        "report.html",
    ]
    assert Image.open(io.BytesIO(content["figures/map.png"])).width == 500
    assert json.loads(content["provenance.json"])["sentences"] == {"A": "The bank of the river."}
    assert np.load(io.BytesIO(content["weights.npz"]))["A"].shape == (12, 8, 8)
    assert content["report.html"].startswith(b"<!doctype html>")
    readme = content["README.txt"].decode()
    assert all(name in readme for name in names[1:])
    assert "Bank looks at river." in readme


def test_file_names_stay_inside_the_folder():
    assert bundle.safe_name("../../etc/passwd") == "etc-passwd"
    assert bundle.safe_name("L0 H10: \x00 中") == "L0-H10"
    assert bundle.safe_name("中") == "unnamed"
