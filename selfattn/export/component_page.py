"""Put dashboard components into an offline HTML page.

Every "<" in the data is escaped, so that no text can end a script.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for types only, because the import is slow
    from selfattn.panel import Live

FOLDER = Path(__file__).parents[1] / "dashboard" / "components"

_START = """
for (const place of document.querySelectorAll('[data-component="{name}"]')) {{
  const data = JSON.parse(place.firstElementChild.textContent);
  {name}({{ data, parentElement: place, setStateValue() {{}}, setTriggerValue() {{}} }});
}}
"""


@cache
def javascript(name: str) -> str:
    """Return a component's JavaScript as one module."""
    return _joined(["base.js", *sorted(path.name for path in FOLDER.glob(f"{name}_*.js")), f"{name}.js"])


@cache
def stylesheet(*names: str) -> str:
    """Return the shared CSS, then the components' CSS."""
    return _joined(["base.css", *(f"{name}.css" for name in names)])


def module(name: str) -> str:
    """Return a JavaScript module that draws all components of this name."""
    return javascript(name) + _START.format(name=name)


def place(live: "Live", without_script: str) -> str:
    """Return a component's HTML element, with its data. without_script: HTML to show if no script runs."""
    # Leave out links and clicks that need the dashboard.
    data = {
        key: {name: each for name, each in part.items() if name != "link"} if isinstance(part, dict) else part
        for key, part in live.data.items()
    }
    data |= {"clicks": False} if "clicks" in data else {}
    block = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div class="live" data-component="{live.component}"><script type="application/json">{block}</script></div>'
        f"<noscript>{without_script}</noscript>"
    )


def _joined(files: list[str]) -> str:
    """Join the files, without indentation and comment lines."""
    text = "\n".join((FOLDER / file).read_text("utf-8") for file in files)
    code = re.sub(r"^[ \t]*(?:/\*.*?\*/|//[^\n]*)\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^[ \t]+", "", code, flags=re.MULTILINE)
