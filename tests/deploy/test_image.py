"""What the Dockerfile copies and says, without the image: that what it copies runs is held by tests/deploy/test_wheel.py."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "deploy" / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()


def sources() -> list[str]:
    """The files and folders that the image gets."""
    return [name for line in LINES if line.startswith("COPY ") for name in line.split()[1:-1]]


def test_the_image_gets_all_that_the_wheel_is_built_from():
    assert {"app.py", "pages", "selfattn", ".streamlit"} <= set(sources())


def test_what_is_copied_is_sent_to_the_build():
    kept = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in kept if line.startswith("!")} == set(sources())


def test_the_image_is_not_run_by_root_and_is_watched():
    assert LINES.index("USER selfattn") < next(i for i, line in enumerate(LINES) if line.startswith("CMD "))
    assert any("/_stcore/health" in line for line in LINES if line.startswith("HEALTHCHECK "))
