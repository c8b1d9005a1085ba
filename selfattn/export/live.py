"""Interactive figures for an HTML file that opens from disk and offline: Vega, Vega-Lite and vega-embed.

The JavaScript is vl-convert's own, so live figures and pictures use the same versions. Vega interprets a figure's expressions
instead of evaluating them (https://vega.github.io/vega/usage/interpreter/), so a page's policy can forbid eval. A spec is
data, which no browser runs. Without JavaScript, or if it fails, the page keeps the picture.
"""

import json
import re
from functools import cache

from selfattn.charts.labels import drawable_spec
from selfattn.charts.vega import Spec
from selfattn.export import files

FILE = "figures.js"  # the script that pages in one folder share

# Runs at the end of a page, and draws each figure in place of its picture.
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
    """Return the JavaScript, about 900 kB, for FILE or for an inline script: nothing in it can close the script element."""
    bundle = files.painter.get().javascript_bundle(_START)
    # These occur in strings and regular expressions only, and there the escape means the same.
    return re.sub(r"<(?=/script|script|!--)", r"\\x3c", bundle, flags=re.IGNORECASE)


def data(spec: Spec, reading: str) -> str:
    """Return a Vega-Lite spec as a data block to put beside its picture. reading: its text alternative, if the spec has none.

    The block escapes "<", ">" and "&", so that no text in a spec can close it or open another element.
    """
    text = json.dumps(drawable_spec({"description": reading, **spec}), ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json">{text}</script>'
