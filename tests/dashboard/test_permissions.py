"""Where others than this machine's own visitors can come, they open the operator's encoders and scans and nothing else."""

import sys

import pytest

from selfattn import LoadError, TextError
from selfattn.dashboard import permissions
from selfattn.dashboard.permissions import allowed_scan_folder, beyond_localhost, check_encoder, offered_encoders
from selfattn.encoders.sources import BUNDLED_NAME, CURATED


@pytest.fixture
def listening(monkeypatch):
    """listening(address, names): the server's address and the names it answers to."""

    def listen(address="0.0.0.0", names=("localhost",)):
        options = {"server.address": address, "server.allowedHosts": list(names)}
        monkeypatch.setattr(permissions.st, "get_option", options.get)

    return listen


@pytest.mark.parametrize(
    ("address", "names", "beyond"),
    [
        ("localhost", ["localhost", "127.0.0.1"], False),
        ("127.0.0.1", ["localhost"], False),
        ("::1", ["localhost"], False),
        (None, ["localhost"], True),
        ("0.0.0.0", ["localhost"], True),
        ("192.168.0.7", ["localhost"], True),
        ("localhost", [], True),
        ("localhost", ["localhost", "selfattn.example.org"], True),  # behind a proxy on this machine
    ],
)
def test_who_can_come(listening, address, names, beyond):
    listening(address, names)
    assert beyond_localhost() is beyond


def test_on_this_machine_anything_may_be_named(listening):
    listening("localhost")
    assert offered_encoders() == (CURATED, True)
    for name in ("/etc", "some/model", "no/such/folder"):
        check_encoder(name)
    assert str(allowed_scan_folder("/some/scan")) == "/some/scan"


def test_beyond_it_without_a_list_there_is_the_bundled_encoder_only(listening, tmp_path):
    listening()
    assert offered_encoders() == ((BUNDLED_NAME,), False)
    check_encoder(BUNDLED_NAME)
    names = (
        str(tmp_path),
        str(tmp_path / "no"),
        "bert-base-uncased",
        "some/model",
        "~",
        "/etc/passwd",
        "a\0b",
        "x" * 5000,
    )
    messages = set()
    for name in names:
        with pytest.raises(LoadError) as caught:
            check_encoder(name)
        assert caught.value.kind == "allowed"
        messages.add(str(caught.value).replace(repr(name[:1000]), ""))
    assert len(messages) == 1  # what isn't offered and what isn't there read the same


def test_beyond_it_the_operators_folders_and_lists(listening, monkeypatch, tmp_path):
    listening()
    (tmp_path / "shelf" / "mine").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(tmp_path / "shelf"))
    assert offered_encoders() == ((BUNDLED_NAME,), True)
    check_encoder("mine")
    check_encoder(str(tmp_path / "shelf" / "mine"))
    monkeypatch.setenv("HOME", str(tmp_path / "shelf" / "mine"))  # ~ is nobody's home
    for name in ("some/model", "bert-base-uncased", "../outside", str(tmp_path / "outside"), "no", ".", "~"):
        with pytest.raises(LoadError, match="not among this server's encoders"):
            check_encoder(name)
    monkeypatch.setenv("SELFATTN_MODELS", "bert-base-uncased")
    assert offered_encoders() == ((BUNDLED_NAME, "bert-base-uncased"), False)
    check_encoder("bert-base-uncased")
    with pytest.raises(LoadError, match="not among this server's encoders"):
        check_encoder("mine")
    monkeypatch.setattr(sys, "argv", ["app.py", "--model", "some/other"])
    assert offered_encoders() == (("some/other", "bert-base-uncased"), False)
    check_encoder(BUNDLED_NAME)  # where a page stays when the encoder it was asked for can't load


def test_beyond_it_scans_are_opened_where_the_operator_keeps_them(listening, monkeypatch, tmp_path):
    listening()
    for name in (str(tmp_path), "/no/such/folder", "mine"):
        with pytest.raises(TextError, match="SELFATTN_SCAN_DIR"):
            allowed_scan_folder(name)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.setenv("SELFATTN_SCAN_DIR", str(tmp_path))
    assert allowed_scan_folder("mine") == tmp_path / "mine"
    for name in ("/etc", "..", "loop"):
        with pytest.raises(TextError, match="SELFATTN_SCAN_DIR"):
            allowed_scan_folder(name)
