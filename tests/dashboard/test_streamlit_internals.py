"""Test that the run of a part doesn't replace the run of a page in Streamlit's queue."""

from types import SimpleNamespace

from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

from selfattn.dashboard import streamlit_internals


def test_part_runs_without_replacing_a_page_run(monkeypatch):
    requests = ScriptRequests()
    context = SimpleNamespace(
        script_requests=requests, query_string="word=bank", page_script_hash="here", cached_message_hashes=set(),
        fragment_storage=SimpleNamespace(resolve_target=lambda key: [f"part {key}"]), context_info=None,
    )  # fmt: skip
    monkeypatch.setattr(streamlit_internals, "this_session", lambda: context)
    requests.request_rerun(RerunData(query_string="", page_script_hash="another page"))
    streamlit_internals.run_part_next("figure")
    waiting = requests.on_scriptrunner_ready().rerun_data
    assert (waiting.page_script_hash, waiting.fragment_id_queue) == ("another page", [])
    streamlit_internals.run_part_next("figure")
    waiting = requests.on_scriptrunner_ready().rerun_data
    assert (waiting.query_string, waiting.fragment_id_queue) == ("word=bank", ["part figure"])
