"""What the Dockerfile copies is all that the dashboard needs: the image's files and settings without the image."""

import shutil
from pathlib import Path

import pytest

from tests.pages.conftest import addresses
from tests.soak.server import trouble_in, warm_server
from tests.soak.session import Session

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "deploy" / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()


def sources() -> list[str]:
    """The files and folders that the image gets."""
    return [name for line in LINES if line.startswith("COPY ") for name in line.split()[1:-1]]


def test_the_image_gets_all_that_the_wheel_is_built_from():
    assert {"app.py", "pages", "selfattn", ".streamlit"} <= set(sources())


@pytest.mark.long
def test_the_images_files_serve_pages(tmp_path, monkeypatch):
    for name in sources():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    settings = next(line for line in LINES if line.startswith("ENV ")).split()[1:]
    for setting in settings:
        monkeypatch.setenv(*setting.split("="))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with warm_server(tmp_path / "log", tmp_path) as (address, _), Session(address) as session:
        for page in addresses():
            run = session.open(page)
            assert not run.exceptions, page
            assert not run.not_found, page
    assert not trouble_in(tmp_path / "log")


def test_what_is_copied_is_sent_to_the_build():
    kept = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in kept if line.startswith("!")} == set(sources())


def test_the_image_is_not_run_by_root_and_is_watched():
    assert LINES.index("USER selfattn") < next(i for i, line in enumerate(LINES) if line.startswith("CMD "))
    assert any("/_stcore/health" in line for line in LINES if line.startswith("HEALTHCHECK "))
