"""Store the pictures that a first visitor sees while the encoder is being loaded: `python docs/while_loading.py`."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import PropertyMock, patch

from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from selfattn.dashboard import figures, while_loading  # noqa: E402


def record(look: str) -> figures.Page:
    """What the first page shows in this look."""
    end, records = figures.end_page, []
    with (
        patch.object(ContextProxy, "theme", PropertyMock(return_value=SimpleNamespace(type=look))),
        patch.object(while_loading, "loaded", lambda: True),
        patch.object(figures, "end_page", lambda: records.append(end()) or records[-1]),
    ):
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    if app.exception:
        raise RuntimeError(app.exception[0].message)
    return records[-1]


if __name__ == "__main__":
    records = {look: record(look) for look in ("light", "dark")}
    drawn = {
        look: [
            [figure.caption, json.loads(json.dumps(figure.draw(), default=float))]
            for figure in while_loading.figures(shown)
        ]
        for look, shown in records.items()
    }
    kept = {**while_loading.identity(records["light"]), "pictures": drawn}
    Path(str(while_loading.STORED)).write_text(json.dumps(kept) + "\n", "utf-8")
