"""The corpus job as people run it: killed and started again, bad rows, exit statuses, and reading the result."""

import csv
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selfattn import load_encoder
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import labelled_sentences
from selfattn.scan import ScanError, description, read_scan
from selfattn.scan.__main__ import main
from selfattn.scan.description import Job
from selfattn.scan.files import short_digest
from selfattn.scan.job import run
from selfattn.scan.output import ScanFolder
from selfattn.scan.ray_engine import ChunkWorker
from selfattn.scan.tables import input_files, plan
from tests.scan.test_measure import overflowing

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def bundled_encoder_is_loaded_once(encoder, monkeypatch):
    """Each run of a job would load it anew; encoders of one's own, other devices and other precisions still are."""
    load = description.load_encoder

    def once(name, **options):
        bundled = name is None and options == {"revision": None, "device": "cpu", "dtype": "float32"}
        return encoder if bundled else load(name, **options)

    monkeypatch.setattr(description, "load_encoder", once)


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


@pytest.fixture(scope="module")
def three_parts(tmp_path_factory, encoder):
    """A table of twelve rows and its scan in three parts, for a test to copy."""
    folder = tmp_path_factory.mktemp("three")
    table = write(folder / "table.csv", 12, bad=(5,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(description, "load_encoder", lambda *_, **__: encoder)
        assert scan(table, folder / "scan", "--part-rows", "4") == 0
    return folder


@pytest.fixture
def made(three_parts, tmp_path):
    """The same, a copy: the table, the scan's folder, and the options that it was made with."""
    shutil.copy(three_parts / "table.csv", tmp_path)
    return tmp_path / "table.csv", shutil.copytree(three_parts / "scan", tmp_path / "scan"), ["--part-rows", "4"]


def test_a_scan_and_what_is_read_back(tmp_path, capsys, monkeypatch):
    table, output = write(tmp_path / "table.csv", 23, bad=(4, 17)), tmp_path / "scan"
    assert scan(table, output, "--part-rows", "10") == 0
    assert "2 rejected" in capsys.readouterr().err
    monkeypatch.setattr("selfattn.scan.output.BATCH", 1)  # so that a text's occurrences fall into two
    found = read_scan(output)
    assert found.finished
    assert (found.n_layers, found.n_heads, found.n_rows, found.n_texts, found.n_rejected) == (6, 12, 42, 21, 2)
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


def test_rejected_rows_hold_no_cell_that_a_spreadsheet_would_run_and_read_back_as_they_were(tmp_path):
    sentences = ["=HYPERLINK(1)", "'=1", "'tis", "a-b", "a\r=1", "a\r\n\uff1d1", "a\0b", "No such word."]
    with open(tmp_path / "table.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("sentence", "word"), *((sentence, "=bank") for sentence in sentences)])
    assert scan(tmp_path / "table.csv", tmp_path / "scan", "--max-rejects", "1") == 0
    found = read_scan(tmp_path / "scan").rejects()
    assert found["sentence"].tolist() == sentences
    assert found["word"].tolist() == ["=bank"] * len(sentences)
    for file in ("rejects.csv", "rejects/part-000000.csv"):
        with open(tmp_path / "scan" / file, encoding="utf-8", newline="") as stream:
            cells = [cell for line in csv.reader(stream) for cell in line]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
        assert "'=HYPERLINK(1)" in cells


@pytest.mark.parametrize(
    ("more", "status"),
    [((), 3), (("--max-rejects", "0.2"), 0), (("--max-rejects", "0.19"), 3), (("--max-rejects", "1", "--strict"), 1)],
)
@pytest.mark.slow
def test_the_exit_status_says_whether_rows_were_rejected(tmp_path, more, status):
    table, output = write(tmp_path / "table.csv", 5, bad=(1,)), tmp_path / "scan"
    assert scan(table, output, *more) == scan(table, output, *more) == status  # and where nothing is left to do


def test_wrong_use_is_status_2_with_a_message_and_writes_nothing(tmp_path, capsys):
    folder = tmp_path / "folder"
    folder.mkdir()
    table, absent, out = write(folder / "table.csv", 2), tmp_path / "absent", tmp_path / "out"
    for source, output, more, message in [
        (absent, out, (), "no file or folder"),
        (folder, folder / "inside", (), "lies inside the input"),
        (table, table, (), "is a file"),
        (table, folder, (), "holds other files"),
        (table, out, ("--address", "auto"), "need --engine ray"),
        (table, out, ("--device", "abacus"), "no 'abacus'"),
        (table, out, ("--model", str(absent)), ""),
    ]:
        assert main([str(source), "--output", str(output), *more]) == 2
        assert message in capsys.readouterr().err
    assert not out.exists() and [path.name for path in folder.iterdir()] == ["table.csv"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--part-rows", "0"], "a whole number of at least 1"),
        (["--max-rejects", "nan"], "a share from 0 to 1"),
        (["--max-rejects", "1.1"], "a share from 0 to 1"),
        (["--heads", "5.10"], "Expected a head as L5H10, got '5.10'"),
    ],
)
def test_a_wrong_command_line_is_status_2(more, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["a.csv", "--output", "b", *more])
    assert caught.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.slow
def test_another_scan_in_the_same_folder_is_refused_and_says_what_differs(made, capsys):
    table, output, more = made
    for other, message in {
        ("--vectors",): "vectors was False and is True",
        ("--sources",): "sources was False and is True",
        ("--dtype", "bfloat16"): "dtype was 'float32' and is 'bfloat16'",
        ("--word", "bank"): "words was None and is ['bank']",
        ("--heads", "L0H10"): "heads was None and is ['L0 H10']",
    }.items():
        assert scan(table, output, *more, *other) == 2
        assert f"another scan: {message}" in capsys.readouterr().err
    lines = table.read_text().split("\n")
    table.write_text("\n".join([*lines[:7], lines[7].replace("number", "Number"), *lines[8:]]))
    assert scan(table, output, *more) == 2
    assert "table.csv has changed, first in its rows 5 to 8" in capsys.readouterr().err


@pytest.mark.slow
def test_a_second_run_makes_only_what_is_missing(made):
    table, output, _ = made
    parts, frame = read_scan(output).parts, read_scan(output).frame()
    before = [part.stat().st_mtime_ns for part in parts]
    parts[2].unlink()
    (output / "parts" / "part-000002.parquet.unfinished-1").write_bytes(b"half")
    assert not read_scan(output).finished
    starts, counted = [], []
    job = Job(str(table), str(output), device="cpu", part_rows=4)
    run(job, progress=lambda *rows: starts.append(rows) or counted.append)
    assert starts == [(8, 12)] and sum(counted) == 4
    after = [part.stat().st_mtime_ns for part in parts]
    assert [a == b for a, b in zip(before, after)] == [True, True, False]
    assert sorted(path.name for path in (output / "parts").iterdir()) == [part.name for part in parts]
    pd.testing.assert_frame_equal(read_scan(output).frame(), frame)
    assert read_scan(output).rejects()["row"].tolist() == ["5"]


@pytest.mark.slow
def test_killed_again_and_again_no_row_is_lost_and_none_comes_twice(tmp_path):
    table, output, whole = write(tmp_path / "table.csv", 72, bad=(5, 32)), tmp_path / "scan", tmp_path / "whole"
    more = ["--part-rows", "8", "--batch-tokens", "64"]
    assert scan(table, whole, *more) == 0
    command = [sys.executable, "-m", "selfattn.scan", str(table), "--output", str(output), "--device", "cpu", *more]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    kills = 0
    while kills < 2:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        parts = len(list(output.glob("parts/*.parquet")))
        while process.poll() is None and len(list(output.glob("parts/*.parquet"))) < parts + 1:
            time.sleep(0.01)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        kills += 1
        assert not read_scan(output).finished
    assert kills == 2
    assert scan(table, output, *more) == 0
    pd.testing.assert_frame_equal(read_scan(output).frame(), read_scan(whole).frame(), check_exact=True)
    pd.testing.assert_frame_equal(read_scan(output).rejects(), read_scan(whole).rejects())


def test_an_interrupt_is_status_130_and_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ScanFolder, "write", interrupt)
    assert scan(write(tmp_path / "table.csv", 2), tmp_path / "scan") == 130
    assert "goes on" in capsys.readouterr().err


@pytest.mark.slow
def test_rows_that_fit_no_table_are_rejected_and_the_job_ends_with_the_others(tmp_path):
    good = {"sentence": "The bank opened.", "word": "bank", "sense": "money"}
    lines = [
        json.dumps({**good, **odd})
        for odd in ({}, {"sense": "\ud83d"}, {"sense": [1]}, {"id": 7}, {"sentence": "\ud83d"})
    ]
    (tmp_path / "table.jsonl").write_text("\n".join(lines).replace("7", "7" * 5000))
    senses = pa.array([b"water", b"m\xffney", b"water"]).cast(pa.binary()).view(pa.string())
    pq.write_table(
        pa.table({"sentence": ["A bank."] * 3, "word": ["bank"] * 3, "sense": senses}), tmp_path / "table.parquet"
    )
    for name, rows, rejected in (("table.jsonl", [0], list("1234")), ("table.parquet", [0, 2], ["1"])):
        assert scan(tmp_path / name, tmp_path / f"{name} scan", "--max-rejects", "1") == 0
        found = read_scan(tmp_path / f"{name} scan")
        assert found.frame()["row"].tolist() == rows and found.rejects()["row"].tolist() == rejected
        assert found.rejects()["reason"].str.contains("not valid Unicode|no text|Not valid JSON|can't be read").all()


def test_an_empty_table_is_a_finished_scan_of_nothing(tmp_path):
    assert scan(write(tmp_path / "table.csv", 0), tmp_path / "scan") == 0
    found = read_scan(tmp_path / "scan")
    assert found.finished
    assert (found.n_rows, found.n_texts) == (0, 0)
    assert found.frame().empty


@pytest.mark.parametrize("content", [None, "{}", "no json", "[" * 100_000, "a pipe"])
def test_a_folder_without_a_scan_is_refused(tmp_path, content):
    if content == "a pipe":
        os.mkfifo(tmp_path / "scan.json")
    elif content is not None:
        (tmp_path / "scan.json").write_text(content)
    with pytest.raises(ScanError, match="holds no scan"):
        read_scan(tmp_path)


@pytest.mark.slow
def test_an_encoder_of_which_a_file_changed_is_refused_on_a_worker_and_when_a_scan_goes_on(tmp_path, capsys):
    table, output = write(tmp_path / "table.csv", 2), tmp_path / "scan"
    folder = save_tiny(FAMILIES["BERT"], tmp_path / "encoder")
    assert scan(table, output, "--model", str(folder)) == 0
    read_scan(output).parts[0].unlink()
    (chunk,) = plan(input_files(table), 1024)
    job = Job(str(table), str(output), str(folder), device="cpu")
    worker = ChunkWorker(job)
    with open(folder / "tokenizer.json", "a") as file:
        file.write("\n")
    message = r"This worker's encoder isn't the scan's: the encoder's tokenizer\.json has changed"
    with pytest.raises(ScanError, match=message):
        ChunkWorker(job)
    done = worker({name: np.array([value]) for name, value in asdict(chunk).items()})
    assert done["n_rows"].tolist() == [2] and len(read_scan(output).parts) == 1
    assert scan(table, output, "--model", str(folder)) == 2
    assert "another scan: the encoder's tokenizer.json has changed" in capsys.readouterr().err


def damage(part):
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)


def swap_names(part):
    """With the digests in their names: only what they say of themselves tells them apart."""
    other = sorted(part.parent.iterdir())[0]
    one, two = part.name.split("-")[1], other.name.split("-")[1]
    moved = part.rename(part.with_name(part.name.replace(one, two)))
    other.rename(other.with_name(other.name.replace(two, one)))
    assert moved != other


def foreign(part):
    (part.parent / "mine.parquet").write_bytes(part.read_bytes())


def rejects(part):
    (part.parents[1] / "rejects" / f"{part.name[:11]}.csv").write_text("nothing")


def no_rejects(part):
    (part.parents[1] / "rejects" / f"{part.name[:11]}.csv").unlink()


def twice(part):
    """The same rows once more, whole by their own digest."""
    other = part.with_name("other")
    table = pq.read_table(part)
    with pq.ParquetWriter(other, table.schema, compression="none") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"part": pq.read_metadata(part).metadata[b"part"].decode()})
    with open(other, "rb") as stream:
        other.rename(part.with_name(f"{part.name[:11]}-{short_digest(stream)}.parquet"))


CHANGES = {
    damage: "is damaged", swap_names: "or another place in this one", foreign: "is none of the scan's parts. Move it away",
    twice: "are for the same rows. Delete one of them", rejects: "isn't what the job wrote. Delete",
    no_rejects: "isn't what the job wrote. Delete",
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.slow
def test_a_part_that_is_not_what_was_written_is_refused_by_name(made, capsys, change):
    table, output, more = made
    change(read_scan(output).parts[1])
    assert scan(table, output, *more) == 2
    message = capsys.readouterr().err
    assert CHANGES[change] in message and str(output) in message
    with pytest.raises(ScanError) as caught:
        read_scan(output)
    assert str(caught.value) in message


@pytest.mark.slow
def test_a_part_of_another_scan_is_refused(made, tmp_path):
    table, output, more = made
    assert scan(table, tmp_path / "two", *more, "--vectors") == 0
    one, two = (read_scan(folder).parts[0] for folder in (output, tmp_path / "two"))
    one.unlink()
    two.rename(one.with_name(two.name))
    with pytest.raises(ScanError, match="another scan"):
        read_scan(output)


@pytest.mark.slow
def test_only_what_the_scan_made_is_removed_and_no_link_is_written_through(made, tmp_path):
    table, output, more = made
    read_scan(output).parts[0].unlink()
    mine = "thesis.unfinished-draft.docx", "rejects/a.unfinished-1", "notes.txt"
    for name in mine:
        (output / name).write_text("mine")
    left = "rejects.csv.unfinished-7", "parts/part-000000.parquet.unfinished-7", "rejects/part-000001.csv.unfinished-b"
    for name in left:
        (output / name).write_bytes(b"half")
    (tmp_path / "elsewhere").write_text("mine")
    for name in ("rejects.csv", "rejects/part-000000.csv"):
        (output / name).unlink()
        (output / name).symlink_to(tmp_path / "elsewhere")
    assert scan(table, output, *more) == 0
    assert [(output / name).read_text() for name in mine] == ["mine"] * 3
    assert not [name for name in left if (output / name).exists()]
    assert (tmp_path / "elsewhere").read_text() == "mine" and read_scan(output).finished


@pytest.mark.parametrize("name", ["thesis.unfinished-draft.docx", "rejects.csv", "rejects.csv.unfinished-1", "parts"])
def test_a_folder_with_something_of_ones_own_is_refused_and_left(tmp_path, capsys, name):
    (tmp_path / "scan").mkdir()
    (tmp_path / "scan" / name).write_text("mine")
    assert scan(write(tmp_path / "table.csv", 1), tmp_path / "scan") == 2
    assert "Choose a new or empty folder" in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in (tmp_path / "scan").iterdir()] == [(name, "mine")]


@pytest.mark.slow
def test_gathered_rejects_that_were_changed_are_refused_and_made_again(made):
    table, output, more = made
    whole = (output / "rejects.csv").read_bytes()
    (output / "rejects.csv").write_bytes(whole[:-3])
    with pytest.raises(ScanError, match=r"rejects\.csv isn't what the job wrote"):
        read_scan(output)
    assert scan(table, output, *more) == 0
    assert (output / "rejects.csv").read_bytes() == whole
    (output / "rejects.csv").unlink()
    assert not read_scan(output).finished  # killed before its last step
    assert scan(table, output, *more) == 0
    assert read_scan(output).finished


def described(about):
    """What scan.json would hold, its own digest right."""
    about = {name: value for name, value in about.items() if name != "sha256"}
    return json.dumps({"sha256": hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest(), **about})


GONE = object()
MISFITS = [  # of what is read again
    ("encoder", GONE), ("encoder", None), ("encoder", []), ("input", GONE), ("input", {}), ("input", [1]), ("vectors", 1),
    ("input", [{"file": "table.csv"}]), ("input", [{"file": "table.csv", "chunks": "abc"}]), ("input", None),
    ("input", [{"chunks": []}]), ("encoder.revision", GONE), ("encoder.revision", 7),
    ("words", "bank"), ("words", [None]), ("heads", "L0 H0"), ("heads", ["L0H0x"]), ("heads", [7]),
    ("heads", ["L0 H0", "L0 H0"]), ("heads", ["L6 H0"]), ("heads", ["L0 H12"]), ("format", 1),
    ("encoder.n_layers", GONE), ("encoder.n_layers", "6"), ("encoder.n_layers", -1), ("encoder.n_heads", 10**12),
    ("encoder.n_heads", float("nan")), ("encoder.d_model", float("inf")), ("encoder.d_model", True), ("encoder.name", None),
    ("encoder.name", "x" * 5000), ("encoder.files", GONE), ("encoder.files", []), ("sources", False), ("sources", 1),
]  # fmt: skip


@pytest.mark.slow
def test_a_description_that_does_not_fit_is_refused_whatever_its_own_digest_says(made, capsys):
    table, output, more = made
    note, whole = output / "scan.json", (output / "scan.json").read_text()
    note.write_text(described(json.loads(whole)))
    assert read_scan(output).n_rows == 22  # the digest is right
    texts = [
        whole.replace('"n_heads": 12', '"n_heads": 24'),  # and here it isn't
        whole.replace('"vectors"', '"vectors": false, "vectors"'),
        whole.replace('"part_rows": 4', f'"part_rows": {"9" * 5000}'),
    ]
    for place, value in MISFITS:
        about = json.loads(whole)
        *outer, name = place.split(".")
        inner = about[outer[0]] if outer else about
        inner.pop(name) if value is GONE else inner.update({name: value})
        texts.append(described(about))
    for text in texts:
        note.write_text(text)
        with pytest.raises(ScanError, match=r"isn't what the job wrote|holds no scan|by another version"):
            read_scan(output)
        assert scan(table, output, *more) == 2
        assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("about", [b"{}", b"no", b"[" * 99_999, None])
@pytest.mark.slow
def test_a_part_that_says_nothing_fit_of_itself_is_refused_by_name(tmp_path, about):
    assert scan(write(tmp_path / "table.csv", 3), tmp_path / "scan") == 0
    (part,) = read_scan(tmp_path / "scan").parts
    own, table = pq.read_metadata(part).metadata[b"part"], pq.read_table(part)
    columns = table if about else table.drop_columns(["entropy"])  # or others than the encoder and the heads make
    part.unlink()
    with pq.ParquetWriter(tmp_path / "other", columns.schema) as writer:
        writer.write_table(columns)
        writer.add_key_value_metadata({"part": about or own})
    with open(tmp_path / "other", "rb") as stream:
        (tmp_path / "other").rename(part.with_name(f"part-000000-{short_digest(stream)}.parquet"))
    with pytest.raises(ScanError, match="isn't what the job wrote: its columns, or what it says of itself"):
        read_scan(tmp_path / "scan")


@pytest.mark.slow
def test_a_scan_by_an_earlier_version_is_read_where_it_can_be_and_not_gone_on_with(made, capsys):
    table, output, more = made
    note = output / "scan.json"
    about = described({**json.loads(note.read_text()), "format": 2})
    note.write_text(about)
    for part in (output / "parts").iterdir():
        part.unlink()
    assert read_scan(output).n_rows == 0
    assert scan(table, output, *more) == 2
    assert "can be read, but not gone on with: choose another --output" in capsys.readouterr().err
    note.write_text('{"model": {"name": "x"}, "input": [], "part_rows": 4096, "n_parts": 1}')
    assert scan(table, output, *more) == 2
    assert "by another version of selfattn. Scan anew with another --output" in capsys.readouterr().err


@pytest.mark.slow
def test_two_jobs_never_write_to_one_folder(tmp_path, capsys):
    table, output = write(tmp_path / "table.csv", 3), tmp_path / "scan"

    def progress(done, total):
        assert scan(table, output) == 2  # a second job, while the first is at work
        return lambda n: None

    run(Job(str(table), str(output), device="cpu"), progress=progress)
    assert "Another job is writing to" in capsys.readouterr().err
    assert scan(table, output) == 0


def test_everything_is_on_the_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    """File flushed, then renamed, then its folder flushed; the rejected rows before the part."""
    seen = []
    fsync, rename = os.fsync, os.replace

    def synced(opened):
        seen.append("folder" if os.path.isdir(f"/proc/self/fd/{opened}") else "file")
        fsync(opened)

    def renamed(source, target):
        seen.append(Path(target).parent.name)
        rename(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    scan(write(tmp_path / "table.csv", 2, bad=(1,)), tmp_path / "scan")
    kept = [["file", folder, "folder"] for folder in ("scan", "rejects", "parts", "scan")]
    assert seen == [*kept[0], "folder", *kept[1], *kept[2], *kept[3]]


def corpus(path):
    path.write_text("The bank of the river.\nNothing here.\n\nA Bank beside a bank.\n" + "bank " * 600 + "\nA river.\n")
    return path


def test_raw_text_is_searched_and_only_the_chosen_heads_are_kept(tmp_path, capsys, encoder):
    text, output = corpus(tmp_path / "corpus.txt"), tmp_path / "scan"
    (tmp_path / "words.txt").write_text("\ufeff Lake\n\nRiver \n", "utf-8")
    more = [
        "--word",
        "bank",
        "--words",
        str(tmp_path / "words.txt"),
        "--heads",
        "L5H7,L0H10,L5 H7",
        "--max-rejects",
        "0.5",
    ]
    assert scan(text, output, *more, "--part-rows", "2") == 0
    said = capsys.readouterr().err
    assert (
        "5 occurrence(s) in 3 text(s), 1 rejected (see rejects.csv), 1 empty line(s) skipped, 1 text(s) without any of the words"
        in said
    )
    found = read_scan(output)
    assert found.finished and found.measured == ((0, 10), (5, 7)) and found.words == ("bank", "lake", "river")
    frame = found.frame()
    places = [(0, "bank", 4), (0, "river", 16), (2, "Bank", 2), (2, "bank", 16), (4, "river", 2)]
    assert list(zip(frame["row"], frame["word"], frame["start"])) == places
    for line in frame.itertuples():
        encoding = encoder.encode(line.sentence)
        (word,) = [w for w in encoding.words if line.sentence[line.start :].startswith(w.text) and w.text == line.word][
            :1
        ]
        starts = [i for i, w in enumerate(encoding.words) if w.text == line.word]
        own = encoder.reference_weights(line.sentence)[[0, 5], [10, 7], encoding.words[starts[0]].start]
        assert line.special_share == pytest.approx(own[:, [0, -1]].sum(-1).tolist(), abs=1e-4), word
    heads = found.heads()
    assert list(zip(heads["layer"], heads["head"])) == [(0, 10), (5, 7)]
    assert heads["top_weight"].tolist() == pytest.approx(np.stack(frame["top_weight"]).mean(axis=0), abs=1e-5)
    rejects = found.rejects()
    assert (rejects["row"].tolist(), rejects["line"].tolist(), rejects["word"].tolist()) == (["3"], ["5"], ["bank"])
    assert "512" in rejects["reason"][0]


@pytest.mark.slow
def test_sources_are_kept_where_they_are_asked_for_and_a_scan_without_is_what_it_was(tmp_path):
    text, plain, output = corpus(tmp_path / "corpus.txt"), tmp_path / "plain", tmp_path / "scan"
    more = ["--word", "bank", "--max-rejects", "1"]
    assert scan(text, plain, *more) == scan(text, output, *more, "--sources") == 0
    assert "sources" not in json.loads((plain / "scan.json").read_text())
    frame, found = read_scan(output).frame(), read_scan(output)
    assert [len(one) for one in frame["sources"]] == [3, 3, 3]
    assert "river" in frame["sources"][0] and frame["source_moves"].map(max).between(0.001, 1).all()
    with pytest.raises(ScanError, match="was made without --sources"):
        read_scan(plain).sources()
    assert found.heads()["entropy"].tolist() == pytest.approx(read_scan(plain).heads()["entropy"].tolist(), abs=1e-6)
    table = pq.read_table(found.parts[-1])
    moves = pa.array([[np.nan]] * len(table), pa.list_(pa.float32()))
    pq.write_table(table.set_column(table.num_columns - 1, "source_moves", moves), found.parts[-1])  # by a stranger
    with pytest.raises(ScanError, match="NaN or infinity"):
        found.frame()
    names = pa.array([["river", None, "of"]] * len(table), pa.list_(pa.string()))
    pq.write_table(table.set_column(table.num_columns - 2, "sources", names), found.parts[-1])
    with pytest.raises(ScanError, match="words without a text or a move"):
        found.sources()


@pytest.mark.slow
def test_what_words_take_their_meaning_from_is_counted_as_pandas_does(tmp_path, monkeypatch):
    rows = labelled_sentences().query("word in ['bank', 'bat']").groupby("word").head(24)
    lone = pd.DataFrame({"sentence": ["Bank!"], "word": ["bank"], "sense": [None]})
    pd.concat([rows, lone]).to_csv(tmp_path / "some.csv", index=False)
    assert scan(tmp_path / "some.csv", tmp_path / "scan", "--sources", "--part-rows", "7") == 0
    found = read_scan(tmp_path / "scan")
    frame = found.frame()
    frame = frame.assign(word=frame["word"].str.lower(), source=frame["sources"].str[0].str.lower())
    frame["move"] = frame["source_moves"].str[0]
    first = frame.sort_values("move", ascending=False)
    wanted = first.groupby(["word", "source"]).agg(
        n=("row", "size"), move=("move", "mean"), sentence=("sentence", "first")
    )
    table = found.sources()
    assert len(table) == len(wanted) and found.has_sources
    for row in table.itertuples():
        own = wanted.loc[(row.word, row.source)]
        assert (row.n, row.sentence) == (own["n"], own["sentence"]) and row.move == pytest.approx(own["move"])
        assert row.share == pytest.approx(own["n"] / (frame["word"] == row.word).sum())
    ordered = table.sort_values(["word", "n", "move"], ascending=[True, False, False])
    assert table["n"].max() > 1 and ordered.index.tolist() == table.index.tolist()
    assert table.query("word == 'bank'")["share"].sum() == pytest.approx(24 / 25)  # "Bank!" has no other word


@pytest.mark.slow
def test_sources_of_an_encoder_that_is_shown_only_are_refused(tmp_path, capsys, monkeypatch, encoder_of):
    text, output = corpus(tmp_path / "corpus.txt"), tmp_path / "scan"
    monkeypatch.setattr(description, "load_encoder", lambda *_, **__: encoder_of("XLNet"))
    assert scan(text, output, "--word", "bank", "--sources") == 2
    assert "No word can be hidden in" in capsys.readouterr().err
    assert not output.exists()


def test_texts_without_the_word_dont_make_the_share_of_rejected_rows_smaller(tmp_path, capsys):
    (tmp_path / "corpus.txt").write_text("A bank.\n" + "bank " * 600 + "\n" + "Nothing here.\n" * 18, "utf-8")
    assert scan(tmp_path / "corpus.txt", tmp_path / "scan", "--word", "bank") == 3
    assert (
        "1 occurrence(s) in 1 text(s), 1 rejected (see rejects.csv), 18 text(s) without any of the words"
        in capsys.readouterr().err
    )


def test_heads_that_do_not_exist_and_words_that_are_none_are_status_2(tmp_path, capsys):
    text, output = corpus(tmp_path / "corpus.txt"), tmp_path / "scan"
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "latin.txt").write_bytes(b"b\xe4nk\n")
    for more, message in {
        ("--word", "bank", "--heads", "L6H0,L0H1"): "has no L6 H0: its heads are L0 H0 to L5 H11. Change --heads.",
        ("--word", "bank", "--heads", "L0H12"): "has no L0 H12",
        ("--word", "New York"): "Expected one word to search for, got 'New York' (2 words or signs)",
        ("--words", str(tmp_path / "empty.txt")): "has no words",
        ("--words", str(tmp_path / "absent.txt")): "absent.txt",
        ("--words", str(tmp_path / "latin.txt")): "latin.txt is not valid UTF-8. Save it as UTF-8.",
    }.items():
        assert scan(text, output, *more) == 2
        assert message in capsys.readouterr().err
        assert not output.exists()


@pytest.mark.slow
def test_a_text_that_comes_out_as_nan_is_rejected(tmp_path):
    folder = save_tiny(FAMILIES["BERT"], tmp_path / "encoder")
    overflowing(broken := load_encoder(str(folder), device="cpu"), "loan")
    broken.model.save_pretrained(folder)
    (tmp_path / "corpus.txt").write_text("The bank of the river.\nThe bank of the loan.\nA bank.\n" + "bank " * 70)
    job = Job(str(tmp_path / "corpus.txt"), str(tmp_path / "scan"), str(folder), device="cpu", words=("bank",))
    assert run(job).n_rejected == 2
    found = read_scan(tmp_path / "scan")
    assert found.rejects()["row"].tolist() == ["1", "3"] and found.frame()["row"].tolist() == [0, 2]
    assert "makes NaN or infinity of this text, so nothing was measured" in found.rejects()["reason"][0]
    assert np.isfinite(np.stack(found.frame()["entropy"])).all()
    assert found.heads().notna().all(axis=None)
    table = pq.read_table(found.parts[0])
    table = table.set_column(
        7, table.schema.field("entropy"), pa.array([[np.nan] * 12] * 2, table.schema.field("entropy").type)
    )
    pq.write_table(table, found.parts[0])  # as a version before could have
    for read in (found.frame, found.heads):
        with pytest.raises(ScanError, match="NaN or infinity, as parts by an earlier version may"):
            read()
