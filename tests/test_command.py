"""Test the command `selfattn`."""

import os
import socket
import sys
from pathlib import Path

import pytest

from selfattn.__main__ import main
from selfattn.encoders.families import FAMILIES, save_tiny

APP = str(Path(__file__).parents[1] / "app.py")


@pytest.mark.parametrize(
    ("given", "passed_on"),
    [
        ([], []),
        (["a/folder"], ["--", "--model", "a/folder"]),
        (["--port", "0"], ["--server.port", "0"]),
        (
            ["--address", "192.168.1.20"],
            [
                "--server.address",
                "0.0.0.0",
                "--server.allowedHosts",
                "192.168.1.20",
                "--browser.serverAddress",
                "192.168.1.20",
            ],
        ),
        (["bert-base-uncased", "--port", "0"], ["--server.port", "0", "--", "--model", "bert-base-uncased"]),
    ],
)
def test_dashboard_starts_with_given_options(given, passed_on, monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(os, "execve", lambda *arguments: started.append(arguments))
    monkeypatch.chdir(tmp_path)
    for name in ("a/folder", "bert-base-uncased"):
        save_tiny(FAMILIES["BERT"], tmp_path / name)
    main(given)
    ((program, command, environment),) = started
    assert [program, *command] == [sys.executable, sys.executable, "-m", "streamlit", "run", APP, *passed_on]
    assert environment["MALLOC_ARENA_MAX"] == os.environ.get("MALLOC_ARENA_MAX", "2")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/no/such/folder", "There is no folder '/no/such/folder'"),
        ("nobody/has-this", "hf download nobody/has-this"),
        ("empty", "empty has no config.json"),
        ("empty/../model.safetensors", "is a file. Give the folder that contains it: 'empty/..'"),
    ],
)
def test_missing_encoder_is_refused(name, words, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("the server was started"))
    monkeypatch.setenv("SELFATTN_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "model.safetensors").touch()
    assert main([name]) == 2
    message = capsys.readouterr().err
    assert message.startswith("selfattn: ") and words in message


def test_unusable_port_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("the server was started"))
    with socket.create_server(("localhost", 0)) as taken:
        port = str(taken.getsockname()[1])
        for given, words in [
            (["--port", port], f"port {port} is not free. Give another"),
            (["--port", "99999"], "port 99999 is not free. Give another"),
            (["--address", "http://192.168.1.20:8501"], "expected a name or an IP address such as 192.168.1.20"),
        ]:
            with pytest.raises(SystemExit):
                main(given)
            assert words in capsys.readouterr().err
