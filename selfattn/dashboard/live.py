"""Show a panel's interactive figure."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from selfattn.export.component_page import javascript, stylesheet

if TYPE_CHECKING:  # `show_stored` must run before slow imports
    from selfattn.panel import Live


def show_live(live: "Live", key: str, choose: Callable[..., None], *states: str) -> None:
    """Show the live figure. When the visitor chooses something in the figure, choose(state, value) is called."""

    def changed(state: str) -> None:
        choose(state, st.session_state[key].get(state))

    callbacks = {f"on_{state}_change": partial(changed, state) for state in states}
    _component(live.component)(key=key, data=dict(live.data), **callbacks)


def show_stored(component: str, data: Mapping[str, Any]) -> None:
    """Show a component that ignores clicks."""
    _component(component, heard=False)(key=f"stored {data['key']}", data=dict(data))


@cache
def _component(name: str, heard: bool = True) -> Any:
    script, suffix, ignore = javascript(name), "", "setStateValue() {}, setTriggerValue() {}"
    if not heard:
        script, suffix = script.replace("export default ", ""), "_unheard"
        script += f"\nexport default (given) => {name}({{ ...given, {ignore} }});\n"
    return st.components.v2.component(f"selfattn_{name}{suffix}", css=stylesheet(name), js=script)
