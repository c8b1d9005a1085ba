"""Serve the dashboard: `streamlit run app.py`."""

import importlib
import threading
from contextlib import asynccontextmanager

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.browser_history import note_in_address, one_entry_a_page
from selfattn.dashboard.navigation import ENTRIES, OLD, menu
from selfattn.dashboard.streamlit_internals import bound_uploads, let_navigation_find_the_pages, this_session
from selfattn.dashboard.while_loading import check_stored_figure, loaded, show_stored_figure
from selfattn.settings import Settings

# Two circles for the sentences A and B, and an arrow from A to B.
LOGO = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 176 32" font-family="Source Sans, sans-serif">
<style>text{fill:#1b2330}@media(prefers-color-scheme:dark){text{fill:#eef1f6}}</style>
<path d="M9 18C9 0 33 0 33 16" fill="none" stroke="#2a9d8f" stroke-width="3"/><path d="M28 13h10l-5 8z" fill="#2a9d8f"/>
<circle cx="9" cy="23" r="6" fill="#b35806"/><circle cx="33" cy="26" r="5" fill="#8f63c9"/>
<text x="50" y="26" font-size="24" font-weight="700">selfattn</text></svg>"""


def show() -> None:
    """Draw the parts that all pages share, then the chosen page."""
    st.set_page_config(page_title="selfattn", page_icon="🔎", layout="wide", initial_sidebar_state=230)
    one_entry_a_page(
        # Remove Streamlit's empty space (6 rem) above the first line.
        "<style>[data-testid=stMainBlockContainer]{padding:0 2rem 4rem}"
        "[data-testid=stText]{font-size:.9rem}"  # the pages use st.text for captions
        "input,textarea{unicode-bidi:plaintext}"  # right-to-left sentences are typed from the right
        ".st-key-history,:has(>.st-key-news):not(:has(>.st-key-news>*>:not(.stEmpty))){display:none}"
        # While typed sentences are shown, give the button "Your own" the look of a chosen example's button.
        "[data-testid=stPopover] button[kind=primary]"
        "{color:inherit!important;background:color-mix(in srgb,#174f97 12%,transparent)!important}"
        "[data-testid=stLayoutWrapper]:has(>.st-key-headline){min-width:min(100%,260px)}"  # a narrower title would break words
        ".st-key-question h1{font-size:22px!important;font-weight:500!important}"
        # Shrink wide pictures, and wrap rows of buttons.
        "[data-testid=stVegaLiteChart],[data-testid=stVegaLiteChart] :is(.vega-embed,.chart-wrapper,svg.marks){max-width:100%}"
        "[data-testid=stVegaLiteChart] svg.marks{height:auto}[data-testid=stButtonGroup] [role=radiogroup]{flex-wrap:wrap}"
        ".st-key-both_sentences{max-height:7rem;overflow:auto}"  # a text may have 512 tokens
        # Page "Two encoders": the two halves fill the window.
        "[class*=st-key-halves]{flex-wrap:wrap}[class*=st-key-halves]>*{flex:1 1 460px!important;min-width:0!important}"
        # Page "All heads": lines between the numbered steps, and a frame around the chosen head's name.
        ".st-key-all_heads>*+*{padding-top:1.2rem;border-top:1px solid color-mix(in srgb,currentColor 15%,transparent)}"
        ".st-key-all_heads h3{padding:.2rem 0 .7rem!important;font-size:20px!important}"
        ".st-key-all_heads h3 code{padding:0 .35em;border:2.5px solid;border-radius:5px;background:none;font:inherit}"
        ".st-key-all_heads h3 code{color:inherit!important}"
        ".st-key-all_heads h3 .stMarkdownBadge{margin-right:.4em;padding:0 .5em!important;border-radius:1em;"
        "background:#174f97!important;color:#fff!important}"
        ".st-key-over_many{flex-wrap:wrap}.st-key-over_many>*{flex:1 1 320px!important;min-width:0!important}"
        ".st-key-over_many>:first-child{flex:2 1 520px!important}"
        ".st-key-all_heads details{border:0!important}"
        ".st-key-all_heads summary{min-height:0!important;padding:0!important}"
        ".vega-bindings{display:flex;flex-wrap:wrap;gap:0 2rem}h1{font-size:24px!important;padding:0!important}"
        "@media(max-width:1150px){[data-testid=stMainBlockContainer]{padding-top:3.6rem}}"
        # Hide Streamlit's own download buttons: they don't escape formulas in CSV cells.
        "[data-testid=stElementContainer]:has([data-testid=stVegaLiteChart]) [data-testid=stElementToolbar],"
        "[data-testid=stDataFrame] button[aria-label^='Download as CSV']{display:none}</style>"
    )
    if session.MENU.get() is None:  # once per visitor, because it looks up every page
        session.MENU.set(menu())
    st.logo(LOGO, size="large")
    page = st.navigation(session.MENU.get(), expanded=True)
    entry = ENTRIES[OLD.get(page.url_path, page.url_path)]
    # A message outside this container would make Streamlit redraw the charts below.
    news = st.container(key="news")
    with news:
        stored = None if page.url_path or loaded() else show_stored_figure()
    # Import slow modules late, so that the menu appears first.
    from selfattn.dashboard.download import show_download
    from selfattn.dashboard.figures import Page, PageEnds, end_page, show_error
    from selfattn.dashboard.pickers import pick_for
    from selfattn.dashboard.queue import page_run
    from selfattn.encoders.errors import NotFinite, OutOfMemory

    record = Page(name=entry.address or "two-sentences", news=news)
    session.RECORD.set(record)
    with page_run(news):
        try:
            pick_for(entry)
            if stored:
                stored.empty()
            page.run()
            if stored:
                check_stored_figure(stored, record)
        except PageEnds:
            pass
        except (NotFinite, OutOfMemory) as error:  # any computation on the page can raise these
            show_error(error)
        finally:
            if stored and not record.panels:  # the page ended before it drew its figure
                stored.empty()
            for do in record.later:
                do()
            note_in_address(record.address)
            show_download(end_page())


@asynccontextmanager
async def started(_: st.App):
    """Import torch on another thread, because the import takes seconds."""
    let_navigation_find_the_pages()
    bound_uploads(Settings.read().uploaded_megabytes * 2**20)
    threading.Thread(target=importlib.import_module, args=("selfattn.dashboard.encoder_picker",), daemon=True).start()
    yield


if this_session() is None:
    app = st.App(__file__, lifespan=started)
else:
    show()
