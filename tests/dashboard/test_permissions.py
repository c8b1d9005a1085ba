"""Test which encoders and scans visitors may open."""

import os
import sys
from functools import partial
from pathlib import Path

import pytest

from selfattn import LoadError, TextError
from selfattn.dashboard import permissions
from selfattn.dashboard.encoder_picker import offered_devices
from selfattn.dashboard.permissions import (
    allowed_scan_folder,
    check_encoder,
    for_visitors,
    loads_unasked,
    offered_encoders,
)
from selfattn.encoders.sources import BUNDLED_NAME, BUNDLED_REVISION, CURATED, resolve


@pytest.fixture
def listening(monkeypatch):
    """Return a function that sets the server's address and host names."""

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
def test_which_addresses_are_beyond_localhost(listening, address, names, beyond):
    listening(address, names)
    assert permissions.beyond_localhost() is beyond


def test_local_visitors_may_open_anything(listening):
    listening("localhost")
    assert offered_encoders() == (CURATED, True)
    for name in ("/etc", "some/model", "no/such/folder"):
        check_encoder(name)
    assert str(allowed_scan_folder("/some/scan")) == "/some/scan"


def test_remote_visitors_may_open_bundled_encoder(listening, tmp_path):
    listening()
    assert offered_encoders() == ((BUNDLED_NAME,), False)
    check_encoder(BUNDLED_NAME)
    messages, names = set(), ("bert-base-uncased", "some/model", "~", "/etc/passwd", "a\0b", "x" * 5000)
    for name in (str(tmp_path), str(tmp_path / "no"), *names):
        with pytest.raises(LoadError) as caught:
            check_encoder(name)
        messages.add(str(caught.value).replace(repr(name[:1000]), ""))
    assert len(messages) == 1  # the message doesn't reveal whether a name exists


def test_remote_visitors_cannot_choose_revision(listening, monkeypatch, tmp_path):
    (tmp_path / "mine").mkdir()
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["app.py", "--model", "some/model"])
    for name in (BUNDLED_NAME, "some/model", "mine"):
        for revision in ("main", "refs/pr/21", BUNDLED_REVISION[:7], "f" * 40):
            listening()
            with pytest.raises(LoadError, match=rf"a revision of '{name}' \(given: '{revision}'\)"):
                check_encoder(name, revision)
            assert not loads_unasked(name, revision)
            listening("localhost")
            check_encoder(name, revision)
        listening()
        check_encoder(name)
        assert loads_unasked(name, "")
    check_encoder(BUNDLED_NAME, BUNDLED_REVISION)
    assert loads_unasked(BUNDLED_NAME, BUNDLED_REVISION)
    with pytest.raises(LoadError, match="doesn't offer the encoder"):
        check_encoder("another/model", BUNDLED_REVISION)


def test_remote_visitors_may_open_offered_encoders(listening, monkeypatch, tmp_path):
    listening()
    (tmp_path / "shelf" / "mine").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(tmp_path / "shelf"))
    assert offered_encoders() == ((BUNDLED_NAME,), True)
    check_encoder("mine")
    check_encoder(str(tmp_path / "shelf" / "mine"))
    monkeypatch.setenv("HOME", str(tmp_path / "shelf" / "mine"))  # ~ isn't expanded
    for name in ("some/model", "bert-base-uncased", "../outside", str(tmp_path / "outside"), "no", ".", "~"):
        with pytest.raises(LoadError, match="doesn't offer the encoder"):
            check_encoder(name)
    monkeypatch.setenv("SELFATTN_MODELS", "bert-base-uncased")
    assert offered_encoders() == ((BUNDLED_NAME, "bert-base-uncased"), False)
    check_encoder("bert-base-uncased")
    with pytest.raises(LoadError, match="doesn't offer the encoder"):
        check_encoder("mine")
    monkeypatch.setattr(sys, "argv", ["app.py", "--model", "some/other"])
    assert offered_encoders() == (("some/other", "bert-base-uncased"), False)
    check_encoder(BUNDLED_NAME)  # the bundled encoder is always allowed, as a fallback


def test_paths_outside_operators_folder_are_not_read(listening, monkeypatch, tmp_path):
    shelf, outside, looked_at = tmp_path / "shelf", tmp_path / "outside", []
    for made in (shelf / "mine", outside / "below"):
        made.mkdir(parents=True)
    (outside / "in").symlink_to(shelf / "mine")
    (tmp_path / "also-shelf").symlink_to(shelf)
    monkeypatch.setenv("SELFATTN_MODEL_DIR", str(tmp_path / "also-shelf"))
    monkeypatch.setenv("SELFATTN_SCAN_DIR", str(tmp_path / "also-shelf"))
    for look in ("stat", "lstat"):
        seen = partial(lambda look, path, **more: looked_at.append(str(path)) or look(path, **more), getattr(os, look))
        monkeypatch.setattr(os, look, seen)
    names = [f"{outside}{end}" for end in ("", "/no", "/in", "/below/..", "/below/../in", "/in/../../elsewhere")]
    names += ["../outside", "../outside/in", "mine/../../outside/no", "/etc/passwd", "/etc/passwd/no", "/proc/self/cwd"]
    for name in names:
        for refused, by in ((LoadError, check_encoder), (TextError, allowed_scan_folder), (LoadError, resolve)):
            listening("localhost" if by is resolve else "0.0.0.0")
            with pytest.raises(refused, match=r"SELFATTN_(MODEL|SCAN)_DIR"):
                by(name)
    assert not [path for path in looked_at if path.startswith((str(outside), "/etc", "/proc"))]
    assert any(path.startswith(str(shelf)) for path in looked_at)
    listening()
    for name in ("mine", f"{shelf}/mine", f"{tmp_path}/also-shelf/mine"):  # name, path, and path through a link
        check_encoder(name)
        assert allowed_scan_folder(name) == shelf / "mine"


@pytest.mark.parametrize(
    ("text", "name", "beyond", "here"),
    [
        ("/srv/my models/tiny lacks x", "/srv/my models/tiny", "tiny lacks x", None),
        ("OSError: [Errno 2] No such file: '/srv/a/b.json'", "mine", "OSError: [Errno 2] No such file: 'b.json'", None),
        ("No such file: '/srv/a dir/b c.json' or '/d e.json'", "", "No such file: 'b c.json' or '/d e.json'", None),
        ("No x in {shelf}/my tiny, {root}/a link/my tiny/x.json", "", "No x in my tiny, my tiny/x.json", None),
        ("{root}/a link holds two, {shelf} too", "", "a link holds two, of mine too", None),
        ("{root}/my scans/one/scan.json: no", "", "scan.json: no", None),
        ("{root}/a model/config.json, {root}/a model", "", "config.json, a model", None),
        ("{home}/x y/z.json and {here}/p q", "", "x y/z.json and p q", None),
        ("Asking the Hub for a/b, see https://hub.example{home}/b", "a/b", None, None),
    ],
)
def test_messages_hide_server_paths(listening, monkeypatch, tmp_path, text, name, beyond, here):
    shelf = tmp_path / "two words" / "of mine"
    (shelf / "my tiny").mkdir(parents=True)
    (tmp_path / "a link").symlink_to(shelf)
    monkeypatch.setenv("SELFATTN_MODEL_DIR", f"{tmp_path}/a link")
    monkeypatch.setenv("SELFATTN_SCAN_DIR", f"{tmp_path}/my scans")
    monkeypatch.setattr(sys, "argv", ["app.py", "--model", f"{tmp_path}/a model"])
    text = text.format(shelf=shelf, root=tmp_path, home=Path.home(), here=Path.cwd())
    for address, expected in (("0.0.0.0", beyond), ("localhost", here)):
        listening(address)
        assert for_visitors(text, name) == (expected or text)


@pytest.mark.parametrize("name", ["a\0b", "a" * 1001])
def test_invalid_scan_folder_is_refused(name):
    with pytest.raises(TextError, match="1,000 characters"):
        allowed_scan_folder(name)


def test_only_devices_in_setting_are_offered(monkeypatch):
    monkeypatch.delenv("SELFATTN_DEVICES", raising=False)
    assert offered_devices(["cuda", "cpu"]) == ["cuda", "cpu"]
    monkeypatch.setenv("SELFATTN_DEVICES", "cpu, mps")
    assert offered_devices(["cuda", "cpu"]) == ["cpu"]
    monkeypatch.setenv("SELFATTN_DEVICES", "mps")
    with pytest.raises(SystemExit, match="this machine only has cuda, cpu"):
        offered_devices(["cuda", "cpu"])
