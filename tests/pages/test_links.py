"""Test that a page shows what its link asks for."""

import shutil
import sys
from functools import partial
from urllib.parse import parse_qsl, urlparse

import pytest
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from selfattn import load_encoder
from selfattn.dashboard import encoder_picker, permissions
from selfattn.dashboard.cache import Cache
from selfattn.dashboard.download import view_link
from selfattn.encoders.errors import LoadError
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.sources import BUNDLED_CONTENT, BUNDLED_DIGESTS, BUNDLED_NAME
from tests.encoders.test_loading import change_config
from tests.pages.conftest import APP, at_address, open_link

pytestmark = pytest.mark.slow

REMEDY = "Choose another value, or ask the link's author for a new link."


def warnings(at: AppTest) -> list[str]:
    return [warning.value.replace("\\", "") for warning in at.warning]


def fresh(at: AppTest) -> AppTest:
    """Open the page again as a new visitor."""
    return open_link(**at.query_params)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny(FAMILIES["BERT"], tmp_path_factory.mktemp("links") / "tiny")


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ({"word": "loan", "at_b": "2", "head": "L9 H99", "device": "abacus", "dtype": "int3"},
         ["device 'abacus', which isn't on this server's list. Shown instead: auto.",
          "precision 'int3', which isn't on this server's list. Shown instead: float32.",
          "word 'loan', which isn't in both sentences. Shown instead: bank.",
          f"head L9 H99, which {BUNDLED_NAME} doesn't have. Shown instead: L0 H10."]),
        ({"example": "zebra", "at_b": "2"},
         ["example 'zebra', which doesn't exist. Shown instead: bank.",
          "occurrence 2 of 'bank', but sentence B has 'bank' once. Shown instead: occurrence 1."]),
        ({"model": "nobody/knows", "a": "A bank is a bank.", "b": "The bank.", "at_a": "3"},
         ["encoder 'nobody/knows', which isn't on this server's list. Shown instead: all-MiniLM-L6-v2.",
          "occurrence 3 of 'bank', but sentence A has 'bank' 2 times. Shown instead: occurrence 1."]),
        ({"a": "A bank is a bank.", "b": "The bank.", "word": "BANK", "at_a": "0", "at_b": "7"},
         ["occurrence 0 of 'bank', but sentence A has 'bank' 2 times. Shown instead: occurrence 1.",
          "occurrence 7 of 'bank', but sentence B has 'bank' once. Shown instead: occurrence 1."]),
    ],
    ids=["word", "example", "model", "occurrence"],
)  # fmt: skip
def test_unknown_values_in_link_are_reported(query, asked):
    at = open_link(**query)
    sentences = {
        f"The link asks for the {each} {REMEDY}".replace("for the occurrence", "for occurrence") for each in asked
    }
    assert {*warnings(at)} == sentences and len(warnings(at)) == len(asked)
    at.run()  # a second run repeats the warnings
    assert {*warnings(at)} == sentences
    at.session_state["head"] = "L3 H7"
    at.run()  # after the visitor's own choice the warning is gone
    assert {*warnings(at)} == {sentence for sentence in sentences if "head" not in sentence}


@pytest.mark.parametrize(
    ("page", "buttons"),
    [
        ("", {"way": ("between the sentences", "sentences"), "view": ("difference", "difference")}),
        ("all-heads", {"sentence": ("A and B as one text", "both")}),
        ("senses", {"source": ("your own table", "table")}),
        ("pronouns-and-negation", {"view": ("Many heads", "heads")}),
    ],
)
def test_address_contains_label_of_chosen_button(page, buttons):
    at = open_link(page, **{key: label for key, (label, _) in buttons.items()})
    for key, (label, name) in buttons.items():
        assert at.button_group(key=key).value == name and label in at.button_group(key=key).options
        assert at.query_params[key] in (label, [label])


@pytest.mark.parametrize("key", ["content", "digest"])
def test_address_keeps_digest_of_missing_encoder(key):
    at = open_link(model="another ...", other="/no/such/folder", **{key: "c0ffee00"})
    assert "There is no folder" in at.error[0].value
    assert any(text.value == f"This page shows {BUNDLED_NAME} instead." for text in at.text)
    assert at.query_params[key] in ("c0ffee00", ["c0ffee00"])
    at = open_link(model="another ...", other="/no/such/folder")
    assert (at.query_params["content"], warnings(at)) == (BUNDLED_CONTENT[:8], [])


@pytest.fixture
def asked_for(nothing_computed, monkeypatch):
    """Make `load_encoder` load only the bundled encoder, and collect the other names passed to it."""
    names = []

    def load(name, **options):
        if name != BUNDLED_NAME:
            names.extend({name} - {*names})  # a page may try to load it again
            raise LoadError(f"No {name} here.")
        return load_encoder(name, **options)

    monkeypatch.setattr(encoder_picker, "load_encoder", load)
    monkeypatch.setattr(encoder_picker, "_encoders", Cache(2, lambda _: 1))
    return names


def infos(at: AppTest) -> list[str]:
    return [info.value.replace("\\", "") for info in at.info]


HUB = "selfattn would load a folder with this name, or else a model from the Hugging Face Hub."


LISTED = {"model": "bert-base-uncased", "content": "c0ffee00"}  # the picker lists this encoder


@pytest.mark.parametrize(
    ("page", "query", "name", "where"),
    [
        *((page, LISTED, "bert-base-uncased", HUB) for page in ("", "from-scratch")),
        ("", {"model": "another ...", "other": "nobody/knows"}, "nobody/knows", HUB),
        ("", {"model": "another ...", "other": BUNDLED_NAME, "revision": "main"}, BUNDLED_NAME, HUB),
        ("", {"model": "another ...", "other": "/no/such"}, "/no/such", "selfattn would load this folder."),
    ],
)
def test_page_asks_before_loading_encoder(asked_for, page, query, name, where):
    stop = {"stop": "real-head", "reveal": "yes"} if page == "from-scratch" else {}
    at = at_address(page, **query | stop).run()
    assert (infos(at), asked_for) == ([f"Load {name}? The link names this encoder. {where}"], [])
    assert not at.get("vega_lite_chart") and not at.error
    assert at.query_params.get("content") in (query.get("content"), [query.get("content")])
    assert at.selectbox(key="model").value == query["model"]  # the picker is still shown
    at.run()
    assert asked_for == []
    if name != BUNDLED_NAME:
        at.button(key="load_model").click().run()
        assert asked_for == [name] and f"No {name} here." in at.error[0].value.replace("\\", "")
        assert not any("Load " in text for text in infos(at))


def test_page_asks_before_loading_second_encoder(asked_for):
    at = at_address("two-encoders", second="bert-base-uncased", second_content="c0ffee00").run()
    assert (infos(at), asked_for) == ([f"Load bert-base-uncased? The link names this encoder. {HUB}"], [])
    assert at.query_params["second_content"] in ("c0ffee00", ["c0ffee00"]) and not at.get("vega_lite_chart")
    at.button(key="load_second").click().run()
    assert asked_for == ["bert-base-uncased"] and at.error


def test_encoder_chosen_by_visitor_loads_at_once(asked_for):
    at = at_address(model="bert-base-uncased").run()
    at.selectbox(key="model").set_value("roberta-base").run()
    assert asked_for == ["roberta-base"]
    at.selectbox(key="model").set_value("bert-base-uncased").run()  # now the visitor's choice, not the link's
    assert asked_for == ["roberta-base", "bert-base-uncased"]
    at = at_address("two-encoders").run()
    at.selectbox(key="second").set_value("bert-base-cased").run()
    assert asked_for[2:] == ["bert-base-cased"]


def test_known_encoder_loads_without_asking(folder, nothing_computed, started_with, monkeypatch):
    link = {"model": "another ...", "other": str(folder)}
    monkeypatch.setattr(encoder_picker, "_encoders", Cache(2, lambda _: 1))
    assert infos(at_address(**link).run()) == [
        f"Load {folder}? The link names this encoder. selfattn would load this folder."
    ]
    open_link(**link)
    assert infos(at_address(**link).run()) == []  # already loaded
    monkeypatch.setattr(encoder_picker, "_encoders", Cache(2, lambda _: 1))
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(folder.parent))
    assert infos(at_address(**link).run()) == []
    monkeypatch.delenv("SELFATTN_MODEL_DIR")
    monkeypatch.setattr(encoder_picker, "_encoders", Cache(2, lambda _: 1))
    started_with(str(folder))
    assert infos(at_address(model=str(folder)).run()) == []
    monkeypatch.setattr(encoder_picker, "_encoders", Cache(2, lambda _: 1))
    monkeypatch.setenv("SELFATTN_MODELS", str(folder))
    assert infos(at_address(model=str(folder)).run()) == []


def test_link_may_have_full_name_of_bundled_encoder(folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["app.py", "--model", str(folder)])
    for page, key in (("", "model"), ("two-encoders", "second")):
        at = open_link(page, **{key: BUNDLED_NAME})
        assert (at.selectbox(key=key).value, at.query_params[key]) == (BUNDLED_NAME, "all-MiniLM-L6-v2")


def test_missing_second_encoder_is_reported(folder):
    compared = partial(open_link, "two-encoders")
    asked = "The link asks for the second encoder 'nobody/knows', which isn't on this server's list."
    assert warnings(compared(second="nobody/knows")) == [f"{asked} Shown instead: the same, untrained. {REMEDY}"]
    at = compared(second="another ...", second_other=str(folder), second_content="c0ffee00")
    begins = load_encoder(str(folder)).content[:8]
    assert [
        f"Shown instead: numbers computed by {folder.name}, whose sha256 begins with {begins}. " in text
        for text in warnings(at)
    ] == [True]
    at = compared(second="another ...", second_other=str(folder))
    assert at.query_params["second_content"] in (begins, [begins])


def test_letter_case_of_word_in_link_is_ignored():
    at = open_link(a="A crane by the bank.", b="The crane saw the bank.", word="BANK")
    assert (warnings(at), at.selectbox(key="word").value) == ([], "bank")
    assert fresh(at).selectbox(key="word").value == "bank"
    at.text_input(key="a").set_value("Crane, Bank!").run()  # the word stays, in A's new spelling
    assert at.selectbox(key="word").value == "Bank"


def test_word_from_link_is_replaced_if_not_offered():
    at = open_link("", a="我去银行存钱。", b="河边的银行。", word="银行")
    assert "Shown instead: 行." in at.warning[0].value.replace("\\", "")
    assert at.selectbox(key="word").value == "行" and "word" not in at.query_params
    at.text_input(key="b").set_value("流行。").run()
    assert at.selectbox(key="word").value == "行"


def test_word_from_link_stays_chosen():
    query = {"example": "your own", "a": "They approved of the bank.", "b": "We approved the bank."}
    at = open_link(**query)
    assert (at.selectbox(key="word").value, "word" in at.query_params) == ("bank", False)  # "bank" is the default
    # The word stays chosen while the visitor changes the sentences.
    at = open_link(example="your own", a="Winter came early.", b="Winter came late.", word="came")
    at.text_input(key="a").set_value("The bank came to Winter.").run()
    at.text_input(key="b").set_value("Winter came to the bank.").run()
    assert at.selectbox(key="word").value == "came"
    assert fresh(at).selectbox(key="word").value == "came"


def test_address_has_word_chosen_by_visitor():
    at = AppTest.from_file(str(APP), default_timeout=120)
    first = {"a": "The bank saw a crane.", "b": "A crane on the bank.", "c": "", "example": None}
    then = {"a": "The hippopotamus bank saw a crane.", "b": "A crane on the bank, a hippopotamus.", "word_chosen": True}
    for sentences, in_address in ((first, None), (then, "crane")):
        for key, value in sentences.items():
            at.session_state[key] = value
        at.run()
        assert (at.session_state["word"], at.query_params.get("word")) == ("crane", in_address)


@pytest.fixture(scope="module")
def begins(folder):
    """Return the first eight characters of each encoder's content digest."""
    return {"": BUNDLED_CONTENT[:8], str(folder): load_encoder(str(folder)).content[:8]}


def test_address_has_content_digest_of_encoder(folder, begins, started_with):
    at = open_link(model="another ...", other=str(folder))
    assert at.query_params["content"] == begins[str(folder)]
    assert warnings(fresh(at)) == []
    at.selectbox(key="model").set_value(BUNDLED_NAME).run()
    assert (at.query_params["content"], "model" in at.query_params) == (begins[""], False)
    started_with(str(folder))  # the server's folder isn't in the address
    assert dict(open_link().query_params) == {"content": f"{begins[str(folder)]} {folder.name}"}


@pytest.mark.parametrize("elsewhere", [True, False])
def test_link_made_with_another_encoder_gives_warning(folder, begins, started_with, elsewhere):
    made, opened = ("", str(folder)) if elsewhere else (str(folder), "")
    title = {"": BUNDLED_NAME, str(folder): folder.name}
    started_with(made)
    link = dict(open_link().query_params)
    assert warnings(open_link(**link)) == []
    started_with(opened)
    sentence = (
        f"The link was made with {title[made]}, whose sha256 begins with {begins[made]}. Shown instead: "
        f"numbers computed by {title[opened]}, whose sha256 begins with {begins[opened]}. To see the same numbers "
        "as the link's author, choose the link's encoder, or start selfattn with that encoder."
    )
    at = open_link(**link)
    assert warnings(at) == warnings(fresh(at)) == [sentence]  # a reload repeats the warning
    at = open_link("all-heads", **link)
    assert warnings(at) == [sentence]
    at.selectbox(key="model").set_value(BUNDLED_NAME if elsewhere else "another ...").run()
    if not elsewhere:
        at.text_input(key="other").set_value(made).run()
    assert warnings(at) == []  # now the page shows the link's encoder


@pytest.fixture(scope="module")
def relu(folder):
    """Copy the encoder's folder and change the configuration in the copy."""
    copy = shutil.copytree(folder, folder.parent / "relu" / "tiny")
    change_config(copy, hidden_act="relu")
    return copy


def test_link_made_with_another_configuration_gives_warning(folder, relu, started_with):
    started_with(str(folder))
    link = dict(open_link().query_params)
    started_with(str(relu))
    begins = {each: load_encoder(str(each)).content[:8] for each in (folder, relu)}
    assert [text.partition(" Shown instead: ")[0] for text in warnings(open_link(**link))] == [
        f"The link was made with tiny, whose sha256 begins with {begins[folder]}."
    ]
    assert open_link(content=begins[relu]).query_params["content"] == f"{begins[relu]} tiny"


def test_older_link_opens_with_note(relu, started_with):
    """Older links identify an encoder only by its weights."""
    started_with(str(relu))
    encoder = load_encoder(str(relu))
    at = open_link(digest=f"{encoder.digest[:8]} tiny")
    assert warnings(at) == [] and infos(at) == [
        "This old link identifies its encoder only by the weights. The encoder of this page has the same weights. "
        f"The sha256 of both encoders' weights begins with {encoder.digest[:8]}. "
        "The configuration and the tokeniser may differ from those of the link's encoder."
    ]
    assert at.query_params["content"] == f"{encoder.content[:8]} tiny" and "digest" not in at.query_params
    assert infos(fresh(at)) == warnings(fresh(at)) == []
    at.selectbox(key="model").set_value(BUNDLED_NAME).run()
    assert infos(at) == warnings(at) == []


def test_link_with_digest_of_other_weights_gives_warning(folder, started_with):
    link = {"digest": load_encoder(str(folder)).digest[:8] + " tiny"}
    at = open_link(**link)
    own = BUNDLED_DIGESTS["model.safetensors"][:8]
    sentence = (
        f"The link was made with tiny, whose weights' sha256 begins with {link['digest'][:8]}. "
        "Shown instead: numbers computed by "
    )
    assert [
        text.startswith(f"{sentence}{BUNDLED_NAME}, whose weights' sha256 begins with {own}. ") for text in warnings(at)
    ] == [True]
    assert (at.query_params["digest"], "content" in at.query_params) == (link["digest"], False)


@pytest.fixture(scope="module")
def private(folder, tmp_path_factory):
    """Make a folder of models and scans, some of which are broken."""
    root = tmp_path_factory.mktemp("private") / "of mine"
    for name in ("mine", "broken", "tiny", "below/tiny"):
        shutil.copytree(folder, root / "models" / name)
    (root / "models" / "broken" / "model.safetensors").write_bytes(b"no weights")
    (root / "scans" / "mine").mkdir(parents=True)
    (root / "scans" / "mine" / "scan.json").write_text("{")
    return root


@pytest.fixture
def public(monkeypatch):
    """Let the server accept visitors from other machines."""
    option = permissions.st.get_option
    monkeypatch.setattr(
        permissions.st, "get_option", lambda name: "0.0.0.0" if name == "server.address" else option(name)
    )


@pytest.fixture
def sent(monkeypatch):
    """Collect the server's messages to the browser."""
    messages, enqueue = [], ScriptRunContext.enqueue
    monkeypatch.setattr(
        ScriptRunContext, "enqueue", lambda self, message: (messages.append(str(message)), enqueue(self, message))[1]
    )
    return messages


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ({}, "load_encoder('./tiny')"),
        ({"model": "tiny (2)", "content": "c0ffee00"}, "The link was made with tiny (2)"),  # the second encoder of this name
        ({"model": "another ...", "other": "mine", "content": "c0ffee00"}, "The link was made with mine"),
        ({"model": "another ...", "other": "some/model"}, "doesn't offer the encoder 'some/model'"),
        ({"model": "another ...", "other": "broken"}, "The weights of broken can't be loaded"),
        ({"page": "two-encoders", "second": "another ...", "second_other": "broken"}, "The weights of broken can't be loaded"),
        ({"model": "another ...", "other": BUNDLED_NAME, "revision": "refs/pr/21"}, "doesn't let visitors choose a revision"),
        ({"source": "mine"}, "mine holds no scan"),
        ({"source": "../models"}, "'../models' isn't in this server's folder of scans"),
    ],
)  # fmt: skip
def test_no_path_on_server_is_sent_to_browser(private, started_with, public, sent, monkeypatch, query, answer):
    shelf, scans = private / "models", private / "scans"
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(shelf))
    monkeypatch.setenv("SELFATTN_SCAN_DIR", str(scans))
    started_with(str(shelf / "tiny"))
    if query.get("model") == "tiny (2)":
        monkeypatch.setenv("SELFATTN_MODELS", str(shelf / "below" / "tiny"))
    if "source" in query:
        query = {"page": "senses", "source": "a finished scan", "scan": query["source"]}
    at = at_address(**query)
    at.session_state["download"] = True
    at.run()
    assert any(answer in message.replace("\\", "") for message in sent)
    assert not [message for message in sent if str(private) in message]
    if not query:  # the link in the downloaded file opens on this server
        link = dict(parse_qsl(urlparse(view_link(load_encoder(str(shelf / "tiny")))).query))
        assert link["model"] == "tiny" and warnings(open_link(**link)) == []


def test_link_in_downloaded_file_opens_encoder(folder):
    encoder = load_encoder(str(folder))
    link = dict(parse_qsl(urlparse(view_link(encoder, head="L1 H1", content="c0ffee00", digest="c0ffee00")).query))
    at = open_link(**link)
    assert warnings(at) == []
    assert at.session_state["head"] == "L1 H1"
    assert at.sidebar.selectbox(key="model").value == "another ..." and at.sidebar.text_input(key="other").value == str(
        folder
    )
    link = dict(parse_qsl(urlparse(view_link(load_encoder(), model="another ...", other="elsewhere")).query))
    assert link == {"model": "all-MiniLM-L6-v2", "content": BUNDLED_CONTENT[:8]}
