"""Load models from a local stand-in for the Hub, or from the cache."""

import contextlib
import io
from pathlib import Path

import pytest
from huggingface_hub import constants

from selfattn import LoadError, load_encoder
from selfattn.encoders import hub
from selfattn.encoders.checkpoint import weights_digest

NOWHERE = "http://127.0.0.1:9"


def ask(endpoint: str, *questions: tuple[str, str | None, str]) -> list[dict]:
    """Load an encoder for each (name, revision, offline). Return the encoders' properties, or error messages."""
    answers = []
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(io.StringIO()) as printed:
        patch.setattr(constants, "ENDPOINT", endpoint)
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
        patch.setattr(constants, "HF_HUB_OFFLINE", False)
        patch.delenv("HF_HUB_OFFLINE", raising=False)
        patch.setenv("NO_PROXY", "127.0.0.1")
        for name, revision, offline in questions:
            patch.setenv("SELFATTN_OFFLINE", offline)
            stages: list[str] = []
            try:
                encoder = load_encoder(name, revision=revision, report=stages.append)
                result = {name: getattr(encoder, name) for name in ("revision", "digest", "content")}
                answers.append(result | {"stages": stages})
            except LoadError as error:
                answers.append({"message": str(error)})
    assert printed.getvalue() == ""  # no progress bars
    return answers


REFUSED = {
    ("some/missing", None, ""): "Check the spelling",
    ("some/good", "no-such-branch", ""): "no revision 'no-such-branch'",
    ("some/gated", None, ""): "hf auth login",
    ("some/pickled", None, ""): "has no safetensors weights at this revision",
    ("a/b/c", None, ""): "neither a folder on this machine nor a Hub id",
}


@pytest.fixture(scope="module")
def answers(stand_in, tmp_path_factory):
    """Return the results of `ask` for a download, for an offline load, and for the keys of REFUSED."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "HF_HUB_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield ask(stand_in.url, ("some/good", None, ""), ("some/good", None, "1"), *REFUSED)


@pytest.mark.slow
def test_downloaded_model_loads_offline(stand_in, answers):
    fetched, again, *_ = answers
    assert fetched["revision"] == again["revision"] == stand_in.commit
    assert fetched["digest"] == again["digest"] == weights_digest(stand_in.models["some/good"])
    assert fetched["content"] == again["content"] == load_encoder(stand_in.models["some/good"]).content
    assert any("Downloading some/good: model.safetensors" in stage for stage in fetched["stages"])
    assert any(stage.endswith(": 100 %") for stage in fetched["stages"])
    assert not any("Downloading" in stage for stage in again["stages"])
    assert not any(path.endswith(".bin") for path in stand_in.asked)
    files = {path.partition(f"/resolve/{stand_in.commit}/")[2] for path in stand_in.asked}
    assert {file for file in files if "/" in file} == {"1_Pooling/config.json"}
    assert "modules.json" in files
    ways = [("some/good", revision, "") for revision in (None, "main", stand_in.commit)]
    *cached, absent = ask(NOWHERE, *ways, ("some/other", None, ""))
    for found in cached:
        assert found.items() >= {name: fetched[name] for name in ("revision", "digest", "content")}.items(), found
    assert "the Hub can't be reached" in absent["message"]
    assert "choose the bundled encoder" in absent["message"]


@pytest.mark.slow
def test_message_explains_each_hub_error(answers):
    for refused, words in zip(answers[2:], REFUSED.values(), strict=True):
        assert words in refused.get("message", ""), refused


def test_interrupted_download_raises_load_error(monkeypatch):
    def broken(*arguments, **options):
        raise OSError("[Errno 28] No space left on device")

    monkeypatch.setattr(hub, "hf_hub_download", broken)
    info = hub.ModelInfo(id="some/good", sha="c0ffee", siblings=[{"rfilename": "model.safetensors", "size": 2_500_000}])
    stages: list[str] = []
    with pytest.raises(LoadError, match=r"failed .*No space left"):
        hub._download("some/good", None, info, stages.append)
    assert stages == ["Downloading some/good: model.safetensors (1 of 1, 2.5 MB)"]


def test_progress_never_repeats_a_percentage():
    stages: list[str] = []
    bar = hub._reporting("File", 200, stages.append)()
    for n in (1, 1, 1, None, 3, 300):
        bar.update(n)
    assert stages == ["File: 1 %", "File: 3 %", "File: 100 %"]


@pytest.mark.slow
def test_incomplete_download_is_not_loaded(stand_in, tmp_path, monkeypatch):
    """Break off six downloads: the first at the first file, the last at the sixth file."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    fetch, fetched = hub.hf_hub_download, []

    def breaking(name, file, **options):
        if len(fetched) == until:
            raise OSError("broken")
        fetched.append(file)
        return fetch(name, file, **options)

    monkeypatch.setattr(hub, "hf_hub_download", breaking)
    for until in range(6):  # noqa: B007 (breaking reads it)
        fetched.clear()
        broken, alone = ask(stand_in.url, ("some/good", None, ""), ("some/good", stand_in.commit, "1"))
        assert "The download of" in broken["message"] and "is not on this machine" in alone.get("message", ""), fetched
    fetched, until = [], 9
    whole, alone = ask(stand_in.url, ("some/good", None, ""), ("some/good", stand_in.commit, "1"))
    assert alone["content"] == whole["content"]


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cached(monkeypatch, tmp_path):
    """Make a Hub cache that contains one model. Return the model's folder."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("SELFATTN_OFFLINE", "1")
    folder = tmp_path / "hub" / "models--some--good"
    (folder / "snapshots" / COMMIT).mkdir(parents=True)
    (folder / "snapshots" / COMMIT / "config.json").write_text("{}")
    return folder


def in_cache(folder: Path, revision: str, commit: str) -> None:
    ref = folder / "refs" / revision
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(commit)


@pytest.mark.parametrize("revision", ["main", "refs/pr/1", "a-branch/of_mine", "1.0+cpu", COMMIT])
def test_every_kind_of_revision_is_accepted(cached, revision):
    in_cache(cached, revision, COMMIT)
    assert hub.fetch("some/good", revision, print) == (cached / "snapshots" / COMMIT, COMMIT)


@pytest.mark.parametrize("revision", ["../../../secret", "main/../../secret", "./main", "a//b", "-x", "a b", "x" * 201])
def test_revision_cannot_name_folder_outside_cache(cached, tmp_path, revision):
    """A revision with "../" once made selfattn read /dev/zero."""
    in_cache(cached, "main", COMMIT)
    (tmp_path / "secret").write_text("../../../elsewhere")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(LoadError, match="must be a branch, tag, commit or reference such as refs/pr/1"):
        hub.fetch("some/good", revision, print)


@pytest.mark.parametrize(
    "name", ["../good", "some/../../secret", "models--some--good", "some/good.git", "/etc", "sömé/good"]
)
def test_invalid_hub_id_is_refused(cached, name):
    with pytest.raises(LoadError, match="nor a Hub id"):
        hub.fetch(name, None, print)
