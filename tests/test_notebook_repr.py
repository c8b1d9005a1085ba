"""What a notebook shows of each object that is handed out has every text escaped."""

import pandas as pd

from selfattn.senses import SwapReport


def test_what_is_shown_is_escaped(encoder):
    html = encoder.encode("A <b> & bank.")._repr_html_()
    assert "<td>[CLS]</td><td>a</td><td>&lt;</td><td>b</td><td>&gt;</td><td>&amp;</td><td>bank</td>" in html
    assert "<b>" not in html and "Encoding of &#x27;A &lt;b&gt; &amp; bank.&#x27;: 9 tokens" in html
    report = SwapReport.__new__(SwapReport)
    vars(report).update(heads=pd.DataFrame({"layer": [0, 1, 1], "<i>": [0, 0, 1]}), reason="")
    assert "<tr><td>heads</td><td>3 rows</td><td>layer, &lt;i&gt;</td></tr>" in report._repr_html_()
