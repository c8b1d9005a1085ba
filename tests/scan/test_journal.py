"""The batches of an unfinished part: recalled after a kill, and never taken for others."""

import os

import pyarrow as pa
import pytest

from selfattn.scan.journal import Journal

TABLES = {key: pa.table({"row": [number], "word": [f"word {number}"]}) for number, key in enumerate((b"a", b"b", b"c"))}


def never():
    raise AssertionError("measured again")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "journal" / "part-000000"
    with Journal(path, "scan") as journal:
        for key, table in TABLES.items():
            assert journal.recall(key, lambda: table) == table  # noqa: B023
    return path


def test_what_was_measured_is_recalled_in_any_order(path):
    with Journal(path, "scan") as journal:
        for key in reversed(TABLES):
            assert journal.recall(key, never) == TABLES[key]
        journal.recall(b"d", lambda: TABLES[b"a"])
        assert journal.recall(b"c", never) == TABLES[b"c"]
    with Journal(path, "scan") as journal:
        assert journal.recall(b"d", never) == TABLES[b"a"]


def test_nothing_is_recalled_for_another_scan(path):
    with Journal(path, "another scan") as journal, pytest.raises(AssertionError, match="measured again"):
        journal.recall(b"a", never)


@pytest.mark.parametrize("cut", [1, 40, 100])
def test_a_batch_that_was_cut_short_is_measured_again_and_the_others_stay(path, cut):
    os.truncate(path, path.stat().st_size - cut)
    new = pa.table({"row": [9]})
    with Journal(path, "scan") as journal:
        assert journal.recall(b"c", lambda: new) == new
    with Journal(path, "scan") as journal:
        assert [journal.recall(key, never) for key in TABLES] == [TABLES[b"a"], TABLES[b"b"], new]


def test_a_damaged_batch_and_what_stands_after_it_are_measured_again(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with Journal(path, "scan") as journal:
        assert journal.recall(b"a", never) == TABLES[b"a"]
        for key in (b"b", b"c"):
            with pytest.raises(AssertionError, match="measured again"):
                journal.recall(key, never)


def test_a_machine_that_fails_loses_less_than_ten_seconds(tmp_path, monkeypatch):
    """Batches of three seconds each: how much is not yet on the disk, at most."""
    now, synced = [0.0], [0.0]
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda opened: (fsync(opened), synced.append(now[0])))

    def measured():
        now[0] += 3
        return TABLES[b"a"]

    with Journal(tmp_path / "journal" / "part-000000", "scan", clock=lambda: now[0]) as journal:
        for number in range(20):
            journal.recall(bytes([number]), measured)
            assert now[0] - synced[-1] < 10
    assert now[0] == 60
    assert 3 < len(set(synced)) < 12
