"""How a word reaches another through a recurrent net and through attention, measured on the visitor's sentence."""

import streamlit as st

from pages.learn.before_attention.costs import show_costs, show_forgetting
from selfattn.charts.curves import lines
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import recurrence
from selfattn.words import split_words

EXAMPLES = (recurrence.LONG_SENTENCE, "cat", "ran"), (recurrence.SENTENCE, "bank", "it")
SENTENCE, GAIN, GATE, ASKING = "recurrence.sentence", "recurrence.gain", "recurrence.gate", "recurrence.asking"
START, STOP = "recurrence.start", "recurrence.stop"
TAKE = (
    "Through a recurrence a word must survive every step; to attention every word is one step away, for n × n scores."
)
NAMES = {"plain": "plain recurrence", "gated": "gated recurrence", "attention": "attention"}


def choose() -> tuple[tuple[str, ...], int, int]:
    """The sentence and the two words, counted from 1."""
    with st.container(horizontal=True):
        for example in EXAMPLES:
            _, first, second = example
            st.button(f"{first} … {second}", key=f"recurrence.{first}", on_click=_use, args=example)
    if SENTENCE not in st.session_state:
        _use(*EXAMPLES[0])
    words = recurrence.words_of(st.text_input("Sentence", key=SENTENCE, max_chars=500))
    places = range(1, len(words) + 1)
    for key, place in ((START, min(2, len(words) - 1)), (STOP, min(7, len(words)))):
        if st.session_state.get(key) not in places:
            st.session_state[key] = place
    with st.container(horizontal=True):
        # Options are numbers and labels show the word: a select box prints its labels as they are.
        start = st.selectbox("From", places, format_func=lambda n: f"{n} {words[n - 1]}", key=START, width=220)
        stop = st.selectbox("To", places, format_func=lambda n: f"{n} {words[n - 1]}", key=STOP, width=220)
    return words, start, stop


def _use(sentence: str, first: str, second: str) -> None:
    words = split_words(sentence)
    st.session_state.update({SENTENCE: sentence, START: words.index(first) + 1, STOP: words.index(second) + 1})


def show_signal(words: tuple[str, ...], start: int, stop: int) -> None:
    published = {GAIN: recurrence.GAIN, GATE: recurrence.GATE, ASKING: recurrence.ASKING}
    for key, value in published.items():
        st.session_state.setdefault(key, value)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        gain = st.slider("Gain of the recurrence", 0.5, 1.5, step=0.05, key=GAIN, width=230)
        gate = st.slider("Gate for other words", 0.0, 1.0, step=0.05, key=GATE, width=230)
        asking = st.slider("How strongly attention asks for the word", 0.0, 20.0, step=1.0, key=ASKING, width=270)
        teaching.reset("recurrence", published)
    signal = recurrence.signal(words, start, stop, gain, gate, asking)
    signal = signal.assign(network=signal["network"].map(NAMES))
    last = signal[signal["step"] == stop].set_index("network")
    log = "y" if signal["gradient"].min() > 0 else ""
    with teaching.row():
        for column, title, looks in (
            ("gradient", "Gradient: does the first word still matter to this state?", {"log": log}),
            ("share", "Share: how much of this state is the first word?", {"domain": (0, 1)}),
        ):
            chart = lines(
                signal, "step", column, current_theme(), "network", titles=("word", column), size=(400, 240), **looks
            )
            # What is left at the second word, network by network.
            ends = ", ".join(f"{name} {value:.2f}" for name, value in last[column].items())
            teaching.figure(title, chart, f"At word {stop}: {ends}. Most: {last[column].idxmax()}.", 470)
    teaching.prose(
        "**When recurrence wins:** over a short gap, with a gain near 1, or with a gate that is nearly shut. All three are "
        "settings; attention needs none of them to be right, only a query that asks for the word."
    )


def show() -> None:
    teaching.prose(
        "Before attention, a network read word by word and passed along one *state* of fixed size, as if an "
        "article had to fit into one tweet. To reach a later word, a "
        "word must survive every step in between. With attention, any word attends to any other directly."
    )
    teaching.explain("query", "key", "score", "weight")
    with teaching.messages():
        words, start, stop = choose()
        path = recurrence.path(len(words), start, stop)
        st.text(
            f'From word {start}, "{words[start - 1]}", to word {stop}, "{words[stop - 1]}": {path.distance} steps through a '
            f"recurrence, with {path.states_between} states in between, and {path.sequential_steps} steps in a row for the "
            f"whole sentence. Attention takes one step, and pays with {path.attention_scores} scores."
        )
        st.markdown("#### Does the word get through?")
        teaching.prose(
            "Three small networks read your sentence. A recurrence multiplies its state by the **gain** at each word and adds "
            "the word; the gated one does only a share of that, the **gate**, but all of it at the first word. The **gradient** "
            "says how much a state would move if the first word moved: it fades below a gain of 1, explodes above. The **share** "
            "says how much of the state is that word's doing: it shrinks even at a gain of 1, because the others are added. Gate "
            "and query are set by hand, as training would set them; attention that doesn't ask spreads evenly, and dilutes too."
        )
        show_signal(words, min(start, stop), max(start, stop))
    show_costs()
    show_forgetting()
