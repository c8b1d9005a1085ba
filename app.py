"""Configures the page and its navigation in three sections; loads no data and no model.

`streamlit run app.py` serves `app` below; each visitor's run of this file calls `show`.
"""

import importlib
import threading
from contextlib import asynccontextmanager

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.browser_history import note_in_address, one_entry_a_page
from selfattn.dashboard.streamlit_internals import bound_uploads, let_navigation_find_the_pages, this_session
from selfattn.dashboard.while_loading import check_stored_figure, show_stored_figure
from selfattn.settings import Settings

# File, title, address ("" for the start page), and the pickers that the frame draws above the page (pickers.pick_for).
# The menu lists the lessons first, for newcomers; the start page is the main view.
PAGES = {
    "Learn": [
        ("learn/from_scratch/page.py", "From scratch · 40 min", "from-scratch", ""),
        ("learn/before_attention.py", "Before attention · 10 min", "before-attention", ""),
        ("learn/train_a_tiny_one.py", "Train a tiny one · 5 min", "train-a-tiny-one", ""),
        ("learn/pronouns_and_negation/page.py", "Pronouns · 10 min", "pronouns-and-negation", ""),
        ("learn/exercises.py", "Exercises · 15 min", "exercises", ""),
    ],
    "Explore": [
        ("explore/two_sentences/page.py", "A word in two sentences", "", "main"),
        ("explore/inside_a_head/page.py", "Inside a head", "inside-a-head", "pair"),
        ("explore/all_heads.py", "All heads", "all-heads", "pair"),
        ("explore/senses/page.py", "Senses", "senses", "head"),
        ("explore/two_encoders.py", "Two encoders", "two-encoders", "sentence"),
        ("explore/predictions.py", "Predictions", "predictions", "sentence"),
    ],
    "About": [
        ("about/models_and_proof.py", "Models and proof", "models-and-proof", ""),
        ("about/what_it_cannot_tell/page.py", "What it cannot tell", "what-it-cannot-tell", ""),
    ],
}
OLD = ("explore/predictions.py", "Predictions", "masked-words")  # old links use this address


def show() -> None:
    """Draw the frame, then the page that the address names."""
    st.set_page_config(page_title="selfattn", page_icon="🔎", layout="wide", initial_sidebar_state=230)
    # Streamlit leaves 6 rem of space above the first line; the main view needs that space for its second row. Captions are
    # st.text.
    one_entry_a_page(
        "<style>[data-testid=stMainBlockContainer]{padding:.8rem 2rem 4rem}[data-testid=stText]{font-size:.9rem}"
        "input,textarea{unicode-bidi:plaintext}"  # a sentence from right to left runs so while it is typed
        ".st-key-history,.st-key-out_of_sight{display:none}"
        "[data-testid=stVegaLiteChart] svg.marks{max-width:100%;height:auto}"  # no page is wider than its window
        ".st-key-both_sentences{max-height:7rem;overflow:auto}"  # a text of 512 tokens
        ".vega-bindings{display:flex;flex-wrap:wrap;gap:0 2rem}h1{font-size:30px!important;padding:0!important}"
        # A and B stay side by side in a narrow window.
        "@media(max-width:1150px){[data-testid=stMainBlockContainer]{padding-top:3.6rem}"
        ".st-key-maps{flex-wrap:nowrap!important;gap:.5rem}.st-key-maps svg.marks{width:100%;height:auto}"
        ".st-key-maps>div{flex:1 1 0!important;min-width:0!important;width:0!important}}"
        # Hide Streamlit's own toolbars: only "Download" adds the provenance and escapes the cells of a CSV.
        "[data-testid=stElementContainer]:has([data-testid=stVegaLiteChart]) [data-testid=stElementToolbar],"
        "[data-testid=stDataFrame] button[aria-label^='Download as CSV']{display:none}</style>"
    )
    if session.MENU.get() is None:  # build it once per visitor: it looks up every page's file
        session.MENU.set(_menu())
    page = st.navigation(session.MENU.get(), expanded=True)
    view = next(view for entries in PAGES.values() for _, title, _, view in entries if title == page.title)
    # Transient elements get their own container, so that the rest keeps its place: fields keep their focus, and charts
    # aren't redrawn.
    news = st.container()
    with news:
        stored = None if page.url_path else show_stored_figure()
    # Import late: these modules load slowly, and the frame appears first.
    from selfattn.dashboard.download import show_download
    from selfattn.dashboard.figures import Page, PageEnds, end_page, show_error, this_page
    from selfattn.dashboard.pickers import pick_for
    from selfattn.dashboard.queue import page_run
    from selfattn.encoders.errors import NotFinite, OutOfMemory

    session.RECORD.set(Page(news=news))
    with page_run(news):
        try:
            pick_for(view, page.title)
            if stored:
                stored.empty()
            page.run()
            if stored:
                check_stored_figure(stored, this_page())
        except PageEnds:
            pass
        except (NotFinite, OutOfMemory) as error:  # from any computation on the page
            show_error(error)
        finally:
            if stored and not this_page().panels:  # the page ended before it drew its figure
                stored.empty()
            note_in_address(this_page().address)
            show_download(end_page())


def _menu() -> dict[str, list]:
    """The pages by section, and a hidden entry for the old address."""
    listed = {
        section: [
            st.Page(f"pages/{path}", title=title, url_path=address, default=not address)
            for path, title, address, _ in entries
        ]
        for section, entries in PAGES.items()
    }
    path, title, address = OLD
    listed["Explore"].append(st.Page(f"pages/{path}", title=title, url_path=address, visibility="hidden"))
    return listed


@asynccontextmanager
async def started(_: st.App):
    """Run at the start of the server. Begin to import torch, which takes seconds, before the first visitor comes."""
    let_navigation_find_the_pages()
    bound_uploads(Settings.read().uploaded_megabytes * 2**20)
    threading.Thread(target=importlib.import_module, args=("selfattn.dashboard.encoder_picker",), daemon=True).start()
    yield


if this_session() is None:
    app = st.App(__file__, lifespan=started)
else:
    show()
