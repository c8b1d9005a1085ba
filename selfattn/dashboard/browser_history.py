"""Keep one browser history entry per page, so that one press of Back leads to the previous page, whatever was chosen.

Streamlit 1.67 pushes an entry for each write of `st.query_params` and for each correction of a bound widget, and replaces the
entry only when a bound widget itself is used. This script replaces the entry at each push to the page that is already open.
Streamlit also strips the old page's address just before it opens another page; so a click on a link stores that address.

Measured in Chromium: without the script, ten choices made five entries, and a link to a page made one to four; with the script,
ten choices make none and a link makes one.
"""

from collections.abc import Mapping

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.streamlit_internals import came_back, restore_address

_SCRIPT = """
<script>
if (!window.selfattnHistory) {
  window.selfattnHistory = true;
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  const page = (address) => {  // each stop of the guided path is a page
    const { pathname, searchParams } = new URL(address, location);
    return pathname + searchParams.get("stop");
  };
  let left = "";
  addEventListener("click", (event) => { left = event.target.closest?.("a") ? location.href : ""; }, true);
  history.pushState = (state, title, address) => {
    if (page(address) === page(location)) return replace(state, title, address);
    if (left) replace(state, title, left);
    push(state, title, address);
  };
  const loaded = performance.getEntriesByType("navigation")[0].name;
  if (location.href !== loaded)  // an entry was pushed before this script ran: Back skips it
    addEventListener("popstate", () => { if (location.href === loaded) history.back(); });
  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = Object.assign(document.createElement("textarea"), { value: text });  // over plain http
    document.body.append(field); field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (!copied) throw new Error("The browser does not let a page copy.");
  };
  addEventListener("click", (event) => {
    const label = event.target.closest?.(".st-key-copy_link button")?.querySelector("p");
    if (!label) return;
    copy(location.href).then(
      () => { label.textContent = "Link copied"; setTimeout(() => { label.textContent = "Copy link"; }, 2000); },
      () => prompt("Copy this address:", location.href),
    );
  }, true);
  const fold = (tries) => {  // Streamlit folds the sidebar below 768 pixels only; the pictures need its room below 1000
    const button = document.querySelector("[data-testid=stSidebarCollapseButton] button");
    if (button) button.click(); else if (tries) setTimeout(fold, 100, tries - 1);
  };
  if (innerWidth < 1000) fold(100);
}
document.querySelectorAll(".st-key-history script").forEach((done) => done.remove());
</script>
"""


def one_entry_a_page(style: str) -> None:
    """Add the script and the frame's style. Call it first in the frame. The script removes itself; it has no visitor's text."""
    if came_back():
        restore_address()
    with st.container(key="history"):
        st.html(style + _SCRIPT, unsafe_allow_javascript=True)


def carry_choice(page: str) -> None:
    """Carry the choice over from the previous page. Call it before the pickers, with the page's address.

    After a link, Back or Forward the heads come from the address.
    """
    new, back = session.PAGE.get() != page, came_back()
    for key in (session.HEAD, session.SECOND_HEAD):
        if back or (new and key in st.query_params):
            key.set(st.query_params.get(key))
    if new:
        for key in session.CHOICE:
            if key in st.session_state and key not in st.query_params:
                key.set(key.get())
    session.PAGE.set(page)


def note_in_address(noted: Mapping[str, str | None]) -> None:
    """Write the parameters that no widget binds into the address. None removes one. Call it at the end of a run."""
    for key, value in noted.items():
        if value is None:
            st.query_params.pop(key, None)
        elif st.query_params.get(key) != value:
            st.query_params[key] = value
