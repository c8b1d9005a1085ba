"""Every key of the session stands in session.py: no other file spells one out, and no widget shares one by its letters."""

import ast

import pytest

from selfattn.dashboard import session
from tests.test_layers import ROOT

KEYS = {name: each for name, each in vars(session).items() if isinstance(each, session.Key)}
NAMES = {*KEYS.values(), *session.AT.values()}
FILES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in (*(ROOT / "selfattn/dashboard").glob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py")
    if path.name != "session.py"
}


def spelled(code):
    """Keys that are letters in this code: of what is read or set in the session, and of widgets where session.py has them."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Attribute(value=ast.Attribute(attr="session_state"), attr=name):
                yield from {name} - {"get", "setdefault", "update", "pop"}
            case ast.Subscript(value=ast.Attribute(attr="session_state"), slice=ast.Constant(key)):
                yield key
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="session_state"))):
                yield from (each.value for each in node.args if isinstance(each, ast.Constant) and each.value)
                yield from (each.arg for each in node.keywords)
            case ast.Compare(left=ast.Constant(key), comparators=[ast.Attribute(attr="session_state")]):
                yield key
            case ast.keyword(arg="key", value=ast.Constant(key)) if key in NAMES:
                yield key


@pytest.mark.parametrize("file", FILES)
def test_no_other_file_spells_a_key_out(file):
    assert not list(spelled(FILES[file]))


def test_every_key_is_used_and_has_a_name_of_its_own_and_a_meaning():
    code = "\n".join(FILES.values())
    assert not [name for name in KEYS if name not in code]
    assert len(NAMES) == len(KEYS) + len(session.AT) and all(key.meaning for key in NAMES)
