"""Every key of the session stands in session.py: no other file spells one out, and no widget shares one by its letters."""

import re

from selfattn.dashboard import session
from tests.test_layers import ROOT

KEYS = {name: each for name, each in vars(session).items() if isinstance(each, session.Key)}
NAMES = {*KEYS.values(), *session.AT.values()}
FILES = [*(ROOT / "selfattn/dashboard").glob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]
CODE = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in FILES if path.name != "session.py"}
# What is read or set in the session, and widgets that session.py has a key of.
SPELLED = re.compile(
    r'session_state(\["|\.\w+\("|\.(?!(get|setdefault|update|pop)\b)\w)|"\w+" (not )?in st\.session_state'
    rf'|\bkey="({"|".join(map(re.escape, NAMES))})"'
)


def test_no_other_file_spells_a_key_out():
    assert not [(file, found[0]) for file, code in CODE.items() for found in SPELLED.finditer(code)]


def test_every_key_is_used_and_has_a_name_of_its_own():
    assert not [name for name in KEYS if not any(re.search(rf"\b{name}\b", code) for code in CODE.values())]
    assert len(NAMES) == len(KEYS) + len(session.AT)
