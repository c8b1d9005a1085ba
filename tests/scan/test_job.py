"""The corpus job as people run it: killed and started again, bad rows, exit statuses, and reading the result."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from selfattn.scan import ScanError, read_scan
from selfattn.scan.__main__ import main
from selfattn.scan.job import Job, run
from selfattn.scan.output import ScanFolder

ROOT = Path(__file__).parents[2]


def write(path, n, bad=()):
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sentence", "word", "sense"])
        for number in range(n):
            text = (
                "No such word here." if number in bad else f"The bank number {number} is a bank" + " too" * (number % 7)
            )
            writer.writerow([text, "bank", "money" if number % 2 else ""])
    return path


def scan(table, output, *more):
    return main([str(table), "--output", str(output), "--device", "cpu", *more])


def test_a_scan_and_what_is_read_back(tmp_path, capsys):
    table, output = write(tmp_path / "table.csv", 23, bad=(4, 17)), tmp_path / "scan"
    assert scan(table, output, "--part-rows", "10") == 0
    assert "2 rejected" in capsys.readouterr().err
    found = read_scan(output)
    assert found.finished
    assert (found.n_layers, found.n_heads, found.n_rows, found.n_rejected) == (6, 12, 42, 2)
    frame = found.frame()
    assert frame["row"].tolist() == [n for n in range(23) if n not in (4, 17) for _ in range(2)]
    assert frame["start"].iloc[:2].tolist() == [4, 23]
    assert frame["sense"].iloc[2] == "money"
    assert pd.isna(frame["sense"].iloc[0])
    assert frame["entropy"].map(len).eq(72).all()
    assert len(found.frame(["row"], limit=15)) == 15
    heads = found.heads()
    assert heads["entropy"].to_numpy() == pytest.approx(np.stack(frame["entropy"]).mean(axis=0), abs=1e-5)
    for name in ("top_weight", "entropy", "special_share"):  # the lists run layer by layer: [layer * n_heads + head]
        one = heads[(heads["layer"] == 3) & (heads["head"] == 7)][name].iloc[0]
        assert one == pytest.approx(frame[name].map(lambda values: values[3 * 12 + 7]).mean(), abs=1e-5)
    rejects = found.rejects()
    assert rejects["row"].tolist() == ["4", "17"]
    assert rejects["line"].tolist() == ["6", "19"]
    assert rejects["reason"].str.contains("not a word").all()
    assert rejects["file"].eq(str(table)).all()


def test_strict_turns_rejected_rows_into_status_1(tmp_path):
    assert scan(write(tmp_path / "good.csv", 3), tmp_path / "good", "--strict") == 0
    assert scan(write(tmp_path / "bad.csv", 3, bad=(1,)), tmp_path / "bad", "--strict") == 1
    assert scan(tmp_path / "bad.csv", tmp_path / "bad", "--strict") == 1  # and again when nothing is left to do


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{absent}", "--output", "{out}"], "no file or folder"),
        (["{folder}", "--output", "{folder}/inside"], "lies inside the input"),
        (["{table}", "--output", "{table}"], "is a file"),
        (["{table}", "--output", "{folder}"], "holds other files"),
        (["{table}", "--output", "{out}", "--address", "auto"], "need --engine ray"),
        (["{table}", "--output", "{out}", "--device", "abacus"], "no 'abacus'"),
        (["{table}", "--output", "{out}", "--model", "{absent}"], ""),
    ],
)
def test_wrong_use_is_status_2_with_a_message_and_writes_nothing(tmp_path, capsys, arguments, message):
    folder = tmp_path / "folder"
    folder.mkdir()
    names = {
        "table": write(folder / "table.csv", 2),
        "folder": folder,
        "absent": tmp_path / "absent",
        "out": tmp_path / "out",
    }
    assert main([argument.format(**names) for argument in arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert [path.name for path in folder.iterdir()] == ["table.csv"]


@pytest.mark.parametrize("arguments", [[], ["a.csv"], ["a.csv", "--output", "b", "--part-rows", "0"], ["--no-such"]])
def test_a_wrong_command_line_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert "--engine ray --address auto" in capsys.readouterr().out


def test_another_scan_in_the_same_folder_is_refused(tmp_path, capsys):
    table, output = write(tmp_path / "table.csv", 3), tmp_path / "scan"
    assert scan(table, output) == 0
    assert scan(table, output, "--vectors") == 2
    assert "another vectors" in capsys.readouterr().err
    write(table, 4)
    assert scan(table, output) == 2
    assert "another input" in capsys.readouterr().err


def test_a_second_run_makes_only_what_is_missing(tmp_path):
    table, output = write(tmp_path / "table.csv", 9, bad=(3,)), tmp_path / "scan"
    assert scan(table, output, "--part-rows", "3") == 0
    parts = read_scan(output).parts()
    before = [part.stat().st_mtime_ns for part in parts]
    frame = read_scan(output).frame()
    parts[1].unlink()
    (output / "parts" / "part-000001.parquet.unfinished-1").write_bytes(b"half")
    assert not read_scan(output).finished
    assert scan(table, output, "--part-rows", "3") == 0
    after = [part.stat().st_mtime_ns for part in parts]
    assert [a == b for a, b in zip(before, after)] == [True, False, True]
    assert sorted(path.name for path in (output / "parts").iterdir()) == [part.name for part in parts]
    pd.testing.assert_frame_equal(read_scan(output).frame(), frame)
    assert read_scan(output).rejects()["row"].tolist() == ["3"]


@pytest.mark.slow
def test_killed_again_and_again_no_row_is_lost_and_none_comes_twice(tmp_path):
    table, output, whole = write(tmp_path / "table.csv", 240, bad=(5, 200)), tmp_path / "scan", tmp_path / "whole"
    more = ["--part-rows", "8", "--batch-tokens", "64"]
    assert scan(table, whole, *more) == 0
    command = [sys.executable, "-m", "selfattn.scan", str(table), "--output", str(output), "--device", "cpu", *more]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    kills = 0
    while kills < 2:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        parts = len(list(output.glob("parts/*.parquet")))
        while process.poll() is None and len(list(output.glob("parts/*.parquet"))) < parts + 4:
            time.sleep(0.002)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        kills += 1
        assert not read_scan(output).finished
    assert kills == 2
    assert scan(table, output, *more) == 0
    pd.testing.assert_frame_equal(read_scan(output).frame(), read_scan(whole).frame())
    pd.testing.assert_frame_equal(read_scan(output).rejects(), read_scan(whole).rejects())


def test_a_part_is_not_there_before_it_is_whole(tmp_path, monkeypatch):
    """The rejected rows come first: were it the other way round, a kill in between would lose them."""
    seen = []

    def watch(source, target):
        seen.append(Path(target).parent.name)
        return rename(source, target)

    rename = os.replace
    monkeypatch.setattr(os, "replace", watch)
    scan(write(tmp_path / "table.csv", 2, bad=(1,)), tmp_path / "scan")
    assert seen == ["scan", "rejects", "parts", "scan"]


def test_an_interrupt_is_status_130_and_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ScanFolder, "write", interrupt)
    assert scan(write(tmp_path / "table.csv", 2), tmp_path / "scan") == 130
    assert "goes on" in capsys.readouterr().err


def test_an_empty_table_is_a_finished_scan_of_nothing(tmp_path):
    assert scan(write(tmp_path / "table.csv", 0), tmp_path / "scan") == 0
    found = read_scan(tmp_path / "scan")
    assert found.finished
    assert found.n_rows == 0
    assert found.frame().empty


def test_progress_starts_where_the_earlier_run_stopped(tmp_path):
    table, output = write(tmp_path / "table.csv", 6), tmp_path / "scan"
    job = Job(str(table), str(output), device="cpu", part_rows=2)
    starts, counted = [], []

    def progress(done, total):
        starts.append((done, total))
        return counted.append

    run(job, progress=progress)
    read_scan(output).parts()[0].unlink()
    run(job, progress=progress)
    assert starts == [(0, 6), (4, 6)]
    assert sum(counted) == 8


@pytest.mark.parametrize("content", [None, "{}", "[1]", "no json"])
def test_a_folder_without_a_scan_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "scan.json").write_text(content)
    with pytest.raises(ScanError, match="holds no scan"):
        read_scan(tmp_path)
