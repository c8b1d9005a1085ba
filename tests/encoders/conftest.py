"""A stand-in for the Hugging Face Hub on this machine."""

import hashlib
import json
import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from selfattn.encoders.families import FAMILIES, save_tiny

COMMIT = "c0ffee" + "0" * 34


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    """The server, with one good model (that has a pickle beside its weights), one of pickles only, and a gated one."""
    root = tmp_path_factory.mktemp("hub")
    good = save_tiny(FAMILIES["BERT"], root / "good")
    (good / "pytorch_model.bin").write_bytes(pickle.dumps("never fetched"))
    (good / "1_Pooling").mkdir()
    for file in ("1_Pooling/config.json", "1_Pooling/model.safetensors", "modules.json"):
        (good / file).write_text("{}")
    pickled = save_tiny(FAMILIES["BERT"], root / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    server = StandInHub({"some/good": good, "some/pickled": pickled, "some/gated": good}, gated={"some/gated"})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class StandInHub(ThreadingHTTPServer):
    """Serves `models` (name to folder) on a free port; asked is the list of paths that were asked for."""

    def __init__(self, models: dict[str, Path], gated: set[str] = frozenset()):
        super().__init__(("127.0.0.1", 0), _Answers)
        self.models = models
        self.gated = gated
        self.asked: list[str] = []

    commit = COMMIT

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    server: StandInHub
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = unquote(self.path.split("?")[0])
        self.server.asked.append(path)
        if path.startswith("/api/models/"):
            name, _, revision = path.removeprefix("/api/models/").partition("/revision/")
            self._info(name, revision or "main")
        else:
            name, _, rest = path.strip("/").partition("/resolve/")
            revision, _, file = rest.partition("/")
            self._file(name, revision, file)

    do_HEAD = do_GET

    def _info(self, name: str, revision: str):
        folder = self._folder(name, revision)
        if folder is not None:
            paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
            files = [{"rfilename": str(f.relative_to(folder)), "size": f.stat().st_size} for f in paths]
            self._send(200, json.dumps({"id": name, "sha": COMMIT, "siblings": files}).encode())

    def _file(self, name: str, revision: str, file: str):
        folder = self._folder(name, revision)
        if folder is None:
            return
        if name in self.server.gated:
            self._send(403, b"", {"X-Error-Code": "GatedRepo"})
        elif not (folder / file).is_file():
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
        else:
            data = (folder / file).read_bytes()
            etag = hashlib.sha1(data).hexdigest()
            self._send(200, data, {"X-Repo-Commit": COMMIT, "ETag": f'"{etag}"'})

    def _folder(self, name: str, revision: str) -> Path | None:
        if name not in self.server.models:
            self._send(401, b"", {"X-Error-Code": "RepoNotFound"})
        elif revision not in ("main", COMMIT):
            self._send(404, b"", {"X-Error-Code": "RevisionNotFound"})
        else:
            return self.server.models[name]
        return None

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None):
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *arguments):
        pass
