"""Test the benchmarks and the GPU check."""

import subprocess
import sys
from dataclasses import replace
from inspect import isgeneratorfunction
from pathlib import Path

import pytest

from benchmarks import gpu_check
from benchmarks.__main__ import NAMES
from benchmarks.gpu_check import DRY, checks, main
from benchmarks.server import trouble_in, warm_server
from benchmarks.session import Session
from benchmarks.soak import soak

ROOT = Path(__file__).parents[1]


@pytest.mark.bench
@pytest.mark.parametrize(
    "names",
    [pytest.param(["visitors"], marks=pytest.mark.browser), sorted({*NAMES} - {"visitors"})],
    ids=["visitors", "all others"],
)
def test_benchmarks_run_at_small_size(names):
    command = [sys.executable, "-m", "benchmarks", "--small", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    sections = [part for part in done.stdout.split("\n\n") if part.strip().startswith("| ")]
    assert len(sections) == len(names), done.stdout
    for section in sections:
        rows = [line.split("|") for line in section.splitlines() if line.startswith("| ")][1:]
        assert rows and all(row[2].strip() not in ("", "none") for row in rows), section


@pytest.mark.bench
def test_dry_run_of_gpu_check_passes_on_cpu(capsys, monkeypatch):
    monkeypatch.setattr(gpu_check, "keep", lambda section: pytest.fail("a dry run must not write its result"))
    assert main(["--dry"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| On cpu | measured | limit | met |"
    kept = [line.rsplit("|", 2)[1].strip() for line in lines[2:]]
    assert kept.count("yes") >= 13 and {*kept} == {"yes", ""}  # rows about running times have no verdict


def test_gpu_check_fails_on_wrong_numbers(encoder, monkeypatch):
    def wrong(other, on_cpu, plan):
        yield gpu_check._most("largest", float("nan"), 1)
        yield gpu_check._most("small", 0.5, 1)

    for name in [name for name, each in vars(gpu_check).items() if isgeneratorfunction(each) and each != checks]:
        monkeypatch.setattr(gpu_check, name, lambda *_: iter(()))
    monkeypatch.setattr(gpu_check, "parity", wrong)
    assert [check.holds for check in checks(encoder, encoder, DRY)] == [False, True]
    monkeypatch.setattr(gpu_check, "capture", lambda *arguments: wrong(*arguments))  # a check of running times
    assert [check.holds for check in checks(encoder, encoder, DRY)] == [False, True, None, None]
    assert [check.holds for check in checks(encoder, encoder, replace(DRY, judges_time=True))] == [False, True] * 2
    monkeypatch.setattr(gpu_check, "load_encoder", lambda device: encoder)
    assert main(["--dry"]) == 1


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_fifty_visitors_see_no_error(tmp_path):
    with warm_server(tmp_path / "log") as (address, pid):
        found = soak(address, pid, visitors=50, seconds=600)
    assert not found.trouble, found.trouble
    assert not trouble_in(tmp_path / "log")
    assert found.mean_memory(420, 600) < 1.1 * found.mean_memory(240, 420)


@pytest.mark.bench
def test_failing_page_is_reported(tmp_path):
    (tmp_path / "app.py").write_text("import streamlit as st\nst.text('here')\nraise ValueError('boom')\n")
    with warm_server(tmp_path / "log", tmp_path) as (address, _), Session(address) as session:
        run = session.open()
    assert run.texts == ["here"] and run.exceptions
    assert trouble_in(tmp_path / "log")
