"""Both engines give the same rows; a worker killed in the middle costs nothing. Needs requirements-ray.txt."""

import csv
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from selfattn.scan import read_scan
from selfattn.scan.__main__ import main
from selfattn.scan.job import Job, run
from selfattn.scan.ray_engine import ray_engine

pytestmark = pytest.mark.ray
# "ray" alone would find this very folder where Ray is not installed.
pytest.importorskip("ray.data", reason="Ray is not installed: pip install -r requirements-ray.txt")


@pytest.fixture(scope="module")
def two_workers():
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sentence", "word", "sense"])
        for number in range(600):
            text = "No such word." if number == 77 else f"The bank number {number} is a bank" + " too" * (number % 9)
            writer.writerow([text, "bank", "money"])
    return path


def assert_same_rows(first, second):
    ours, theirs = read_scan(first), read_scan(second)
    assert ours.finished
    assert theirs.finished
    one, other = ours.frame(), theirs.frame()
    plain = ["row", "sentence", "word", "start", "sense"]
    pd.testing.assert_frame_equal(one[plain], other[plain])
    for name in ("top_weight", "entropy", "special_share"):
        assert np.allclose(np.stack(one[name]), np.stack(other[name]), atol=2e-5), name
    # Two words may share the first place to the last digit; elsewhere the names agree.
    same = np.stack(one["top_word"]) == np.stack(other["top_word"])
    assert same.mean() > 0.999
    pd.testing.assert_frame_equal(ours.rejects(), theirs.rejects())


def workers():
    """The process ids of this test's living workers. Ray names each process after what it runs."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            title = (process / "cmdline").read_bytes()
            if title.startswith(b"ray::") and b"ChunkWorker" in title and is_ours(int(process.name)):
                found.add(int(process.name))
        except OSError:  # it ended while we looked
            continue
    return found


def is_ours(pid):
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])  # its parent
    return False


def test_both_engines_give_the_same_rows(two_workers, tmp_path, table):
    local, cluster = tmp_path / "local", tmp_path / "cluster"
    assert main([str(table), "--output", str(local), "--device", "cpu", "--part-rows", "50"]) == 0
    job = Job(str(table), str(cluster), device="cpu", part_rows=50)
    counted = []
    run(job, ray_engine(workers=2), lambda n, total: counted.append)
    assert sum(counted) == 600
    assert_same_rows(local, cluster)


def test_a_killed_worker_costs_no_row_and_doubles_none(two_workers, tmp_path, table):
    local, cluster = tmp_path / "local", tmp_path / "cluster"
    assert main([str(table), "--output", str(local), "--device", "cpu", "--part-rows", "10"]) == 0
    job = Job(str(table), str(cluster), device="cpu", part_rows=10)
    job_thread = threading.Thread(target=run, args=(job, ray_engine(workers=2)))
    job_thread.start()
    parts = cluster / "parts"
    while job_thread.is_alive() and len(list(parts.glob("*.parquet"))) < 5:
        time.sleep(0.02)
    victim = next(iter(workers()))
    os.kill(victim, signal.SIGKILL)
    left = 60 - len(list(parts.glob("*.parquet")))
    job_thread.join(timeout=240)
    assert not job_thread.is_alive()
    assert left > 10
    assert victim not in workers()
    assert_same_rows(local, cluster)
    assert len(read_scan(cluster).parts) == 60


def test_the_command_line_starts_and_ends_a_ray_of_its_own(tmp_path, table):
    import ray

    ray.shutdown()
    more = ["--device", "cpu", "--engine", "ray", "--workers", "2"]
    assert main([str(table), "--output", str(tmp_path / "scan"), *more]) == 0
    assert not ray.is_initialized()
    assert read_scan(tmp_path / "scan").n_rows == 2 * 599


def test_a_cluster_that_is_not_there_is_status_2(tmp_path, table, capsys):
    import ray

    ray.shutdown()
    assert main([str(table), "--output", str(tmp_path / "scan"), "--engine", "ray", "--address", "auto"]) == 2
    assert "no Ray cluster" in capsys.readouterr().err
