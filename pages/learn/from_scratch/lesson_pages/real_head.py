"""The end of the path: "bank" in a real head, in both sentences, and the way into the main view."""

from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode, cached_swaps
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import current_theme
from selfattn.encoders.capture import Head
from selfattn.lessons import one_head_by_hand
from selfattn.lessons.encoded_words import first_word
from selfattn.numbers import share, weight

TITLE = "Now a real head"
STEP = "a real head"
IDEA = (
    "A real encoder does the same steps, with 384 numbers a word and 72 heads, and nobody wrote its matrices: they were learned. "
    "Its heads work like spotlights on one stage, each with its own query, but not each with one clear job."
)
QUESTION = "In *The bank of the river.*, head 10 of layer 0 gives *river* most of the weight of *bank*. Does it make the meaning?"
OPTIONS = (
    "no: put its output from another sentence in its place, and see how far bank moves",
    "yes, weight is meaning",
)
REASON = "Its weights say where the head attends; only the swap shows what its output does to the word."
TAKE = "A real head's arithmetic is what you have just done. What a head attends to is seen; what it does is tested, by a swap."


def show(picture, numbers) -> None:
    encoder, pair = current_encoder(), one_head_by_hand.REAL
    with numbers:
        chosen = st.radio("Head", ("L0 H10", "L5 H7"), key="real-head.head", horizontal=True)
        head = Head(*(int(part[1:]) for part in chosen.split()))
        head = Head(min(head.layer, encoder.n_layers - 1), min(head.head, encoder.n_heads - 1))
    charts, said, words = {}, [], []
    for name, sentence, answer in (("A", pair.first, "river"), ("B", pair.second, "loan")):
        encoding = cached_encode(encoder, sentence)
        words.append(first_word(encoding, pair.word))
        row = encoding.weights(*head)[words[-1].positions[0]].tolist()
        there = first_word(encoding, answer).positions[0]
        said.append(f'{sentence} "{pair.word}" gives "{answer}" {weight(row[there])}.')
        frame = pd.DataFrame({"token": encoding.tokens, "weight": row})
        chart = bar_list(frame, "weight", current_theme(), domain=(0, 1.3), width=220)
        charts[f"weights {name}"] = f"{name}: what “bank” attends to in {head}", chart
    with picture:
        if encoder.patchable:
            again = first_word(cached_encode(encoder, pair.control), pair.word)
            swap = cached_swaps(encoder, *words, again, heads=((head,),))
            said.append(
                f"With its output at “bank” from B, “bank” goes {share(float(swap.a_from_b[0]))} of the way to B's; "
                f"from another river sentence, the control, {share(float(swap.control[0]))}. 100 % is all the way."
            )
        teaching.steps(charts, " ".join(said), ("scores", "scaled", "weights", "context"))
        link = urlencode(
            {"model": "all-MiniLM-L6-v2", **dict(zip("abc", pair.sentences)), "word": pair.word, "head": str(head)}
        )
        st.markdown(f"### [Now hide a word from it →](./?{link})")
