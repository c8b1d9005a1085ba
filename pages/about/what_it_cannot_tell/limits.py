"""The counter-examples of the page on what it cannot tell, computed on an encoder and put into words."""

import pandas as pd
import streamlit as st

from pages.learn.pronouns_and_negation.pronouns import looks
from selfattn.analysis.interventions import joint_effect
from selfattn.dashboard.encoder_picker import HASHED, cached_effect, cached_encode
from selfattn.dashboard.limits import run_slot
from selfattn.encoders.encoder import Encoder
from selfattn.examples import NEUTRAL_SENTENCES, PAIRS, PRONOUNS, labelled_sentences
from selfattn.lessons import counterexamples, pronouns
from selfattn.senses import separation
from selfattn.words import find

SENTENCE = "The bank of the river was muddy after the rain."
SENSE_WORDS = 12  # a second or two; the Senses page takes them all
PASSAGE = " ".join(NEUTRAL_SENTENCES[:5])  # more tokens than a head has dimensions


@st.cache_data(max_entries=4, show_spinner="Looking for counter-examples ...", hash_funcs=HASHED)
def weight_examples(encoder: Encoder) -> tuple[str, str, pd.DataFrame | None]:
    """Weight without effect, as a sentence; other weights for the same context, as a sentence and a frame."""
    encoding = cached_encode(encoder, SENTENCE)
    word = encoding.words[find(encoding.words, "bank")[0]]
    loud = counterexamples.much_weight_little_share(encoding, word.start)
    first = (
        f'In L{loud.layer} H{loud.head}, "bank" gives {encoding.tokens[loud.position]} {loud.weight:.2f} of its weight; '
        f"but of the context, {loud.share:.2f} comes from there."
    )
    passage = cached_encode(encoder, PASSAGE)
    layer, head, rows = counterexamples.freest_row(passage, 2)
    if rows.moved < 0.01:
        return first, "In this encoder no other row of weights was found for this text: it has too few tokens.", None
    top = rows.before.topk(8).indices.tolist()
    frame = pd.DataFrame(
        {
            "token": [f"{place}: {passage.tokens[place]}" for place in top],
            "its own weights": rows.before[top].tolist(),
            "other weights, same context": rows.after[top].tolist(),
        }
    )
    second = (
        f'L{layer} H{head}, "{passage.tokens[2]}": {rows.moved:.2f} of all weight moved elsewhere; its favourite has '
        f"{float(rows.after[top[0]]):.2f} instead of {float(rows.before[top[0]]):.2f}. The context differs by "
        f"{rows.difference:.0e}."
    )
    return first, second, frame


def removal_example(encoder: Encoder) -> tuple[str, str]:
    """Single effects, their sum, all at once, and the control."""
    pair = PAIRS[0]
    texts = (pair.first, pair.second, pair.control)
    places = []
    for text in texts:
        encoding = cached_encode(encoder, text)
        places.append((text, encoding.words[find(encoding.words, pair.word)[0]].positions))
    effect, control = cached_effect(encoder, *places[:2]), cached_effect(encoder, places[0], places[2])
    together = joint_effect(encoder, *places[:2], encoder.all_heads)
    found = counterexamples.add_up(effect, together, control)
    return (
        f"The effects of all heads, one at a time, add up to {found.single_sum:+.2f}; all removed at once: "
        f"{found.together:+.2f}. {found.negative:.0%} of the heads have a negative effect.",
        f"Largest single effect between the two senses: {found.largest:.3f}. Between two sentences of one sense, where "
        f"there is nothing to find: {found.control_largest:.3f}.",
    )


@st.cache_data(max_entries=4, show_spinner="Measuring every head on the labelled sentences ...", hash_funcs=HASHED)
def sense_example(encoder: Encoder) -> str:
    """On how many heads a plain average, or the word's own value, tells the senses as well as attention does."""
    frame = labelled_sentences()
    some = frame[frame["word"].isin(frame["word"].unique()[:SENSE_WORDS])]
    with run_slot():
        # The labels are not shuffled here beyond once: the question is about the baselines, not about chance.
        found = separation(encoder, some, shuffles=1, floor=False)
    heads = found.heads
    best = heads.loc[heads["accuracy"].idxmax()]
    above = int((heads["accuracy"] > found.chance).sum())
    return (
        f"{above} of {len(heads)} heads tell the senses of {found.items['word'].nunique()} words above chance. On "
        f"{int((heads['uniform'] >= heads['accuracy']).sum())} of them equal weights for all words do as well or better, "
        f"on {int((heads['own_value'] >= heads['accuracy']).sum())} the word's own value alone does. The best, "
        f"L{best.layer:.0f} H{best['head']:.0f}, has {best.accuracy:.0%}; equal weights there {best.uniform:.0%}."
    )


def luck_example(encoder: Encoder) -> str:
    """The best head on half of the pronoun sentences, beside what luck gives the best of all heads."""
    first, second = pronouns.halves(PRONOUNS)
    found = pronouns.verdict(looks(encoder), first, second)
    return (
        f"Pronouns, {len(first)} sentences: the best of {encoder.n_layers * encoder.n_heads} heads is right in "
        f"{found.chosen_with:.0%}. With coins for answers the best head would reach {found.luck:.0%} in one case of twenty. "
        f"On {found.n} fresh sentences this head has {found.accuracy:.0%}."
    )
