"""Encode, draw and export generated texts."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pandas as pd
import pytest
import torch
from hypothesis import strategies as st

from selfattn import TextError, load_encoder
from selfattn.analysis.word_map import word_map
from selfattn.charts.bars import bar_list
from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.export import files, report
from selfattn.export.provenance import Provenance
from selfattn.tidy_tables import weights_frame
from selfattn.words import fold
from tests.export.test_report import Elements
from tests.fuzz.hostile import texts
from tests.small_panel import panel_of, view_of

pytestmark = pytest.mark.slow

# SVG elements of our charts. Unescaped markup would add other elements.
DRAWN = {"svg", "metadata", "rect", "g", "path", "text", "tspan", "defs", "clipPath", "linearGradient", "stop", "line"}
# One encoder for each kind of tokeniser, and one encoder with a single segment id.
BERT, *OTHERS = (FAMILIES[name] for name in ("BERT", "RoBERTa", "XLM-R"))
ONE_SEGMENT = replace(BERT, name="BERT of one segment", settings={**BERT.settings, "type_vocab_size": 1})


@pytest.fixture(scope="module", params=[BERT, ONE_SEGMENT, *OTHERS], ids=lambda family: family.name)
def tiny(request, tmp_path_factory):
    return load_encoder(str(save_tiny(request.param, tmp_path_factory.mktemp("tiny"))), device="cpu")


def test_text_is_encoded_or_refused(tiny, generated):
    others = st.none() | st.none() | texts(), st.none() | st.none() | st.integers(-1, tiny.max_tokens + 1)
    generated(60, 2000, st.tuples(texts(), *others), lambda given: _encoded_or_refused(tiny, *given))


def _encoded_or_refused(encoder, text, pair=None, pad_to=None):
    try:
        encoding = encoder.encode(text, pair, pad_to)
    except TextError as error:
        assert str(error).encode("utf-8")  # the message is valid Unicode
        return None
    n = len(encoding.tokens)
    assert encoding.hidden.isfinite().all()
    for word in encoding.words:
        ids = [encoding.ids[position] for position in word.positions]
        assert bool(word.unknown) == (encoder.tokenizer.unk_token_id in ids) == (word.label != word.text)
    # Leave out words of invisible characters, because nobody can type such words.
    if pair is None and (strange := [word.text for word in encoding.words if word.unknown and fold(word.text)]):
        with pytest.raises(TextError, match="doesn't know"):
            encoder.locate(text, strange[0])
    assert n <= encoder.max_tokens
    assert all(0 <= word.start < word.stop <= n and word.text in text + (pair or "") for word in encoding.words)
    weights = encoding.weights(0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(encoder.n_heads, n))
    by_words = word_map(encoding, weights[0]).matrix.sum(-1)
    torch.testing.assert_close(by_words, torch.ones_like(by_words))
    return encoding


@pytest.mark.parametrize("tiny", [BERT, *OTHERS], indirect=True, ids=lambda family: family.name)
def test_encoded_text_can_be_exported(tiny, generated):
    """Some unescaped characters would crash the drawing process."""

    def drawn(text):
        encoding = _encoded_or_refused(tiny, text)
        if encoding is None or not encoding.words:
            return
        weights, word = encoding.weights(0)[0], encoding.words[0]
        chart = heatmap(weights.numpy(), encoding.tokens, LIGHT, marked=word.positions, title=text[:50])
        bars = pd.DataFrame({"token": encoding.tokens, "weight": weights[word.start].tolist()})
        row = bar_list(bars, "weight", LIGHT)
        origin = Provenance.of(tiny, text, {"A": encoding}, layer=0, head=0, link=text)
        specs = {"map": chart, "row": row}
        for spec in specs.values():
            json.dumps(spec)
            root = ElementTree.fromstring(files.svg(spec, origin))
            assert {element.tag.rsplit("}")[-1] for element in root.iter()} <= DRAWN
        assert files.png(specs["row"], origin, scale=0.5)[:4] == b"\x89PNG"
        panel = panel_of(specs["map"], weights_frame(weights, encoding.tokens), finding=text, alt=text, note=text)
        elements = Elements(report.html(view_of(origin, panel)))
        assert "script" not in [name for name, _ in elements.found]
        assert not [key for _, attributes in elements.found for key in attributes if key.startswith("on")]

    generated(2, 340, texts(), drawn)
