"""Copy as Python and from_link: the lines run, and both make the figure of the view."""

import os
from types import SimpleNamespace

import pytest

from selfattn import Head, LoadError, TextError, notebook
from selfattn.examples import PAIRS
from selfattn.export.notebook_lines import LABELLED, PairView, notebook_lines
from selfattn.scan import ScanError

pytestmark = pytest.mark.slow

TEXTS = ('The "old" crane and a crane stood here.', "It wasn't a crane.")
START = PAIRS[0]


def view(page, **more):
    own = {"control": None, "word": "crane", "at": (2, 1), "head": Head(3, 7)}
    return PairView(**{"page": page, "texts": TEXTS, **own, **more})


@pytest.fixture
def calls(monkeypatch):
    """What is asked of the figures, in place of drawing them."""
    asked = []
    for name in ("hidden_words", "steps", "all_heads"):
        monkeypatch.setattr(notebook, name, lambda _, *given, name=name, **more: asked.append((name, given, more)))
    return asked


def test_the_lines_make_the_figure_of_the_view(encoder):
    *before, last = notebook_lines(view("inside-a-head").line, {"encoder": encoder}).splitlines()
    names = {}
    exec("\n".join(before), names)
    made = eval(last, names).to_dict()
    assert made == notebook.steps(encoder, *TEXTS, "crane", at=(2, 1), layer=3, head=7).to_dict()
    assert made != notebook.steps(encoder, *TEXTS, "crane", layer=3, head=7).to_dict()


@pytest.mark.parametrize(
    ("page", "more", "last"),
    [
        ("inside-a-head", {}, "steps(encoder, {0!r}, {1!r}, 'crane', at=(2, 1), layer=3, head=7)"),
        ("", {}, "hidden_words(encoder, {0!r}, {1!r}, None, 'crane', at=(2, 1))"),
        ("", {"at": (1, 1), "senses": LABELLED, "control": "A crane."},
         "hidden_words(encoder, {0!r}, {1!r}, 'A crane.', 'crane', senses=labelled_sentences())"),
        ("all-heads", {"at": (1, 1), "control": "A crane.", "measure": "removal"},
         "all_heads(encoder, {0!r}, second={1!r}, control='A crane.', word='crane', measure='removal', chosen='L3 H7')"),
        ("all-heads", {"at": (1, 1), "measure": "itself", "sentence": "both"},
         "all_heads(encoder, {0!r}, pair={1!r}, measure='itself', chosen='L3 H7')"),
        ("all-heads", {"measure": "removal", "sentence": "B"},
         "all_heads(encoder, {0!r}, second={1!r}, word='crane', at=(2, 1), maps_of='B', measure='removal', chosen='L3 H7')"),
    ],
)  # fmt: skip
def test_each_page_has_its_own_figure(encoder, page, more, last, calls):
    lines = notebook_lines(view(page, **more).line, {"encoder": encoder})
    assert lines.splitlines()[-1] == last.format(*TEXTS)
    exec(lines, {})
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("name", "revision", "shelf", "whole_path", "named"),
    [
        ("owner/name", "abc123", None, True, "'owner/name', revision='abc123'"),
        ("owner/name", None, None, True, "'/home/me/owner/name'"),  # a folder's path is never taken for a Hub id
        ("owner/name", None, "/srv/shelf", True, "'/srv/shelf/owner/name'"),
        ("owner/name", None, "/srv/shelf", False, "'./name'"),
        ("/srv/shelf/name", None, "/srv/shelf", False, "'./name'"),
    ],
)
def test_they_name_an_encoder_that_is_not_the_bundled_one(name, revision, shelf, whole_path, named, monkeypatch):
    monkeypatch.setattr(os, "getcwd", lambda: "/home/me")
    monkeypatch.setenv("SELFATTN_MODEL_DIR", shelf or "")
    other = SimpleNamespace(
        name=name, title=name if revision else "name", revision=revision, dtype="bfloat16", digest="53aa"
    )
    line = notebook_lines("steps(encoder)", {"encoder": other}, whole_path).splitlines()[-2]
    said = "  # the folder, where you have it" if "./" in named else ""
    assert line == f"encoder = load_encoder({named}, dtype='bfloat16'){said}"


SITE = "http://localhost:8501/"


@pytest.mark.parametrize(
    ("link", "name", "given", "options"),
    [
        ("inside-a-head?head=L3+H7", "steps", (START.first, START.second, "bank"), {"layer": 3, "head": 7}),
        ("inside-a-head?example=bat&head=L0+H1", "steps", (*next(p for p in PAIRS if p.word == "bat").sentences[:2], "bat"),
         {"layer": 0, "head": 1}),
        ("?a=A+bank+is+a+bank.&b=The+bank.&word=Bank&at_a=2&head=L0+H1&way=between+the+sentences&c=", "hidden_words",
         ("A bank is a bank.", "The bank.", None, "bank"), {"at": (2, 1)}),
        ("all-heads?model=all-MiniLM-L6-v2&digest=53aa5117&measure=itself&head=L5+H0", "all_heads", (START.first,),
         {"second": START.second, "control": START.control, "word": "bank", "measure": "itself", "chosen": "L5 H0"}),
    ],
)  # fmt: skip
def test_a_link_asks_for_what_its_page_shows(link, name, given, options, calls):
    notebook.from_link(SITE + link)
    ((asked, arguments, more),) = calls
    assert (asked, arguments) == (name, given) and more.pop("theme") == notebook.LIGHT and more == options


def test_the_start_without_a_head_is_between_the_senses(encoder, calls):
    notebook.from_link(SITE, encoder)
    notebook.from_link(f"{SITE}inside-a-head", encoder)
    (_, arguments, options), (_, _, steps) = calls
    assert arguments == (*START.sentences, "bank") and set(options["senses"]) == {"sentence", "word", "sense"}
    assert (steps["layer"], steps["head"]) == (0, 10)  # the head that leads


EXPLORE = "A word in two sentences, Inside a head, All heads, Senses, Two encoders, Predictions"


@pytest.mark.parametrize(
    ("link", "error", "message"),
    [
        ("exercises", ValueError, f"Expected a link to {EXPLORE}, got one to 'exercises'"),
        ("senses?source=your+own+table", ValueError, r"A link has no table of your own in it\. Take the lines of its page"),
        ("senses?source=a+finished+scan&scan=absent", ScanError, "absent holds no scan"),
        ("inside-a-head?digest=deadbeef", LoadError,
         r"made with other weights than .*begins 'deadbeef'\. Load the link's encoder"),
        ("inside-a-head?a=Rain.&b=Snow", TextError, "No word stands in both sentences"),
        ("all-heads?tab=Lines+from+the+word&overlaid=L9+H9", ValueError, "'average of L0' or 'rollout', got 'L9 H9'"),
    ],
)  # fmt: skip
def test_a_link_that_cannot_be_drawn_is_refused(link, error, message, encoder):
    with pytest.raises(error, match=message):
        notebook.from_link(SITE + link, None if "digest" in link else encoder)
