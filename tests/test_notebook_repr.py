"""What a notebook shows: one line and a small table of each object that is handed out, every text escaped."""

import pandas as pd
import torch

from selfattn import attend
from selfattn.senses import SwapReport


def test_what_is_shown_is_escaped_and_says_how_large_it_is(encoder):
    encoding = encoder.encode("A <b> & bank.")
    html = encoding._repr_html_()
    assert "<td>[CLS]</td><td>a</td><td>&lt;</td><td>b</td><td>&gt;</td><td>&amp;</td><td>bank</td>" in html
    assert "<b>" not in html and "Encoding of &#x27;A &lt;b&gt; &amp; bank.&#x27;: 9 tokens" in html
    assert repr(encoding.trace(0, 10, slice(1, 3))) == "<AttentionTrace: 2 queries x 9 keys, d_head 32>"
    trace = attend(*torch.randn(3, 4, 6, 8))
    assert repr(trace) == "<AttentionTrace: 4 x 6 queries x 6 keys, d_head 8>"
    assert "<td>context</td><td>4 x 6 x 8</td>" in trace._repr_html_()
    report = SwapReport.__new__(SwapReport)
    vars(report).update(heads=pd.DataFrame({"layer": [0, 1, 1], "<i>": [0, 0, 1]}), reason="")
    assert repr(report) == "<SwapReport: heads 3 x 2>"
    assert "<tr><td>heads</td><td>3 rows</td><td>layer, &lt;i&gt;</td></tr>" in report._repr_html_()
