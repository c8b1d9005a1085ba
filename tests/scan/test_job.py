"""Test the command `selfattn scan`."""

import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import labelled_sentences
from selfattn.scan import ScanError, job, read_scan
from selfattn.scan.__main__ import main
from selfattn.scan.job import Job, run
from selfattn.scan.measure import words_to_find
from selfattn.scan.ray_engine import PartWorker
from selfattn.scan.tables import InputError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def bundled_encoder_is_loaded_once(encoder):
    load = job.load_encoder

    def once(name, **options):
        bundled = name is None and options == {"revision": None, "device": "cpu", "dtype": "float32"}
        return encoder if bundled else load(name, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "load_encoder", once)
        yield


def write(path, n, bad=()):
    lines = [f"The bank number {number} is a bank{' too' * (number % 7)}" for number in range(n)]
    rows = [("No such word here." if at in bad else line, "bank", "money" * (at % 2)) for at, line in enumerate(lines)]
    pd.DataFrame(rows, columns=["sentence", "word", "sense"]).to_csv(path, index=False)
    return path


def scan(table, output, *more):
    """Return the exit status of `selfattn scan`."""
    try:
        return main([str(table), "--output", str(output), "--device", "cpu", *more])
    except SystemExit as ended:
        return ended.code


@pytest.fixture(scope="module")
def three_parts(tmp_path_factory):
    """Scan a table in three parts. Tests must work on a copy of the folder."""
    folder = tmp_path_factory.mktemp("three")
    table = write(folder / "table.csv", 12, bad=(5,))
    assert scan(table, folder / "scan", "--part-rows", "4") == 0
    return folder


@pytest.fixture
def made(three_parts, tmp_path):
    """Return a copy of the table, a copy of the scan's folder, and the scan's options."""
    shutil.copy(three_parts / "table.csv", tmp_path)
    return tmp_path / "table.csv", shutil.copytree(three_parts / "scan", tmp_path / "scan"), ["--part-rows", "4"]


def test_scan_has_expected_rows_and_means(tmp_path, capsys):
    table, output = write(tmp_path / "table.csv", 23, bad=(4, 17)), tmp_path / "scan"
    assert scan(table, output, "--part-rows", "10") == 0
    assert "42 occurrence(s) in 21 text(s), 2 rejected (see rejects/)" in capsys.readouterr().err
    found = read_scan(output)
    assert found.finished and [path.name for path in found.parts] == [f"part-00000{n}.parquet" for n in range(3)]
    assert (found.n_rows, found.n_texts, found.n_rejected, len(found.measured)) == (42, 21, 2, 72)
    frame = found.frame()
    pd.testing.assert_frame_equal(pd.read_parquet(output / "parts"), frame, check_exact=True)
    assert frame["row"].tolist() == [n for n in range(23) if n not in (4, 17) for _ in range(2)]
    assert frame["start"].iloc[:2].tolist() == [4, 23]
    assert frame["sense"].iloc[2] == "money" and pd.isna(frame["sense"].iloc[0])
    assert found.frame(["row"], limit=19)["row"].tolist() == frame["row"].tolist()[:19]  # the rows of two parts
    heads = found.heads()
    for name in ("top_weight", "entropy", "special_share"):  # index: layer * n_heads + head
        assert heads[name].to_numpy() == pytest.approx(np.stack(frame[name]).mean(axis=0), abs=1e-5)
        one = heads[(heads["layer"] == 3) & (heads["head"] == 7)][name].iloc[0]
        assert one == pytest.approx(frame[name].map(lambda values: values[3 * 12 + 7]).mean(), abs=1e-5)
    rejects = found.rejects()
    assert (rejects["row"].tolist(), rejects["line"].tolist()) == (["4", "17"], ["6", "19"])
    assert rejects["reason"].str.contains("not a word").all() and rejects["file"].eq(str(table)).all()
    assert sorted(path.name for path in output.glob("rejects/*")) == ["part-000000.csv", "part-000001.csv"]


def test_formulas_in_rejected_rows_are_escaped(tmp_path):
    sentences = ["=HYPERLINK(1)", "'=1", "'tis", "a-b", "a\r=1", "a\r\n\uff1d1", "a\0b", "No such word."]
    with open(tmp_path / "table.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("sentence", "word"), *((sentence, "=bank") for sentence in sentences)])
    assert scan(tmp_path / "table.csv", tmp_path / "scan", "--max-rejects", "1") == 0
    found = read_scan(tmp_path / "scan").rejects()
    assert found["sentence"].tolist() == sentences
    assert found["word"].tolist() == ["=bank"] * len(sentences)
    with open(tmp_path / "scan/rejects/part-000000.csv", encoding="utf-8", newline="") as stream:
        cells = [cell for line in csv.reader(stream) for cell in line]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert "'=HYPERLINK(1)" in cells


def test_exit_status_depends_on_rejected_rows(tmp_path, capsys):
    table, output = write(tmp_path / "table.csv", 5, bad=(1,)), tmp_path / "scan"
    for more, status in [("", 3), ("--max-rejects 0.2", 0), ("--max-rejects 0.19", 3), ("--max-rejects 1 --strict", 1)]:
        assert scan(table, output, *more.split()) == status  # from the second run on, all parts are already scanned
    # Without the 18 texts that lack the word, the share of rejects is 1/2.
    (tmp_path / "corpus.txt").write_text("A bank.\n" + "bank " * 600 + "\n" + "Nothing here.\n" * 18, "utf-8")
    assert scan(tmp_path / "corpus.txt", tmp_path / "second", "--word", "bank") == 3
    counted = "1 occurrence(s) in 1 text(s), 1 rejected (see rejects/), 18 text(s) without any of the words"
    assert counted in capsys.readouterr().err


def test_nothing_is_written_if_option_is_wrong(tmp_path, capsys):
    folder, out = tmp_path / "folder", tmp_path / "out"
    for name in ("thesis.docx", ".hidden", "parts"):  # a user's files, each in a separate folder
        (tmp_path / f"with {name}").mkdir()
        (tmp_path / f"with {name}" / name).write_text("mine")
    folder.mkdir()
    table, empty, latin = write(folder / "table.csv", 2), tmp_path / "empty.txt", tmp_path / "latin.txt"
    empty.write_text("\n")
    latin.write_bytes(b"b\xe4nk\n")
    for source, output, more, message in [
        (tmp_path / "absent", out, "", "no file or folder"),
        (folder, folder / "inside", "", "lies inside the input"),
        (table, table, "", "is not a scan's folder"),
        (table, folder, "", "is not a scan's folder"),
        *((table, path, "", "Choose a new or empty folder") for path in tmp_path.glob("with *")),
        (table, out, "--address auto", "need --engine ray"),
        (table, out, "--device abacus", "no device 'abacus'"),
        (table, out, f"--model {tmp_path}/absent", ""),
        (table, out, "--part-rows 0", "a whole number of at least 1"),
        (table, out, "--max-rejects nan", "a share of the rows (0 to 1)"),
        (table, out, "--max-rejects 1.1", "a share of the rows (0 to 1)"),
        (table, out, "--heads 5.10", "Expected a head such as L5H10, got '5.10'"),
        (table, out, "--heads L6H0,L0H1", "has no L6 H0: its heads are L0 H0 to L5 H11. Change --heads."),
        (table, out, "--heads L0H12", "has no L0 H12"),
        (table, out, "--word bank.", "Expected one word to search for, got 'bank.' (2 words or symbols)"),
        (table, out, f"--words {empty}", "has no words"),
        (table, out, f"--words {latin}", "latin.txt is not valid UTF-8. Save it as UTF-8."),
    ]:
        assert scan(source, output, *more.split()) == 2
        assert message in capsys.readouterr().err
    assert not out.exists() and [path.name for path in folder.iterdir()] == ["table.csv"]
    assert [path.read_text() for path in tmp_path.glob("with */*")] == ["mine"] * 3


@pytest.mark.slow
def test_continuing_with_other_options_is_refused(made, capsys):
    table, output, more = made
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    for other, message in {
        ("--vectors",): "vectors is False, not True",
        ("--sources",): "sources is False, not True",
        ("--word", "bank"): "words is [], not ['bank']",
        ("--heads", "L0H10"): "heads is ['L0 H0', 'L0 H1', ",
        ("--part-rows", "5"): "part_rows is 4, not 5",
    }.items():
        assert scan(table, output, *more, *other) == 2
        assert f"another scan: its {message}" in capsys.readouterr().err
    table.write_text(table.read_text().replace("number 7", "Number 7"))
    assert scan(table, output, *more) == 2
    assert "another scan: its input table.csv is '" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_second_run_writes_missing_parts(made):
    table, output, _ = made
    parts, frame, rejects = read_scan(output).parts, read_scan(output).frame(), read_scan(output).rejects()
    before = [part.stat().st_mtime_ns for part in parts]
    parts[1].unlink()
    (output / "parts" / ".part-000001.1234").write_bytes(b"half")  # left by a killed job
    (output / "notes.txt").write_text("mine")
    assert not read_scan(output).finished and len(read_scan(output).rejects()) == 0
    starts, counted, again = [], [], Job(str(table), str(output), device="cpu", part_rows=4)
    counts = run(again, None, lambda *n: starts.append(n) or counted.append)
    assert starts == [(8, 12)] and sum(counted) == 4 and counts.n_rejected == 1
    assert [a == part.stat().st_mtime_ns for a, part in zip(before, parts)] == [True, False, True]
    pd.testing.assert_frame_equal(read_scan(output).frame(), frame, check_exact=True)
    pd.testing.assert_frame_equal(read_scan(output).rejects().drop(columns="file"), rejects.drop(columns="file"))
    assert (output / "notes.txt").read_text() == "mine" and read_scan(output).finished


@pytest.mark.parametrize("file", ["scan.json", "parts/part-000001.parquet", "rejects/part-000001.csv", "heads.csv"])
@pytest.mark.slow
def test_scan_continues_after_full_disk(tmp_path, capsys, file):
    more = ["--target", "similarity=A bank."] if file == "heads.csv" else ["--part-rows", "4"]
    table, output, whole = write(tmp_path / "table.csv", 8, bad=(4, 5, 6, 7)), tmp_path / "scan", tmp_path / "whole"
    assert scan(table, whole, *more, "--max-rejects", "1") == 0
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((whole / file).stat().st_size - 1, limits[1]))
    try:
        assert scan(table, output, *more, "--max-rejects", "1") == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "can't be written: File too large. Free some disk space" in " ".join(capsys.readouterr().err.split())
    sizes = {path: path.stat().st_size for path in output.rglob("*") if path.is_file()}
    assert sizes == {path: (whole / path.relative_to(output)).stat().st_size for path in sizes}  # no file is incomplete
    assert scan(table, output, *more, "--max-rejects", "1") == 0
    assert {path.name for path in output.rglob("*")} == {path.name for path in whole.rglob("*")}


@pytest.mark.long
def test_killed_scan_resumes(tmp_path):
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
    made = {path: path.stat().st_mtime_ns for path in read_scan(output).parts}
    assert scan(table, output, *more) == 0
    assert len(made) >= 2 and made == {path: path.stat().st_mtime_ns for path in made}
    pd.testing.assert_frame_equal(read_scan(output).frame(), read_scan(whole).frame(), check_exact=True)
    pd.testing.assert_frame_equal(read_scan(output).rejects(), read_scan(whole).rejects())


def test_interrupt_returns_status_130(tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "write_part", interrupt)
    assert scan(write(tmp_path / "table.csv", 2), tmp_path / "scan") == 130
    assert "Run the same command again to continue." in capsys.readouterr().err


def test_empty_table_gives_empty_scan(tmp_path):
    assert scan(write(tmp_path / "table.csv", 0), tmp_path / "scan") == 0
    found = read_scan(tmp_path / "scan")
    assert found.finished and {found.n_rows, found.n_texts, *found.counts} == {0}
    assert found.frame().empty and found.rejects().empty and len(found.heads()) == 72


@pytest.mark.slow
def test_changed_encoder_is_refused(tmp_path, capsys):
    table, output = write(tmp_path / "table.csv", 2), tmp_path / "scan"
    folder = save_tiny(FAMILIES["BERT"], tmp_path / "encoder")
    assert scan(table, output, "--model", str(folder)) == 0
    read_scan(output).parts[0].unlink()
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert scan(table, output, "--model", str(copy)) == 0 and read_scan(output).finished
    read_scan(output).parts[0].unlink()
    asked = Job(str(table), str(output), str(folder), device="cpu")
    (part,) = asked.parts()
    assert PartWorker(asked).scan(part) == 2 and read_scan(output).finished
    with open(folder / "tokenizer.json", "a") as file:
        file.write("\n")
    with pytest.raises(ScanError, match="holds another scan: its content is '"):
        PartWorker(asked).scan(part)
    assert scan(table, output, "--model", str(folder)) == 2
    assert "another scan: its content is '" in capsys.readouterr().err


def test_scan_by_older_version_is_read(tmp_path, encoder):
    assert scan(write(tmp_path / "table.csv", 2), tmp_path / "scan") == 0
    about = json.loads((tmp_path / "scan/scan.json").read_text())
    assert about.pop("content") == encoder.content
    about |= {f"encoder {name}": digest for name, digest in encoder.files.items()}
    (tmp_path / "scan/scan.json").write_text(json.dumps(about))
    assert read_scan(tmp_path / "scan").n_rows == 4


@pytest.mark.parametrize("length", [-9, 0])
def test_error_names_truncated_part(made, capsys, length):
    table, output, more = made
    part = read_scan(output).parts[1]
    part.write_bytes(part.read_bytes()[:length])
    assert scan(table, output, *more) == 2
    assert f"{part} holds no scan that selfattn can read" in capsys.readouterr().err
    with pytest.raises(ScanError, match=r"Move the file away, and run the command again\."):
        read_scan(output)
    part.rename(output / "moved")
    assert scan(table, output, *more) == 0 and read_scan(output).finished


def test_checksum_detects_damaged_part(made):
    part = read_scan(made[1]).parts[1]
    data = bytearray(part.read_bytes())
    data[len(data) // 4] ^= 1
    part.write_bytes(data)
    with pytest.raises(ScanError, match=r"part-000001\.parquet can't be read"):
        read_scan(made[1]).frame()


OLD = {
    "sha256": "0", "format": 3, "part_rows": 1024, "vectors": False, "words": None, "heads": None,
    "encoder": {"name": "MiniLM", "revision": None, "dtype": "float32", "n_layers": 6, "n_heads": 12, "files": {}},
    "input": [{"file": "table.csv", "chunks": ["0123456789abcdef"]}],
}  # fmt: skip


def test_scan_by_older_version_is_refused(tmp_path, capsys):
    part = tmp_path / "old/parts/part-000000-0123456789abcdef.parquet"
    part.parent.mkdir(parents=True)
    (tmp_path / "old/scan.json").write_text(json.dumps(OLD))
    pq.write_table(pa.table({"row": [0], "word": ["bank"]}), part)
    message = "another version of selfattn wrote the scan; read parts/*.parquet with pandas or DuckDB). Choose another --output."
    with pytest.raises(ScanError) as caught:
        read_scan(tmp_path / "old")
    assert message in str(caught.value)
    assert scan(write(tmp_path / "table.csv", 2), tmp_path / "old") == 2
    assert message in capsys.readouterr().err
    assert json.loads((tmp_path / "old/scan.json").read_text()) == OLD and len(list((tmp_path / "old").rglob("*"))) == 3


@pytest.mark.parametrize(
    "text",
    ["{}", "no json", "[" * 100_000, '{"format": 4}', '{"format": 4, "heads": [7]}', '{"format": 4, "heads": 7}'],
)
def test_invalid_scan_json_is_refused(made, text):
    (made[1] / "scan.json").write_text(text)
    with pytest.raises(ScanError, match="holds no scan that selfattn can read"):
        read_scan(made[1])
    (made[1] / "scan.json").unlink()
    os.mkfifo(made[1] / "scan.json")  # a pipe without a writer
    with pytest.raises(ScanError, match="holds no scan that selfattn can read"):
        read_scan(made[1])


@pytest.mark.parametrize("word", ["New York", "", " ", "bank.", "a,b"])
def test_search_needs_single_words(word):
    with pytest.raises(InputError, match="Expected one word to search for"):
        words_to_find(["bank", word])


def test_search_in_text_file(tmp_path, capsys, encoder):
    text, output = tmp_path / "corpus.txt", tmp_path / "scan"
    text.write_text("The bank of the river.\nNothing here.\n\nA Bank beside a bank.\n" + "bank " * 600 + "\nA river.\n")
    (tmp_path / "words.txt").write_text("\ufeff Lake\n\nRiver \n", "utf-8")
    more = f"--word bank --words {tmp_path}/words.txt --heads L5H7,L0H10,L5H7 --max-rejects 0.5 --part-rows 2"
    assert scan(text, output, *more.split()) == 0
    counted = "5 occurrence(s) in 3 text(s), 1 rejected (see rejects/), 1 empty line(s) skipped, 1 text(s) without"
    assert counted in capsys.readouterr().err
    found = read_scan(output)
    assert found.finished and found.measured == ((0, 10), (5, 7)) and found.about["words"] == ["bank", "lake", "river"]
    frame = found.frame()
    places = [(0, "bank", 4), (0, "river", 16), (2, "Bank", 2), (2, "bank", 16), (4, "river", 2)]
    assert list(zip(frame["row"], frame["word"], frame["start"])) == places
    for line in frame.itertuples():
        first = next(word for word in encoder.encode(line.sentence).words if word.text == line.word)
        weights = encoder.reference_weights(line.sentence)[[0, 5], [10, 7], first.start]
        assert line.special_share == pytest.approx(weights[:, [0, -1]].sum(-1).tolist(), abs=1e-4)
    heads = found.heads()
    assert list(zip(heads["layer"], heads["head"])) == [(0, 10), (5, 7)]
    assert heads["top_weight"].tolist() == pytest.approx(np.stack(frame["top_weight"]).mean(axis=0), abs=1e-5)
    rejects = found.rejects()
    assert (rejects["row"].tolist(), rejects["line"].tolist(), rejects["word"].tolist()) == (["3"], ["5"], ["bank"])
    assert "512" in rejects["reason"][0]


@pytest.mark.slow
def test_sources_table_equals_pandas_groupby(made, tmp_path):
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
        expected = wanted.loc[(row.word, row.source)]
        assert (row.n, row.sentence) == (expected["n"], expected["sentence"])
        assert row.move == pytest.approx(expected["move"])
        assert row.share == pytest.approx(expected["n"] / (frame["word"] == row.word).sum())
    ordered = table.sort_values(["word", "n", "move"], ascending=[True, False, False])
    assert table["n"].max() > 1 and ordered.index.tolist() == table.index.tolist()
    assert table.query("word == 'bank'")["share"].sum() == pytest.approx(16 / 17)  # "Bank!" has no other word
    with pytest.raises(ScanError, match="was made without --sources"):
        read_scan(made[1]).sources()
    part = pq.read_table(found.parts[-1])
    moves = pa.array([[np.nan]] * len(part), pa.list_(pa.float32()))
    pq.write_table(part.set_column(part.num_columns - 1, "source_moves", moves), found.parts[-1])
    with pytest.raises(ScanError, match="NaN or infinity"):
        found.frame()
