"""The end of the path: the same words before a real encoder, each hidden from "bank" in all its heads."""

import pandas as pd
import streamlit as st

from selfattn.analysis.hiding import HiddenPair
from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.answer import copied_senses, hidden_of, panel_of
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.copy_as_python import lines, load_pair
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import say, this_page
from selfattn.lessons.encoded_words import first_word
from selfattn.lessons.one_head_by_hand import REAL
from selfattn.numbers import SHARE
from selfattn.views.lesson import drawing

TITLE = "Now a real encoder"
STEP = "a real head"
IDEA = (
    "The bundled encoder does these steps in 72 heads, 12 in each of 6 layers; nobody wrote its matrices. Head 10 of layer 0 "
    "gives *river* 0.62, but a large weight isn't yet an effect: so hide *river* from *bank* in all heads. How far does "
    "*bank* move, from where its river sentences lie to where its money sentences lie?"
)
QUESTION = "A: *The bank of the river.* With *river* hidden, how much of that way does *bank* go?"
OPTIONS = ("about half of it", "nearly all of it", "hardly any of it")
REASON = (
    "Half way is undecided: in *The bank of the.* the bundled encoder puts *bank* at 48 %. Hidden from the other words, too, "
    "*river* moves it no farther: 50 %."
)
TAKE = "What a head attends to is seen; what a word does is tested: hide it."
CODE = "share = (hidden - vector) @ way / (way @ way)   # 1: arrived at the other sense"


def show(picture) -> None:
    pair, charts = _hidden(), {}
    for side, name in enumerate("AB"):
        each = zip(pair.words[side], pair.share[side].tolist())
        rows = [(word.label, share) for word, share in each if not word.is_punctuation]
        frame = pd.DataFrame(rows, columns=["token", "share"])
        charts[f"{name}: {REAL.sentences[side]}"] = drawing(
            bar_list, frame, "share", number=SHARE, domain=(-0.2, 1.2), width=250
        )
    st.text("Each bar: that one word hidden from “bank” in all heads, all other words in sight.")
    if pair.senses:
        st.text("A sentence is taken for the sense whose mean labelled “bank” is nearest: there its way begins.")
    for note in pair.notes:
        st.text(note)
    with picture:
        finding = panel_of(current_encoder(), _pair()).finding
        teaching.steps("real encoder", finding, charts, "masked", "weights", "context", CODE)


def answer() -> str:
    """How far "river" hidden moves "bank" in this encoder, in words."""
    pair = _hidden()
    river = next(at for at, word in enumerate(pair.words[0]) if word.text == "river")
    share = float(pair.share[0][river])
    return OPTIONS[1] if share > 0.75 else OPTIONS[0] if share > 0.25 else OPTIONS[2]


def _pair() -> Pair:
    return Pair(*(first_word(cached_encode(current_encoder(), text), REAL.word) for text in REAL.sentences))


def _hidden() -> HiddenPair:
    """The main view's own answer; a page that can have none ends with the reason."""
    encoder = current_encoder()
    if encoder.hide_reason:
        say(f"In this encoder no word can be hidden: {encoder.hide_reason}")
        st.stop()
    pair = _pair()
    call = "notebook.hidden_words(encoder, a, b, control, word, at=at, senses=senses)"
    this_page().python = lines(copied_senses(encoder, pair), load_pair(encoder, pair), call)
    return hidden_of(encoder, pair)
