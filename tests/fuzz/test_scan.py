"""Generated damage to a scan between its runs: never a success with other rows than an untouched scan has."""

import random
import shutil

import pandas as pd
import pytest
from hypothesis import strategies as st

from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.scan import ScanError, read_scan
from selfattn.scan.__main__ import main

pytestmark = pytest.mark.slow

ROWS = 24
PLACES = (
    "table.csv", "scan/scan.json", *["scan/parts"] * 4, "scan/rejects", "scan/rejects.csv", "encoder",
)  # fmt: skip
HOW = (*["flip"] * 3, "cut", "delete", "append", "swap", "copy", "line")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A table with an unclosed quotation mark and its scan by a tiny encoder; where they were made, and a copy to keep."""
    folder = tmp_path_factory.mktemp("scan") / "case"
    save_tiny(FAMILIES["BERT"], folder / "encoder")
    lines = [f"The bank of the river {n} is a bank{' too' * (n % 5)}.,bank,a" for n in range(ROWS)]
    lines[7] = '"' + lines[7]
    (folder / "table.csv").write_text("sentence,word,sense\n" + "\n".join(lines) + "\n", "utf-8")
    assert scan(folder) == 0
    shutil.copytree(folder, folder.with_name("kept"))
    return folder, folder.with_name("kept")


def scan(folder):
    arguments = ["--model", str(folder / "encoder"), "--device", "cpu", "--part-rows", "8", "--batch-tokens", "64"]
    return main([str(folder / "table.csv"), "--output", str(folder / "scan"), *arguments])


def damage(folder, place, how, seed):
    """Do one thing to one file at a place."""
    choice = random.Random(seed)
    path = folder / place
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        return
    path, other = choice.choice(files), choice.choice(files)
    data = bytearray(path.read_bytes())
    at = choice.randrange(len(data) + 1)
    match how:
        case "flip" if data:
            data[at % len(data)] ^= 1 << choice.randrange(8)
            path.write_bytes(data)
        case "cut":
            path.write_bytes(data[:at])
        case "delete":
            path.unlink()
        case "append":
            path.write_bytes(data + data[at:])
        case "swap":
            first = other.read_bytes()
            other.write_bytes(data)
            path.write_bytes(first)
        case "copy":
            path.with_name(choice.choice([f"{path.name} copy", f"x-{path.name}", other.name])).write_bytes(data)
        case "line" if place.endswith(("csv", "json")):
            lines = path.read_text("utf-8", errors="replace").split("\n")
            lines.pop(choice.randrange(len(lines)))
            path.write_text("\n".join(lines), "utf-8")


RUN = ("run",)
damages = st.tuples(st.sampled_from(PLACES), st.sampled_from(HOW), st.integers(0, 2**32))


def test_a_damaged_scan_goes_on_to_the_same_rows_or_is_refused(finished, generated, capsys):
    folder, kept = finished
    true_rows, true_rejects = read_scan(kept / "scan").frame(), read_scan(kept / "scan").rejects()
    true_input = (kept / "table.csv").read_text("utf-8").split()

    def check(folder):
        """What can be read is right, as far as the scan got."""
        try:
            found = read_scan(folder / "scan")
        except ScanError as error:
            assert str(error).encode("utf-8")
            return False
        frame = found.frame()
        if len(frame):
            parts = true_rows[true_rows["row"].isin(frame["row"])]
            pd.testing.assert_frame_equal(frame, parts.reset_index(drop=True), check_exact=True)
        if found.finished:
            assert len(frame) == len(true_rows)
            columns = [name for name in true_rejects if name != "file"]
            pd.testing.assert_frame_equal(found.rejects()[columns], true_rejects[columns])
        return found.finished

    def one(steps):
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
        assert scan(folder) == 0  # it is the same scan, so that what refuses it later is the damage
        for step in [*steps, RUN]:
            if step != RUN:
                damage(folder, *step)
                continue
            status, right = scan(folder), check(folder)
            assert status == 2 or (status == 0 and right)
            if status == 0:
                assert (folder / "table.csv").read_text("utf-8").split() == true_input
            capsys.readouterr()

    generated(6, 400, st.lists(st.one_of(damages, damages, st.just(RUN)), min_size=1, max_size=6), one)
