"""The check for a machine with a GPU: it runs dry on this one, and tells a bound that isn't kept."""

from dataclasses import replace

import pytest

from benchmarks import gpu_check
from benchmarks.gpu_check import DRY, checks, main


@pytest.mark.long
def test_it_runs_dry_on_the_cpu(capsys, monkeypatch):
    monkeypatch.setattr(gpu_check, "keep", lambda section: pytest.fail("a dry run keeps nothing"))
    assert main(["--dry"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| On cpu | found | bound | kept |"
    kept = [line.rsplit("|", 2)[1].strip() for line in lines[2:]]
    assert kept.count("yes") >= 13 and {*kept} == {"yes", ""}  # no time is judged


def test_numbers_that_are_off_and_bounds_that_are_not_kept_are_told(encoder, monkeypatch):
    def wrong(other, on_cpu, plan):
        yield gpu_check._most("largest", float("nan"), 1)
        yield gpu_check._most("small", 0.5, 1)

    others = "capture, removal, hiding, senses, content, memory_runs_out, seeds, scan_rate, peak_memory, lesson"
    for name in others.split(", "):
        monkeypatch.setattr(gpu_check, name, lambda *_: iter(()))
    monkeypatch.setattr(gpu_check, "parity", wrong)
    assert [check.holds for check in checks(encoder, encoder, DRY)] == [False, True]
    monkeypatch.setattr(gpu_check, "capture", lambda *arguments: wrong(*arguments))  # a time
    assert [check.holds for check in checks(encoder, encoder, DRY)] == [False, True, None, None]
    assert [check.holds for check in checks(encoder, encoder, replace(DRY, judges_time=True))] == [False, True] * 2
    monkeypatch.setattr(gpu_check, "load_encoder", lambda device: encoder)
    assert main(["--dry"]) == 1
