"""List the dashboard's pages."""

from typing import NamedTuple

import streamlit as st


class Entry(NamedTuple):
    """A page of the dashboard."""

    address: str  # "" for the start page
    file: str  # path in pages/
    title: str
    icon: str = ""  # Material icon of links to the page
    pickers: str = ""  # pickers above the page (see pickers.pick_for)

    @property
    def path(self) -> str:
        """The file's path for Streamlit."""
        return f"pages/{self.file}"


# Lessons come first, for newcomers.
PAGES = {
    "Learn": (
        Entry("from-scratch", "learn/from_scratch/page.py", "From scratch · 40 min", "school"),
        Entry("before-attention", "learn/before_attention.py", "Before attention · 10 min"),
        Entry("train-a-tiny-one", "learn/train_a_tiny_one.py", "Train a tiny model · 5 min"),
        Entry("pronouns-and-negation", "learn/pronouns_and_negation/page.py", "Pronouns · 10 min"),
        Entry("exercises", "learn/exercises.py", "Exercises · 15 min"),
    ),
    "Explore": (
        Entry("", "explore/two_sentences/page.py", "A word in two sentences", "compare_arrows", "main"),
        Entry("inside-a-head", "explore/inside_a_head/page.py", "Inside a head", "search", "pair"),
        Entry("all-heads", "explore/all_heads.py", "All heads", "grid_view", "maps"),
        Entry("senses", "explore/senses/page.py", "Senses", "", "head"),
        Entry("two-encoders", "explore/two_encoders.py", "Two encoders", "", "sentence"),
        Entry("predictions", "explore/predictions.py", "Predictions", "", "head"),
    ),
    "About": (
        Entry("models-and-proof", "about/models_and_proof.py", "Models and proof"),
        Entry("what-it-cannot-tell", "about/what_it_cannot_tell.py", "What it cannot tell"),
    ),
}
OLD = {"masked-words": "predictions"}  # old address: new address
ENTRIES = {entry.address: entry for entries in PAGES.values() for entry in entries}


def menu() -> dict[str, list]:
    """Return the pages by section. The addresses in OLD open pages too, but aren't in the menu."""
    listed = {
        section: [_page(entry, entry.address, default=not entry.address) for entry in entries]
        for section, entries in PAGES.items()
    }
    listed["Explore"] += [_page(ENTRIES[new], old, visibility="hidden") for old, new in OLD.items()]
    return listed


def _page(entry: Entry, address: str, **more) -> st.Page:
    return st.Page(entry.path, title=entry.title, url_path=address, **more)


def show_link(address: str, label: str = "", icon: str = "", **query: str) -> None:
    """Show a link to a page. label: "" for the page's title."""
    entry = ENTRIES[address]
    st.page_link(entry.path, label=label or entry.title, icon=f":material/{icon or entry.icon}:", query_params=query)
