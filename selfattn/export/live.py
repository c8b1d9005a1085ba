"""Figures that answer to hover and click inside an HTML file, opened from disk and offline: Vega, Vega-Lite and vega-embed.

Their JavaScript is vl-convert's own, so a page draws with what the pictures are drawn with. A figure's expressions are
interpreted, never evaluated (https://vega.github.io/vega/usage/interpreter/), so a page's policy can forbid eval; its spec
is data, which no browser runs. Without JavaScript, and where it fails, the picture stays.
"""

import json
import re
from functools import cache

from selfattn.charts.labels import drawable_spec
from selfattn.charts.vega import Spec
from selfattn.export import files

FILE = "figures.js"  # what pages that stand beside one another share

# Runs at a page's end: each figure is drawn in place of its picture.
_START = """
for (const place of document.querySelectorAll(".live")) {
  const picture = place.querySelector("img"), figure = place.appendChild(document.createElement("div"));
  const spec = JSON.parse(place.querySelector("script").textContent);
  picture.hidden = true;
  vegaEmbed(figure, spec, {actions: false, ast: true, mode: "vega-lite", renderer: "svg"}).catch((error) => {
    figure.remove();
    picture.hidden = false;
    console.error(error);
  });
}
"""


@cache
def script() -> str:
    """The JavaScript, about 900 kB: to be the content of FILE, or of an inline script, which it can't end before its own end."""
    bundle = files.painter.get().javascript_bundle(_START)
    # In a string and in a regular expression, where these may stand, the escape means the same.
    return re.sub(r"<(?=/script|script|!--)", r"\\x3c", bundle, flags=re.IGNORECASE)


def data(spec: Spec, reading: str) -> str:
    """A Vega-Lite spec as a data block to stand beside its picture. reading: its text alternative, where it has none.

    Inside the block no text of a spec can end it or begin another element: "<", ">" and "&" are spelled as escapes.
    """
    text = json.dumps(drawable_spec({"description": reading, **spec}), ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json">{text}</script>'
