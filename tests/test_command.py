"""The command `selfattn`: what each of its forms starts."""

import os
import sys
from pathlib import Path

import pytest

from selfattn.__main__ import main

APP = str(Path(__file__).parents[1] / "app.py")


@pytest.mark.parametrize(
    ("given", "behind"),
    [
        ([], []),
        (["a/folder"], ["--", "--model", "a/folder"]),
        (["--port", "8600"], ["--server.port", "8600"]),
        (["bert-base-uncased", "--port", "8600"], ["--server.port", "8600", "--", "--model", "bert-base-uncased"]),
    ],
)
def test_the_dashboard_is_started_on_what_was_named(given, behind, monkeypatch):
    started = []
    monkeypatch.setattr(os, "execve", lambda *arguments: started.append(arguments))
    monkeypatch.chdir("/")
    main(given)
    ((program, command, environment),) = started
    assert program == sys.executable
    assert command == [sys.executable, "-m", "streamlit", "run", APP, *behind]
    assert environment["MALLOC_ARENA_MAX"] == os.environ.get("MALLOC_ARENA_MAX", "2")


def test_the_operators_own_number_of_arenas_stands(monkeypatch):
    started = []
    monkeypatch.setattr(os, "execve", lambda *arguments: started.append(arguments))
    monkeypatch.setenv("MALLOC_ARENA_MAX", "8")
    main([])
    assert started[0][2]["MALLOC_ARENA_MAX"] == "8"


def test_scan_is_the_corpus_job(tmp_path, capsys):
    assert main(["scan", str(tmp_path / "none.csv"), "--output", str(tmp_path / "scan")]) == 2
    assert capsys.readouterr().err.startswith(f"selfattn scan: There is no file or folder {tmp_path}")


@pytest.mark.parametrize("given", [["a", "b"], ["--port", "x"]])
def test_what_cannot_be_meant_is_refused(given, capsys, monkeypatch):
    monkeypatch.setattr(os, "execve", lambda *_: None)
    with pytest.raises(SystemExit) as stopped:
        main(given)
    assert stopped.value.code == 2
    assert "selfattn: error" in capsys.readouterr().err
