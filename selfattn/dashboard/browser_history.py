"""Keep one browser history entry per page.

Streamlit 1.67 pushes an entry whenever code writes `st.query_params`, and removes a page's parameters before it opens
another page. This module's script prevents both. Measured in Chromium: ten choices on a page added five entries without
the script, and none with it. A click on a link to another page added one to four entries without the script, and one with it.
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
  const page = (address) => {  // a stop of the lesson "From scratch" counts as a page
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
  if (location.href !== loaded)  // Streamlit pushed an entry before this script ran: skip that entry on Back
    addEventListener("popstate", () => { if (location.href === loaded) history.back(); });
  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = Object.assign(document.createElement("textarea"), { value: text });  // plain http has no clipboard
    document.body.append(field); field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (!copied) throw new Error("The browser refused to copy the address.");
  };
  addEventListener("click", (event) => {
    const label = event.target.closest?.(".st-key-copy_link button")?.querySelector("p");
    if (!label) return;
    copy(location.href).then(
      () => { label.textContent = "Link copied"; setTimeout(() => { label.textContent = "Copy link"; }, 2000); },
      () => prompt("Copy this address:", location.href),
    );
  }, true);
  const fold = (tries) => {  // fold the sidebar in windows narrower than 1000 pixels; Streamlit does so below 768
    const button = document.querySelector("[data-testid=stSidebarCollapseButton] button");
    if (button) button.click(); else if (tries) setTimeout(fold, 100, tries - 1);
  };
  if (innerWidth < 1000) fold(100);
}
document.querySelectorAll(".st-key-history script").forEach((done) => done.remove());
</script>
"""


def one_entry_a_page(style: str) -> None:
    """Add `style` and the history script. Neither contains text typed by a visitor. Call this function first in app.py."""
    if came_back():
        restore_address()
    with st.container(key="history"):
        st.html(style + _SCRIPT, unsafe_allow_javascript=True)


def carry_choice(page: str) -> None:
    """Keep the sentences, word and heads chosen on the previous page. Call this function before drawing their fields.

    page: this page's address.
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
    """Write parameters into the page's address; the value None removes a parameter. Call this function after drawing the page."""
    for key, value in noted.items():
        if value is None:
            st.query_params.pop(key, None)
        elif st.query_params.get(key) != value:
            st.query_params[key] = value
