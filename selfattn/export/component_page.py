"""A dashboard component and its data as one HTML page that works offline: the report's and the site's.

The page's policy forbids every request. Data is a JSON block, whose "<" are escaped: no text in it can end the block.
"""

import base64
import hashlib
import html
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "dashboard" / "components"

_PAGE_CSS = """:root { color-scheme: light dark; background: light-dark(#ffffff, #0f131a); }
body { max-width: 1100px; margin: 24px auto; padding: 0 16px; }
"""
_START = """
{name}({{
  data: JSON.parse(document.querySelector("#data").textContent),
  parentElement: document.querySelector("#place"),
  setStateValue() {{}},
  setTriggerValue() {{}},
}});
"""


@cache
def javascript(name: str) -> str:
    """Return a component as one module text: the shared base, the files NAME_*.js, and NAME.js, which exports the component."""
    return _joined(["base.js", *sorted(path.name for path in FOLDER.glob(f"{name}_*.js")), f"{name}.js"])


@cache
def stylesheet(name: str) -> str:
    """Return a component's CSS, the shared base first."""
    return _joined(["base.css", f"{name}.css"])


def component_html(name: str, data: dict[str, Any], title: str) -> str:
    """Return a whole page that shows this component with this data."""
    style, script = _PAGE_CSS + stylesheet(name), javascript(name) + _START.format(name=name)
    block = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            f"<title>{html.escape(title)}</title><style>{style}</style></head>",
            f'<body><main id="place"></main><script type="application/json" id="data">{block}</script>',
            f'<script type="module">{script}</script></body></html>\n',
        ]
    )


def _joined(files: list[str]) -> str:
    return "\n".join((FOLDER / file).read_text("utf-8") for file in files)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
