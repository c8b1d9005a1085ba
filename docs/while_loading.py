"""Store the figure that a first visitor sees while the encoder is being loaded: `python docs/while_loading.py`."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from selfattn import load_encoder  # noqa: E402
from selfattn.dashboard.while_loading import STORED  # noqa: E402
from selfattn.examples import PAIRS  # noqa: E402
from selfattn.export.site import pair_panel  # noqa: E402

if __name__ == "__main__":
    encoder = load_encoder()
    kept = {"content": encoder.content, "data": pair_panel(encoder, PAIRS[0]).live.data}
    Path(str(STORED)).write_text(json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
