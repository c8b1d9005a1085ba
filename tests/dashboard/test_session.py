"""Test the keys of the session state."""

import re

from selfattn.dashboard import session
from tests.test_layers import ROOT

KEYS = {name: each for name, each in vars(session).items() if isinstance(each, session.Key)}
NAMES = {*KEYS.values(), *session.AT.values()}
FILES = [*(ROOT / "selfattn/dashboard").glob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]
CODE = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in FILES if path.name != "session.py"}
# Matches code that spells out a session key instead of using its constant in session.py.
SPELLED = re.compile(
    r'session_state(\["|\.\w+\("|\.(?!(get|setdefault|update|pop)\b)\w)|"\w+" (not )?in st\.session_state'
    rf'|\bkey="({"|".join(map(re.escape, NAMES))})"'
)


def test_only_session_py_spells_out_keys():
    assert not [(file, found[0]) for file, code in CODE.items() for found in SPELLED.finditer(code)]


def test_session_keys_are_used_and_unique():
    assert not [name for name in KEYS if not any(re.search(rf"\b{name}\b", code) for code in CODE.values())]
    assert len(NAMES) == len(KEYS) + len(session.AT)
