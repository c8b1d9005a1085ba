"""The frame: page configuration and navigation in three sections. No data, no model."""

from pathlib import Path

import streamlit as st

st.set_page_config(page_title="selfattn", page_icon="🔎", layout="wide", initial_sidebar_state=230)

# Streamlit leaves six rem of air above the first line; the main view needs it for its second row. Readings are st.text.
st.html(
    "<style>[data-testid=stMainBlockContainer]{padding:2.2rem 2rem 4rem}[data-testid=stText]{font-size:.9rem}</style>"
)

PAGES = {
    "Explore": [
        ("explore/two_sentences.py", "A word in two sentences", None),
        ("explore/inside_a_head.py", "Inside a head", "inside-a-head"),
        ("explore/all_heads.py", "All heads", "all-heads"),
        ("explore/senses.py", "Senses", "senses"),
        ("explore/two_encoders.py", "Two encoders", "two-encoders"),
        ("explore/masked_words.py", "Masked words", "masked-words"),
    ],
    "Learn": [
        ("learn/from_scratch.py", "From scratch", "from-scratch"),
        ("learn/one_word_one_vector.py", "One word, one vector", "one-word-one-vector"),
        ("learn/recurrence.py", "Recurrence", "recurrence"),
        ("learn/train_a_tiny_one.py", "Train a tiny one", "train-a-tiny-one"),
        ("learn/pronouns_and_negation.py", "Pronouns and negation", "pronouns-and-negation"),
    ],
    "About": [
        ("about/models_and_proof.py", "Models and proof", "models-and-proof"),
        ("about/what_it_cannot_tell.py", "What it cannot tell", "what-it-cannot-tell"),
    ],
}

st.navigation(
    {
        section: [
            st.Page(f"pages/{path}", title=title, url_path=address, default=address is None)
            for path, title, address in entries
            if Path("pages", path).exists()
        ]
        for section, entries in PAGES.items()
    }
).run()
