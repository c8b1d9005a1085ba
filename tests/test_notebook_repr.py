"""What a notebook shows: one line and a small table of each object that is handed out, every text escaped."""

import pandas as pd
import pytest
import torch

from selfattn import attend
from selfattn.scan.output import Scan
from selfattn.senses import HeadProfiles, SeparationReport, SwapReport


def test_an_encoding_shows_its_tokens_with_their_positions_escaped(encoder):
    html = encoder.encode("A <b> & bank.")._repr_html_()
    assert "<tr><td>0</td><td>1</td><td>2</td>" in html
    assert "<tr><td>[CLS]</td><td>a</td><td>&lt;</td><td>b</td><td>&gt;</td><td>&amp;</td><td>bank</td>" in html
    assert "<b>" not in html and html.startswith(
        "<table><caption>Encoding of &#x27;A &lt;b&gt; &amp; bank.&#x27;: 9 tokens"
    )


def test_a_trace_is_a_line_and_a_table_of_its_steps(encoder):
    trace = encoder.encode("A bank.").trace(0, 10, slice(1, 3))
    assert repr(trace) == "<AttentionTrace: 2 queries x 5 keys, d_head 32>"
    assert repr(attend(*torch.randn(3, 4, 6, 8))) == "<AttentionTrace: 4 x 6 queries x 6 keys, d_head 8>"
    html = trace._repr_html_()
    assert "<td>scores</td><td>2 x 5</td>" in html and "<td>context</td><td>2 x 32</td>" in html and len(html) < 1000


@pytest.mark.parametrize("kind", [SwapReport, HeadProfiles, SeparationReport])
def test_a_report_says_which_tables_it_holds(kind):
    report = kind.__new__(kind)
    vars(report).update(heads=pd.DataFrame({"layer": [0, 1, 1], "<i>": [0, 0, 1]}), reason="")
    assert repr(report) == f"<{kind.__name__}: heads 3 x 2>"
    assert "<tr><td>heads</td><td>3 rows</td><td>layer, &lt;i&gt;</td></tr>" in report._repr_html_()


def test_a_scan_is_a_line():
    scan = Scan(
        folder="scan", model="m", revision=None, n_layers=1, n_heads=2, d_model=4, finished=False, n_rows=1234,
        n_rejected=5, parts=(), measured=((0, 0), (0, 1)), words=(),
    )  # fmt: skip
    assert repr(scan) == "<Scan scan: 1,234 occurrences, 5 rejected rows, 2 heads, not finished>"
