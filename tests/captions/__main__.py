"""`python -m tests.captions`: keep what is said now."""

import json

from tests.captions.cases import CASES
from tests.captions.test_said import FILE, said

kept = {room: {name: said(case) for name, case in cases.items()} for room, cases in CASES.items()}
FILE.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", "utf-8")
