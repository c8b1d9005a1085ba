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

from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import labelled_sentences
from selfattn.scan import ScanError, description, read_scan
from selfattn.scan.__main__ import main
from selfattn.scan.description import Job
from selfattn.scan.job import run
from selfattn.scan.output import ScanFolder
from selfattn.scan.ray_engine import ChunkWorker
from selfattn.scan.tables import input_files, plan

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def bundled_encoder_is_loaded_once(encoder):
    """Each run of a job would load it anew; encoders of one's own, other devices and other precisions still are."""
    load = description.load_encoder

    def once(name, **options):
        bundled = name is None and options == {"revision": None, "device": "cpu", "dtype": "float32"}
        return encoder if bundled else load(name, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(description, "load_encoder", once)
        yield


def write(path, n, bad=()):
    lines = [f"The bank number {number} is a bank{' too' * (number % 7)}" for number in range(n)]
    rows = [("No such word here." if at in bad else line, "bank", "money" * (at % 2)) for at, line in enumerate(lines)]
    pd.DataFrame(rows, columns=["sentence", "word", "sense"]).to_csv(path, index=False)
    return path


def scan(table, output, *more):
    """The exit status of the command."""
    try:
        return main([str(table), "--output", str(output), "--device", "cpu", *more])
    except SystemExit as ended:
        return ended.code


@pytest.fixture(scope="module")
def three_parts(tmp_path_factory):
    """A table of twelve rows and its scan in three parts, for a test to copy."""
    folder = tmp_path_factory.mktemp("three")
    table = write(folder / "table.csv", 12, bad=(5,))
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
    assert frame["sense"].iloc[2] == "money" and pd.isna(frame["sense"].iloc[0])
    assert len(found.frame(["row"], limit=15)) == 15
    heads = found.heads()
    for name in ("top_weight", "entropy", "special_share"):  # the lists run layer by layer: [layer * n_heads + head]
        assert heads[name].to_numpy() == pytest.approx(np.stack(frame[name]).mean(axis=0), abs=1e-5)
        one = heads[(heads["layer"] == 3) & (heads["head"] == 7)][name].iloc[0]
        assert one == pytest.approx(frame[name].map(lambda values: values[3 * 12 + 7]).mean(), abs=1e-5)
    rejects = found.rejects()
    assert (rejects["row"].tolist(), rejects["line"].tolist()) == (["4", "17"], ["6", "19"])
    assert rejects["reason"].str.contains("not a word").all() and rejects["file"].eq(str(table)).all()


def test_rejected_rows_hold_no_cell_that_a_spreadsheet_would_run_and_read_back_as_they_were(tmp_path):
    sentences = ["=HYPERLINK(1)", "'=1", "'tis", "a-b", "a\r=1", "a\r\n\uff1d1", "a\0b", "No such word."]
    with open(tmp_path / "table.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("sentence", "word"), *((sentence, "=bank") for sentence in sentences)])
    assert scan(tmp_path / "table.csv", tmp_path / "scan", "--max-rejects", "1") == 0
    found = read_scan(tmp_path / "scan").rejects()
    assert found["sentence"].tolist() == sentences
    assert found["word"].tolist() == ["=bank"] * len(sentences)
    with open(tmp_path / "scan" / "rejects.csv", encoding="utf-8", newline="") as stream:
        cells = [cell for line in csv.reader(stream) for cell in line]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert "'=HYPERLINK(1)" in cells


def test_the_exit_status_says_whether_rows_were_rejected(tmp_path, capsys):
    table, output = write(tmp_path / "table.csv", 5, bad=(1,)), tmp_path / "scan"
    for more, status in [("", 3), ("--max-rejects 0.2", 0), ("--max-rejects 0.19", 3), ("--max-rejects 1 --strict", 1)]:
        assert scan(table, output, *more.split()) == status  # also where nothing is left to do
    # Texts without the word don't make the share smaller.
    (tmp_path / "corpus.txt").write_text("A bank.\n" + "bank " * 600 + "\n" + "Nothing here.\n" * 18, "utf-8")
    assert scan(tmp_path / "corpus.txt", tmp_path / "second", "--word", "bank") == 3
    said = "1 occurrence(s) in 1 text(s), 1 rejected (see rejects.csv), 18 text(s) without any of the words"
    assert said in capsys.readouterr().err


def test_wrong_use_is_status_2_with_a_message_and_writes_nothing(tmp_path, capsys):
    folder, out = tmp_path / "folder", tmp_path / "out"
    for name in ("thesis.unfinished-draft.docx", "rejects.csv", "parts"):  # of one's own, in a folder each
        (tmp_path / f"with {name}").mkdir()
        (tmp_path / f"with {name}" / name).write_text("mine")
    folder.mkdir()
    table, empty, latin = write(folder / "table.csv", 2), tmp_path / "empty.txt", tmp_path / "latin.txt"
    empty.write_text("\n")
    latin.write_bytes(b"b\xe4nk\n")
    for source, output, more, message in [
        (tmp_path / "absent", out, "", "no file or folder"),
        (folder, folder / "inside", "", "lies inside the input"),
        (table, table, "", "is a file"),
        (table, folder, "", "holds other files"),
        *((table, path, "", "Choose a new or empty folder") for path in tmp_path.glob("with *")),
        (table, out, "--address auto", "need --engine ray"),
        (table, out, "--device abacus", "no 'abacus'"),
        (table, out, f"--model {tmp_path}/absent", ""),
        (table, out, "--part-rows 0", "a whole number of at least 1"),
        (table, out, "--max-rejects nan", "a share from 0 to 1"),
        (table, out, "--max-rejects 1.1", "a share from 0 to 1"),
        (table, out, "--heads 5.10", "Expected a head as L5H10, got '5.10'"),
        (table, out, "--heads L6H0,L0H1", "has no L6 H0: its heads are L0 H0 to L5 H11. Change --heads."),
        (table, out, "--heads L0H12", "has no L0 H12"),
        (table, out, "--word bank.", "Expected one word to search for, got 'bank.' (2 words or signs)"),
        (table, out, f"--words {empty}", "has no words"),
        (table, out, f"--words {latin}", "latin.txt is not valid UTF-8. Save it as UTF-8."),
    ]:
        assert scan(source, output, *more.split()) == 2
        assert message in capsys.readouterr().err
    assert not out.exists() and [path.name for path in folder.iterdir()] == ["table.csv"]
    assert [path.read_text() for path in tmp_path.glob("with */*")] == ["mine"] * 3


@pytest.mark.slow
def test_another_scan_in_the_same_folder_is_refused_and_says_what_differs(made, capsys):
    table, output, more = made
    for other, message in {
        ("--vectors",): "vectors was False and is True",
        ("--sources",): "sources was False and is True",
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
    parts, frame, rejected = read_scan(output).parts, read_scan(output).frame(), (output / "rejects.csv").read_bytes()
    before = [part.stat().st_mtime_ns for part in parts]
    parts[2].unlink()
    (output / "rejects.csv").unlink()
    (output / "parts" / "part-000002.parquet.unfinished-1").write_bytes(b"half")
    assert not read_scan(output).finished and read_scan(output).rejects()["row"].tolist() == ["5"]
    starts, counted = [], []
    job = Job(str(table), str(output), device="cpu", part_rows=4)
    run(job, progress=lambda *rows: starts.append(rows) or counted.append)
    assert starts == [(8, 12)] and sum(counted) == 4
    after = [part.stat().st_mtime_ns for part in parts]
    assert [a == b for a, b in zip(before, after)] == [True, True, False]
    assert sorted(path.name for path in (output / "parts").iterdir()) == [part.name for part in parts]
    pd.testing.assert_frame_equal(read_scan(output).frame(), frame)
    assert (output / "rejects.csv").read_bytes() == rejected
    (output / "rejects.csv").unlink()
    assert not read_scan(output).finished  # killed before its last step
    assert run(job).n_rejected == 1 and read_scan(output).finished


@pytest.mark.long
def test_killed_again_and_again_no_row_is_lost_and_none_comes_twice(tmp_path):
    table, output, whole = write(tmp_path / "table.csv", 72, bad=(5, 32)), tmp_path / "scan", tmp_path / "whole"
    more = ["--part-rows", "8", "--batch-tokens", "64"]
    assert scan(table, whole, *more) == 0
    command = [sys.executable, "-m", "selfattn.scan", str(table), "--output", str(output), "--device", "cpu", *more]
    for _ in range(2):
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
        parts = len(list(output.glob("parts/*.parquet")))
        while process.poll() is None and len(list(output.glob("parts/*.parquet"))) < parts + 1:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not read_scan(output).finished
    assert scan(table, output, *more) == 0
    pd.testing.assert_frame_equal(read_scan(output).frame(), read_scan(whole).frame(), check_exact=True)
    pd.testing.assert_frame_equal(read_scan(output).rejects(), read_scan(whole).rejects())


def test_an_interrupt_is_status_130_and_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ScanFolder, "write", interrupt)
    assert scan(write(tmp_path / "table.csv", 2), tmp_path / "scan") == 130
    assert "goes on" in capsys.readouterr().err


def test_an_empty_table_is_a_finished_scan_of_nothing(tmp_path):
    assert scan(write(tmp_path / "table.csv", 0), tmp_path / "scan") == 0
    found = read_scan(tmp_path / "scan")
    assert found.finished and found.n_rows == found.n_texts == 0
    assert found.frame().empty and found.rejects().empty


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


def rejected_rows(part):
    return part.parents[1] / "rejects" / f"{part.name[:11]}.csv"


def damage(part):
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)


def swap_names(part):
    """With the digests in their names: only what they say of themselves tells them apart."""
    other = sorted(part.parent.iterdir())[0]
    one, two = part.name.split("-")[1], other.name.split("-")[1]
    part.rename(part.with_name(part.name.replace(one, two)))
    other.rename(other.with_name(other.name.replace(two, one)))


def rewrite(part, says=lambda own: own, without=(), twice=False):
    """The part again, whole by its own digest: what it says of itself changed, or its columns."""
    table, own = pq.read_table(part).drop_columns([*without]), pq.read_metadata(part).metadata[b"part"]
    with pq.ParquetWriter(part.with_name("other"), table.schema, compression="none") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"part": says(own)})
    digest = hashlib.sha256(part.with_name("other").read_bytes()).hexdigest()[:16]
    part.with_name("other").rename(part.with_name(f"{part.name[:11]}-{digest}.parquet"))
    if not twice:
        part.unlink()


UNFIT = "isn't what the job wrote: its columns, or what it says of itself"
CHANGES = {
    "damaged": (damage, "is damaged"),
    "names swapped": (swap_names, "or another place in this one"),
    "of another scan": (
        lambda part: rewrite(part, lambda own: json.dumps({**json.loads(own), "scan": "0" * 64})), "is from another scan"
    ),
    "not the scan's": (lambda part: shutil.copy(part, part.with_name("mine.parquet")), "is none of the scan's parts"),
    "there twice": (lambda part: rewrite(part, twice=True), "are for the same rows. Delete one of them"),
    "other rejects": (lambda part: rejected_rows(part).write_text("nothing"), "isn't what the job wrote. Delete"),
    "no rejects": (lambda part: rejected_rows(part).unlink(), "isn't what the job wrote. Delete"),
    "other columns": (lambda part: rewrite(part, without=["entropy"]), UNFIT),
    "says nothing": (lambda part: rewrite(part, lambda own: b"{}"), UNFIT),
    "says too much": (lambda part: rewrite(part, lambda own: b"[" * 99_999), UNFIT),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_part_that_is_not_what_was_written_is_refused_by_name(made, capsys, change):
    table, output, more = made
    make, says = CHANGES[change]
    make(read_scan(output).parts[1])
    assert scan(table, output, *more) == 2
    message = capsys.readouterr().err
    assert says in message and str(output) in message
    with pytest.raises(ScanError) as caught:
        read_scan(output)
    assert str(caught.value) in message


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


def test_a_description_that_does_not_fit_is_refused_whatever_its_own_digest_says(made, capsys):
    table, output, more = made
    note, whole = output / "scan.json", (output / "scan.json").read_text()
    note.write_text(described(json.loads(whole)))
    assert read_scan(output).n_rows == 22  # the digest is right
    texts = [
        whole.replace('"n_heads": 12', '"n_heads": 24'),  # and here it isn't
        whole.replace('"vectors"', '"vectors": false, "vectors"'),
        whole.replace('"part_rows": 4', f'"part_rows": {"9" * 5000}'),
        *("{}", "no json", "[" * 100_000),
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
    for replaced in (note.unlink, lambda: os.mkfifo(note)):  # nothing there, or a pipe that nobody writes to
        replaced()
        with pytest.raises(ScanError, match="holds no scan"):
            read_scan(output)


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
    seen, rename = [], os.replace

    def renamed(source, target):
        seen.append(Path(target).parent.name)
        rename(source, target)

    monkeypatch.setattr(os, "fsync", lambda at: seen.append(("file", "folder")[os.path.isdir(f"/proc/self/fd/{at}")]))
    monkeypatch.setattr(os, "replace", renamed)
    scan(write(tmp_path / "table.csv", 2, bad=(1,)), tmp_path / "scan")
    kept = [["file", folder, "folder"] for folder in ("scan", "rejects", "parts", "scan")]
    assert seen == [*kept[0], "folder", *kept[1], *kept[2], *kept[3]]


def test_raw_text_is_searched_and_only_the_chosen_heads_are_kept(tmp_path, capsys, encoder):
    text, output = tmp_path / "corpus.txt", tmp_path / "scan"
    text.write_text("The bank of the river.\nNothing here.\n\nA Bank beside a bank.\n" + "bank " * 600 + "\nA river.\n")
    (tmp_path / "words.txt").write_text("\ufeff Lake\n\nRiver \n", "utf-8")
    more = f"--word bank --words {tmp_path}/words.txt --heads L5H7,L0H10,L5H7 --max-rejects 0.5 --part-rows 2"
    assert scan(text, output, *more.split()) == 0
    counted = "5 occurrence(s) in 3 text(s), 1 rejected (see rejects.csv), 1 empty line(s) skipped, 1 text(s) without"
    assert counted in capsys.readouterr().err
    found = read_scan(output)
    assert found.finished and found.measured == ((0, 10), (5, 7)) and found.words == ("bank", "lake", "river")
    frame = found.frame()
    places = [(0, "bank", 4), (0, "river", 16), (2, "Bank", 2), (2, "bank", 16), (4, "river", 2)]
    assert list(zip(frame["row"], frame["word"], frame["start"])) == places
    for line in frame.itertuples():
        first = next(word for word in encoder.encode(line.sentence).words if word.text == line.word)
        own = encoder.reference_weights(line.sentence)[[0, 5], [10, 7], first.start]
        assert line.special_share == pytest.approx(own[:, [0, -1]].sum(-1).tolist(), abs=1e-4)
    heads = found.heads()
    assert list(zip(heads["layer"], heads["head"])) == [(0, 10), (5, 7)]
    assert heads["top_weight"].tolist() == pytest.approx(np.stack(frame["top_weight"]).mean(axis=0), abs=1e-5)
    rejects = found.rejects()
    assert (rejects["row"].tolist(), rejects["line"].tolist(), rejects["word"].tolist()) == (["3"], ["5"], ["bank"])
    assert "512" in rejects["reason"][0]


@pytest.mark.slow
def test_what_words_take_their_meaning_from_is_counted_as_pandas_does(made, tmp_path):
    rows = labelled_sentences().query("word in ['bank', 'bat']").groupby("word").head(16)
    lone = pd.DataFrame({"sentence": ["Bank!"], "word": ["bank"], "sense": [None]})
    pd.concat([rows, lone]).to_csv(tmp_path / "some.csv", index=False)
    assert scan(tmp_path / "some.csv", tmp_path / "moved", "--sources", "--part-rows", "7") == 0
    found = read_scan(tmp_path / "moved")
    frame = found.frame()
    assert {len(one) for one in frame["sources"]} == {0, 3}
    frame = frame.assign(word=frame["word"].str.lower(), source=frame["sources"].str[0].str.lower())
    frame["move"] = frame["source_moves"].str[0]
    groups = frame.sort_values("move", ascending=False).groupby(["word", "source"])
    wanted = groups.agg(n=("row", "size"), move=("move", "mean"), sentence=("sentence", "first"))
    table = found.sources()
    assert len(table) == len(wanted) and found.has_sources
    for row in table.itertuples():
        own = wanted.loc[(row.word, row.source)]
        assert (row.n, row.sentence) == (own["n"], own["sentence"]) and row.move == pytest.approx(own["move"])
        assert row.share == pytest.approx(own["n"] / (frame["word"] == row.word).sum())
    ordered = table.sort_values(["word", "n", "move"], ascending=[True, False, False])
    assert table["n"].max() > 1 and ordered.index.tolist() == table.index.tolist()
    assert table.query("word == 'bank'")["share"].sum() == pytest.approx(16 / 17)  # "Bank!" has no other word
    with pytest.raises(ScanError, match="was made without --sources"):
        read_scan(made[1]).sources()
    part = pq.read_table(found.parts[-1])
    moves = pa.array([[np.nan]] * len(part), pa.list_(pa.float32()))
    pq.write_table(part.set_column(part.num_columns - 1, "source_moves", moves), found.parts[-1])  # by a stranger
    with pytest.raises(ScanError, match="NaN or infinity"):
        found.frame()
    names = pa.array([["river", None, "of"]] * len(part), pa.list_(pa.string()))
    pq.write_table(part.set_column(part.num_columns - 2, "sources", names), found.parts[-1])
    with pytest.raises(ScanError, match="words without a text or a move"):
        found.sources()
