"""Test the Ray engine. Needs requirements-ray.txt."""

import threading
import time

import numpy as np
import pandas as pd
import psutil
import pytest

from selfattn.scan import read_scan
from selfattn.scan.__main__ import main
from selfattn.scan.job import Job, run
from selfattn.scan.ray_engine import ray_engine
from tests.scan.test_job import write

pytestmark = pytest.mark.ray
# If Ray isn't installed, `import ray` finds the folder tests/ray, but `import ray.util` fails.
pytest.importorskip("ray.util", reason="Ray is not installed: pip install -r requirements-ray.txt")


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "table.csv", 600, bad=(77,))


def test_ray_engine_gives_same_rows_as_local_engine(tmp_path, table):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    local, cluster = tmp_path / "local", tmp_path / "cluster"
    assert main([str(table), "--output", str(local), "--device", "cpu", "--part-rows", "10"]) == 0
    job, counted = Job(str(table), str(cluster), device="cpu", part_rows=10), []
    job_thread = threading.Thread(target=run, args=(job, ray_engine(workers=2), lambda *_: counted.append))
    job_thread.start()
    while job_thread.is_alive() and len(list(cluster.glob("parts/*.parquet"))) < 5:
        time.sleep(0.02)
    # Ray names each worker process after the worker's class.
    workers = (each for each in psutil.Process().children(recursive=True) if "PartWorker" in "".join(each.cmdline()))
    victim = next(workers)
    victim.kill()
    assert len(list(cluster.glob("parts/*.parquet"))) < 50
    job_thread.join(timeout=240)
    assert not job_thread.is_alive() and not victim.is_running() and sum(counted) == 600
    ours, theirs = read_scan(local), read_scan(cluster)
    assert ours.finished and theirs.finished and len(theirs.parts) == 60
    one, other = ours.frame(), theirs.frame()
    plain = ["row", "sentence", "word", "start", "sense"]
    pd.testing.assert_frame_equal(one[plain], other[plain])
    for name in ("top_weight", "entropy", "special_share"):
        assert np.allclose(np.stack(one[name]), np.stack(other[name]), atol=2e-5), name
    # If two words have the same largest weight, the engines may differ in top_word.
    assert (np.stack(one["top_word"]) == np.stack(other["top_word"])).mean() > 0.999
    pd.testing.assert_frame_equal(ours.rejects(), theirs.rejects())


def test_command_starts_and_stops_ray(tmp_path, table):
    import ray

    ray.shutdown()
    more = ["--device", "cpu", "--engine", "ray", "--workers", "2"]
    assert main([str(table), "--output", str(tmp_path / "scan"), *more]) == 0
    assert not ray.is_initialized()
    assert read_scan(tmp_path / "scan").n_rows == 2 * 599


def test_scan_fails_if_ray_cluster_is_missing(tmp_path, table, capsys):
    import ray

    ray.shutdown()
    assert main([str(table), "--output", str(tmp_path / "scan"), "--engine", "ray", "--address", "auto"]) == 2
    assert "Can't connect to a Ray cluster" in capsys.readouterr().err
