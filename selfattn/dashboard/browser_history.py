"""Browser history: one entry a choice, and the choice as it was.

Streamlit writes the address in steps when a page is left for another: the old choice goes, the page changes, the choice
comes back. Each step would be an entry in the browser's history, and a choice none.
So a script in the browser lets whatever the visitor did last make one entry and what follows from it replace that entry;
and after Back or Forward the address stays as the browser has restored it.

Tried without it in Chromium (Streamlit 1.67, 2026-11-24, bound widgets and st.navigation alone): a page link made two or three
entries, so that Back stayed on the page, then lost its head; a head and an example chosen on one page made one between them,
and one press of Back undid both. Without `carry_choice` a link's head was the default on the next page.
"""

from collections.abc import Mapping

import streamlit as st

from selfattn.dashboard import session

_SCRIPT = """
<script>
if (!window.selfattnHistory) {
  window.selfattnHistory = true;
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let last = "loaded";
  history.pushState = history.replaceState = (state, title, address) => {
    const moved = address && new URL(address, location).href !== location.href;
    if (last === "acted" && moved) { push(state, title, address); last = "entered"; }
    else if (last !== "restored") replace(state, title, address);
  };
  const act = (event) => { if (!event.repeat) last = "acted"; };
  for (const kind of ["pointerdown", "keydown", "click"]) addEventListener(kind, act, true);
  addEventListener("click", (event) => {
    if (!event.target.closest?.(".st-key-copy_link button")) return;
    if (navigator.clipboard) { navigator.clipboard.writeText(location.href); return; }
    const field = Object.assign(document.createElement("textarea"), { value: location.href });  // over plain http
    document.body.append(field); field.select(); document.execCommand("copy"); field.remove();
  }, true);
  addEventListener("popstate", () => { last = "restored"; }, true);
  const fold = (tries) => {  // in a narrow window the pictures need the sidebar's room; Streamlit folds it on phones only
    const button = document.querySelector("[data-testid=stSidebarCollapseButton] button"), before = last;
    if (button) { button.click(); last = before; } else if (tries) setTimeout(fold, 100, tries - 1);
  };
  if (innerWidth < 1000) fold(100);
}
document.querySelectorAll(".st-key-history script").forEach((done) => done.remove());
</script>
"""


def one_entry_a_gesture(style: str) -> None:
    """Call once in the frame, with its style. Both are fixed text, nothing of a visitor's; the script leaves the page."""
    with st.container(key="history"):
        st.html(style + _SCRIPT, unsafe_allow_javascript=True)


def carry_choice(page: str) -> None:
    """Carry the choice from the page before. Call before the pickers, with the page's own name.

    A bound widget that got its value from the page's address, and was not touched since, starts from its default when it
    is first drawn on another page, though the session still holds the value. Setting the value again hands it on; on
    arrival only, so that Back finds what was.
    """
    if session.PAGE.get() != page:
        for key in session.CHOICE:
            if key in st.session_state and key not in st.query_params:
                key.set(key.get())
    session.PAGE.set(page)


def note_in_address(noted: Mapping[str, str | None]) -> None:
    """At the end of a run: what the address holds beside its widgets' values. None: it must not hold it."""
    for key, value in noted.items():
        if value is None:
            st.query_params.pop(key, None)
        elif st.query_params.get(key) != value:
            st.query_params[key] = value
