"""Use the dashboard without a browser, over Streamlit's websocket."""

import json
import time
import urllib.request
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from urllib.parse import urlparse

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from websockets.sync.client import connect

UNFINISHED = ForwardMsg.FINISHED_EARLY_FOR_RERUN
REPORTER = "selfattn_kernel"  # the component that reports the chosen head
LONGEST = 240  # seconds to wait for a message
WIDGETS = ("text_input", "text_area", "selectbox", "slider", "checkbox", "button_group", "number_input")


@dataclass
class Run:
    """One run of a page: its duration, and what the server sent."""

    seconds: float = 0.0
    first_chart: float | None = None  # seconds until the first chart or figure arrives
    exceptions: list[str] = field(default_factory=list)
    alerts: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    not_found: bool = False


class Session:
    """One connection to the dashboard. Widget values stay set until `open` is called."""

    def __init__(self, address: str, headers: Mapping[str, str] | None = None):
        self._address = address.rstrip("/")
        socket = f"ws://{urlparse(address).netloc}/_stcore/stream"
        self._closing = ExitStack()
        options = {"subprotocols": ["streamlit"], "max_size": None, "additional_headers": headers or {}}
        self._socket = self._closing.enter_context(connect(socket, **options))
        self.widgets: dict[str, str] = {}  # widget key -> widget id
        self.downloads: dict[str, str] = {}  # label of the download button -> file id
        self._values: dict[str, tuple[str, object]] = {}  # widget key -> (field of WidgetState, value)
        # The clickable map of heads: widget id, fragment id, heads per layer, True if clicks are Streamlit trigger values.
        self.heads: tuple[str, str, int, bool] | None = None
        self._reported_below = False
        # Clicks for the next message only: widget id -> {field of WidgetState: value}.
        self._picked: dict[str, dict[str, str]] = {}
        self._query, self._page, self._id = "", "", ""

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        self._closing.close()

    def open(self, page: str = "", query: str = "") -> Run:
        """Open a page by name, and wait for it."""
        self._page, self._query = page, query
        self._values.clear()
        self.widgets.clear()
        self.downloads.clear()
        self.heads, self._reported_below = None, False
        self._picked.clear()
        self._ask()
        return self._read()

    def set(self, **values: object) -> Run:
        """Set widgets by key, and wait for the page."""
        self.send(**values)
        return self._read()

    def click_head(self, layer: int, head: int) -> Run:
        """Click a head in the map, and wait for the page."""
        held, part, n_heads, trigger = self.heads
        value = layer * n_heads + head
        if trigger:
            picked = {"json_trigger_value": json.dumps([{"event": "head", "value": value}])}
            self._picked = {held: {"json_value": "{}"}, f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{held}__events": picked}
        else:
            self._picked = {held: {"json_value": json.dumps({"head": value})}}
        self._ask(part)
        return self._read()

    def send(self, **values: object) -> None:
        """Set widgets by key, without waiting for the page."""
        for key, value in values.items():
            self._values[key] = _state(value, key)
        self._ask()

    def download(self, label: str) -> bytes:
        """Click a download button, and return the file."""
        while label not in self.downloads:  # the button is in a later message
            self._read()
        message = BackMsg()
        message.backend_operation_request.request_id = label
        message.backend_operation_request.session_id = self._id
        message.backend_operation_request.deferred_file.file_id = self.downloads[label]
        self._socket.send(message.SerializeToString())
        while True:
            answer = _parsed(self._socket.recv(LONGEST))
            if answer.WhichOneof("type") == "backend_operation_response":
                break
        if error := answer.backend_operation_response.error_msg:
            raise RuntimeError(error)
        address = self._address + answer.backend_operation_response.deferred_file.url
        with urllib.request.urlopen(address, timeout=LONGEST) as response:
            return response.read()

    def _ask(self, part: str = "") -> None:
        self._read_what_came()
        message = BackMsg()
        message.rerun_script.fragment_id = part
        message.rerun_script.query_string = self._query
        message.rerun_script.page_name = self._page
        for key, (kind, value) in self._values.items():
            if key not in self.widgets:
                raise KeyError(f"The page has no widget {key!r}. Choose one of {', '.join(sorted(self.widgets))}.")
            state = message.rerun_script.widget_states.widgets.add(id=self.widgets[key])
            if kind == "string_array_value":
                state.string_array_value.data.append(value)
            else:
                setattr(state, kind, value)
        for held, picked in self._picked.items():
            message.rerun_script.widget_states.widgets.add(id=held, **picked)
        self._picked.clear()
        self._socket.send(message.SerializeToString())

    def _read(self) -> Run:
        run, started = Run(), time.monotonic()
        while True:
            message = _parsed(self._socket.recv(max(0.01, started + LONGEST - time.monotonic())))
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self._id = message.new_session.initialize.session_id
            run.not_found |= kind == "page_not_found"
            if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                self._take(message.delta.new_element, run, time.monotonic() - started, message.delta.fragment_id)
            elif kind == "delta" and (held := message.delta.add_block.popover.id):
                self.widgets[_key(held)] = held
            if kind == "script_finished" and message.script_finished != UNFINISHED:
                run.seconds = time.monotonic() - started
                return run

    def _read_what_came(self) -> None:
        """Read late messages of earlier runs, so that `_read` doesn't count them."""
        running = False
        while True:
            try:
                message = _parsed(self._socket.recv(LONGEST if running else 0))
            except TimeoutError:
                return
            kind = message.WhichOneof("type")
            running = kind == "new_session" or (running and kind != "script_finished")

    def _take(self, element, run: Run, seconds: float, part: str) -> None:
        kind = element.WhichOneof("type")
        if kind in WIDGETS:
            held = getattr(element, kind).id
            self.widgets[_key(held)] = held
        elif kind == "download_button":
            self.downloads[element.download_button.label] = element.download_button.deferred_file_id
        elif kind == "exception":
            run.exceptions.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "alert":
            run.alerts.append(element.alert.body)
        elif kind == "text":
            run.texts.append(element.text.body)
        elif kind == "vega_lite_chart":
            run.first_chart = run.first_chart or seconds
        elif kind == "bidi_component":
            run.first_chart = run.first_chart or seconds
            data = json.loads(element.bidi_component.json)
            component, known = element.bidi_component, self.heads
            if heads := data.get("heads"):  # the main view, or a map of all heads
                trigger = isinstance(heads, int)
                self.heads = component.id, part, heads if trigger else heads["heads"], trigger
                self._reported_below = not trigger
            elif self._reported_below and component.component_name == REPORTER:
                self.heads = component.id, part, known[2], True


def _key(widget: str) -> str:
    return widget.rsplit("-", 1)[-1]


def _state(value: object, key: str) -> tuple[str, object]:
    if isinstance(value, bool):
        return "bool_value", value
    if isinstance(value, int | float):
        return "double_value", float(value)
    return ("string_array_value" if key in ("head", "view", "map") else "string_value"), value


def _parsed(raw: bytes) -> ForwardMsg:
    message = ForwardMsg()
    message.ParseFromString(raw)
    return message
