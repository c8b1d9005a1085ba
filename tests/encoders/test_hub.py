"""The Hub, against a stand-in on this machine: download, cache without a network, and each refusal's own message."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from selfattn import LoadError
from selfattn.encoders import hub
from selfattn.encoders.checkpoint import weights_digest

# The endpoint is read when huggingface_hub is first imported, so the questions are asked in a process of their own.
ASK = """
import json, os, sys
from selfattn import LoadError, load_encoder
for name, revision, offline in json.loads(sys.argv[1]):
    os.environ["SELFATTN_OFFLINE"] = offline
    stages = []
    try:
        encoder = load_encoder(name, revision=revision, report=stages.append)
        print(json.dumps({"revision": encoder.revision, "digest": encoder.digest, "stages": stages}))
    except LoadError as error:
        print(json.dumps({"kind": error.kind, "message": str(error)}))
"""
NOWHERE = "http://127.0.0.1:9"


def ask(cache: Path, endpoint: str, *questions: tuple[str, str | None, str]) -> list[dict]:
    """Load each (name, revision, offline) in turn: what came, or what was refused."""
    environment = {key: value for key, value in os.environ.items() if "OFFLINE" not in key}
    environment |= {
        "PYTHONPATH": str(Path(hub.__file__).parents[2]),
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(cache),
        "HF_HUB_DISABLE_XET": "1",
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-c", ASK, json.dumps(questions)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_download_then_the_cache_without_a_network(stand_in, tmp_path):
    fetched, again = ask(tmp_path, stand_in.url, ("some/good", None, ""), ("some/good", None, "1"))
    assert fetched["revision"] == again["revision"] == stand_in.commit
    assert fetched["digest"] == again["digest"] == weights_digest(stand_in.models["some/good"])
    assert any("Downloading some/good: model.safetensors" in stage for stage in fetched["stages"])
    assert any(stage.endswith(": 100 %") for stage in fetched["stages"])
    assert not any("Downloading" in stage for stage in again["stages"])
    assert not any(path.endswith(".bin") for path in stand_in.asked)
    ways = [("some/good", revision, "") for revision in (None, "main", stand_in.commit)]
    *cached, absent = ask(tmp_path, NOWHERE, *ways, ("some/other", None, ""))
    for found in cached:
        assert (found["revision"], found["digest"]) == (fetched["revision"], fetched["digest"]), found
    assert absent["kind"] == "network"
    assert "the Hub can't be reached" in absent["message"]
    assert "Stay with the bundled encoder" in absent["message"]


@pytest.mark.slow
def test_what_the_hub_refuses(stand_in, tmp_path):
    expected = {
        ("some/missing", None, ""): ("missing", "Check the spelling"),
        ("some/good", "no-such-branch", ""): ("revision", "no revision 'no-such-branch'"),
        ("some/gated", None, ""): ("gated", "hf auth login"),
        ("some/pickled", None, ""): ("safetensors", "reads no pickles"),
        ("a/b/c", None, ""): ("name", "neither a folder here nor a Hub id"),
    }
    for refused, (kind, words) in zip(ask(tmp_path, stand_in.url, *expected), expected.values()):
        assert refused.get("kind") == kind, refused
        assert words in refused["message"]


def test_a_download_that_breaks_off(monkeypatch):
    def broken(*arguments, **options):
        raise OSError("[Errno 28] No space left on device")

    monkeypatch.setattr(hub, "hf_hub_download", broken)
    info = hub.ModelInfo(id="some/good", sha="c0ffee", siblings=[{"rfilename": "model.safetensors", "size": 8}])
    with pytest.raises(LoadError, match=r"broke off .*No space left") as caught:
        hub._download("some/good", None, info, lambda stage: None)
    assert caught.value.kind == "network"
