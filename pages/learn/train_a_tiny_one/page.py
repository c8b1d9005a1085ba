"""A model of 777 numbers learns, in seconds and in sight, where to attend."""

import time

import streamlit as st

from pages.learn.train_a_tiny_one.results import show_layers, show_result, show_states, show_untrained
from selfattn.dashboard import session, teaching
from selfattn.dashboard.figures import heading
from selfattn.dashboard.queue import costly_slot
from selfattn.lessons import tiny_model
from selfattn.lessons.tiny_model import EpochState, Settings

PUBLISHED = {"tiny.seed": 0, "tiny.epochs": 10, "tiny.width": 8, "tiny.magic": 42, "tiny.random": False}


def choose() -> Settings:
    for key, value in PUBLISHED.items():
        st.session_state.setdefault(key, value)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = st.number_input("Seed", 0, 10_000, key="tiny.seed", width=120, help="It decides the random numbers.")
        epochs = st.number_input("Epochs", 1, 30, key="tiny.epochs", width=120, help="Times through all sentences.")
        width = st.number_input("Width", 2, 32, key="tiny.width", width=120)
        magic = st.number_input("Magic number", 1, 50, key="tiny.magic", width=140)
        random = st.toggle("Random labels (control)", key="tiny.random")
        teaching.reset("tiny", PUBLISHED)
    return Settings(int(seed), int(epochs), int(width), int(magic), random_labels=random)


def train(settings: Settings) -> None:
    """Train with everything in sight. Stop reruns the page, which ends this loop; what was reached is kept.

    A class that trains takes turns, an epoch each, in the queue for costly work: all other pages pass.
    """
    st.button("Stop", key="tiny.stop", icon=":material/stop:")
    bar, picture = st.progress(0.0, text="Waiting for a turn ..."), st.empty()
    states: list[EpochState] = []
    with costly_slot() as give_way:
        began = time.monotonic()
        session.TRAINED.set((settings, states))
        for state in tiny_model.train(settings):
            states.append(state)
            left = (time.monotonic() - began) / max(state.epoch, 1) * (settings.epochs - state.epoch)
            text = f"Epoch {state.epoch} of {settings.epochs}" + (f", about {left:.0f} s left" if state.epoch else "")
            bar.progress(state.epoch / settings.epochs, text=text)
            with picture.container():
                show_states(states, "live")
            give_way()
    st.rerun()


heading("Train a tiny one")
teaching.fit_pictures()
teaching.prose(
    "No rule sets the weights. See them learned: a sentence is [CLS] and six random numbers; the answer is *yes* "
    "where **position 4 holds the magic number**. One head, one layer. Only [CLS] decides, so it must learn "
    "to attend to position 4."
)
teaching.explain("token", "head", "layer", "weight")
settings = choose()
count, n = tiny_model.layers(settings.width)["numbers"].sum(), tiny_model.N_SAMPLES
teaching.prose(
    f"**{count:,} numbers** to learn, {n:,} sentences, some 2 in 100 *yes*: watch the recall, how many it finds."
)
if st.button("Train", key="tiny.train", icon=":material/play_arrow:"):
    train(settings)
show_layers(settings)
used, states = session.TRAINED.get()
if used is None:
    show_untrained(settings)
elif states:
    if used != settings:
        st.info("What follows belongs to the settings of the last training. Train again to use the new ones.")
    show_result(used, states)
teaching.take(
    "Where to attend is learned from right and wrong answers alone. Enough attention decides; it need not be nearly all."
)
