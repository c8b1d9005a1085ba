"""Write docs/demo.html and the stored figure of the start page."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from selfattn import load_encoder  # noqa: E402
from selfattn.dashboard.while_loading import STORED  # noqa: E402
from selfattn.examples import PAIRS  # noqa: E402
from selfattn.export.site import pair_page, pair_panel  # noqa: E402

if __name__ == "__main__":
    encoder = load_encoder()
    panel = pair_panel(encoder, PAIRS[0])
    (ROOT / "docs/demo.html").write_text(pair_page(encoder, PAIRS[0], panel), "utf-8")
    kept = {"content": encoder.content, "data": panel.live.data}
    Path(str(STORED)).write_text(json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
