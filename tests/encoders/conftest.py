"""Fixtures: an encoder folder to damage, and a local Hub."""

import hashlib
import json
import pickle
import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from selfattn.encoders.families import FAMILIES, save_tiny

COMMIT = "c0ffee" + "0" * 34


@pytest.fixture
def folder(checkpoint, tmp_path):
    return shutil.copytree(checkpoint("BERT"), tmp_path / "mine")


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    """Serve a valid model, a pickle and a gated model, as the Hub does."""
    root = tmp_path_factory.mktemp("hub")
    good = save_tiny(FAMILIES["BERT"], root / "good")
    (good / "pytorch_model.bin").write_bytes(pickle.dumps("never fetched"))
    (good / "1_Pooling").mkdir()
    for file in ("1_Pooling/config.json", "1_Pooling/model.safetensors"):
        (good / file).write_text("{}")
    (good / "modules.json").write_text('[{"path": ""}, {"path": "1_Pooling"}]')
    pickled = save_tiny(FAMILIES["BERT"], root / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    server = StandInHub({"some/good": good, "some/pickled": pickled, "some/gated": good}, gated={"some/gated"})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class StandInHub(ThreadingHTTPServer):
    """Serves folders on a free port, and records in `asked` which paths were requested."""

    commit = COMMIT

    def __init__(self, models: dict[str, Path], gated: set[str]):
        super().__init__(("127.0.0.1", 0), _Answers)
        self.models = models
        self.gated = gated
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


ASKED = re.compile(r"/(?:api/models/)?(.+?)(?:/(?:revision|resolve)/([^/]+)(?:/(.+))?)?")


class _Answers(BaseHTTPRequestHandler):
    server: StandInHub
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = unquote(self.path.split("?")[0])
        self.server.asked.append(path)
        status, body, headers = self._answer(*ASKED.fullmatch(path).groups())
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def _answer(self, name: str, revision: str | None, file: str | None) -> tuple[int, bytes, dict[str, str]]:
        folder = self.server.models.get(name)
        if folder is None:
            return 401, b"", {"X-Error-Code": "RepoNotFound"}
        if revision not in (None, "main", COMMIT):
            return 404, b"", {"X-Error-Code": "RevisionNotFound"}
        if file is None:
            paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
            files = [{"rfilename": str(f.relative_to(folder)), "size": f.stat().st_size} for f in paths]
            return 200, json.dumps({"id": name, "sha": COMMIT, "siblings": files}).encode(), {}
        if name in self.server.gated:
            return 403, b"", {"X-Error-Code": "GatedRepo"}
        if not (folder / file).is_file():
            return 404, b"", {"X-Error-Code": "EntryNotFound"}
        data = (folder / file).read_bytes()
        return 200, data, {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha1(data).hexdigest()}"'}

    def log_message(self, *arguments):
        pass
