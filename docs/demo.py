"""Write docs/demo.html, the first example's page, which works offline: `make demo`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from selfattn import load_encoder  # noqa: E402
from selfattn.examples import PAIRS  # noqa: E402
from selfattn.export.site import pair_page, pair_panel  # noqa: E402

if __name__ == "__main__":
    encoder = load_encoder()
    page = pair_page(encoder, PAIRS[0], pair_panel(encoder, PAIRS[0]))
    (ROOT / "docs/demo.html").write_text(page, "utf-8")
