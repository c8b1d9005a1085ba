"""Test the wheel, the requirements and the Dockerfile."""

import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.metadata import requires
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import selfattn
from benchmarks.server import trouble_in, warm_server
from benchmarks.session import Session

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
OFFLINE = ["--no-deps", "--no-index"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel from a copy, because setuptools writes into the folder that it builds from."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("selfattn", "pages", ".streamlit"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("app.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    subprocess.run([*PIP, "wheel", *OFFLINE, "--no-build-isolation", "-w", str(out), str(source)], check=True)
    return next(out.glob("*.whl"))


@pytest.mark.slow
def test_wheel_contains_exactly_the_source_files(wheel):
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "selfattn", "pages", ".streamlit", "app.py"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    expected = {name if name.startswith("selfattn/") else f"selfattn_app/{name}" for name in tracked}
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == {name for name in expected if (ROOT / name.removeprefix("selfattn_app/")).exists()}
    assert wheel.name.startswith(f"selfattn-{selfattn.__version__}-")


@pytest.mark.long
def test_installed_command_opens_dashboard(wheel, tmp_path, monkeypatch):
    """The command runs in an empty folder."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    environment = tmp_path / "environment"
    venv.create(environment)
    packages = sysconfig.get_path("purelib", "venv", vars={"base": str(environment)})
    Path(packages, "tests.pth").write_text(sysconfig.get_path("purelib"))  # adds this environment's packages
    subprocess.run([*PIP, "--python", str(environment / "bin" / "python"), "install", *OFFLINE, str(wheel)], check=True)
    folder, command = tmp_path / "elsewhere", str(environment / "bin" / "selfattn")
    folder.mkdir()
    log = folder / "log"
    with warm_server(log, folder, lambda port: [command, "--port", str(port)]) as (at, _), Session(at) as session:
        run = session.open("from-scratch")
        assert not run.exceptions and not run.not_found
    assert not trouble_in(log) and "Network URL" not in log.read_text(
        "utf-8"
    )  # .streamlit in the wheel sets the address


def pins(name: str) -> dict[str, str]:
    """Return the pinned version of each package in a requirements file."""
    found = re.findall(r"^([\w.-]+)(?:\[\w+\])?==([^\s;]+)", (ROOT / name).read_text("utf-8"), re.M)
    return {canonicalize_name(package): version for package, version in found}


def test_metadata_allows_only_tested_versions():
    constraints = pins("constraints.txt")
    asked = map(Requirement, chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()))
    allowed = {requirement.name: requirement.specifier for requirement in asked}
    assert all(constraints[canonicalize_name(name)] in specifier for name, specifier in allowed.items())
    assert "5.17.0" in allowed["transformers"] and "2.11.0" in allowed["torch"]
    assert "5.16.1" not in allowed["transformers"] and "2.10.0" not in allowed["torch"]


def test_metadata_matches_requirements():
    """`make run` installs requirements.txt; `pip install .` installs what the metadata lists."""
    named = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]}
    ours = {**pins("requirements.txt"), **pins("requirements-encoder.txt")}
    assert named == set(ours) | {"tqdm"}  # transformers installs tqdm


def test_constraints_file_pins_all_dependencies():
    constraints = pins("constraints.txt")
    files = ["requirements.txt", "requirements-dev.txt", "requirements-ray.txt", "requirements-encoder.txt"]
    pinned = {package: version for name in files for package, version in pins(name).items()}
    assert pinned.items() <= constraints.items()
    waiting, seen = list(pins("requirements.txt")), set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            wanted = map(Requirement, requires(name) or [])
            if name == "torch":  # torch's build for Linux pins its CUDA packages itself
                wanted = [r for r in wanted if "platform_system" not in str(r.marker)]
            waiting += [canonicalize_name(r.name) for r in wanted if not r.marker or r.marker.evaluate({"extra": ""})]
    assert len(seen) > 40
    assert seen <= constraints.keys(), seen - constraints.keys()


def test_docker_image_copies_sources_of_the_wheel():
    recipe = (ROOT / "deploy/Dockerfile").read_text("utf-8").replace("\\\n", " ")
    sources = {name for copied in re.findall(r"^COPY (.+) \S+$", recipe, re.M) for name in copied.split()}
    kept = re.findall(r"^!(.+)$", (ROOT / "deploy/Dockerfile.dockerignore").read_text("utf-8"), re.M)
    assert {"app.py", "pages", "selfattn", ".streamlit"} <= sources == {*kept}
    assert re.search(r"^USER selfattn$.*^CMD ", recipe, re.M | re.S)
    assert re.search(r"^HEALTHCHECK .*/_stcore/health", recipe, re.M)
