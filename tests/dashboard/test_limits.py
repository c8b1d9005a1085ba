"""The operator's limits: each has its number in its message."""

import pytest

from selfattn import TextError
from selfattn.dashboard.encoder_picker import offered_devices
from selfattn.dashboard.permissions import allowed_scan_folder


def test_devices_are_the_machines_and_the_operators(monkeypatch):
    monkeypatch.delenv("SELFATTN_DEVICES", raising=False)
    assert offered_devices(["cuda", "cpu"]) == ["cuda", "cpu"]
    monkeypatch.setenv("SELFATTN_DEVICES", "cpu, mps")
    assert offered_devices(["cuda", "cpu"]) == ["cpu"]
    monkeypatch.setenv("SELFATTN_DEVICES", "mps")
    with pytest.raises(SystemExit, match="this machine has cuda, cpu only"):
        offered_devices(["cuda", "cpu"])


@pytest.mark.parametrize("name", ["a\0b", "a" * 1001])
def test_a_scan_folders_name_that_no_disk_takes(name):
    with pytest.raises(TextError, match="1,000 characters"):
        allowed_scan_folder(name)
