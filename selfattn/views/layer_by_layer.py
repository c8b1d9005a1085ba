"""Show the cosine of a word's vectors in two sentences, after each layer."""

from functools import cache

from torch import Tensor

from selfattn import numbers
from selfattn.analysis.hiding import HiddenPair
from selfattn.charts.curves import lines
from selfattn.panel import Panel, Tables
from selfattn.tidy_tables import hidden_curves_frame

NO_CONTROL = "Add a control sentence: a third sentence, in which the word has the same meaning as in A."


def layer_by_layer(pair: HiddenPair) -> Panel:
    """Make the panel of the cosine of the word's vectors in sentences A and B, layer by layer.

    Its picture has two curves: one with nothing hidden, and one with a word hidden in each sentence.
    """
    frame = cache(lambda: hidden_curves_frame(pair))
    finding, note = compared(pair), beside(pair)
    return Panel(
        name="layers",
        finding=finding,
        picture=lambda look: lines(
            frame(), "depth", "similarity", look.theme, "curve", titles=("layers passed", "cosine"), size=(560, 240)
        ),
        alt=f"Two curves of the cosine over the layers. {finding} {note}",
        note=note,
        tables=Tables({"cosine by layer": frame}),
        arrays={"curves": pair.curves.numpy()},
    )


def compared(pair: HiddenPair) -> str:
    """State the cosine of the word's last-layer vectors in A and B, before and after hiding a word in each sentence."""
    text = f'The two vectors of "{pair.placed[0].word.text}" have cosine {numbers.cosine(float(pair.cosine[0, 0]))}'
    hidden = [f'"{words[at].label}"' for words, at in zip(pair.words, pair.top) if at is not None]
    return f"{text}; with {' and '.join(hidden)} hidden, {numbers.cosine(pair.both_hidden)}." if hidden else f"{text}."


def beside(pair: HiddenPair) -> str:
    """State two cosines of the word's vectors: A with B, and A with the control sentence.

    The first is the largest cosine over pairs of hidden words, one in A and one in B, except those with the largest effects.
    """
    parts = []
    if (others := pair.other_words) == others:
        parts.append(
            "Hiding any word of A and any word of B, except the words with the largest effects, gives the two vectors a cosine "
            f"of at most {numbers.cosine(others)}."
        )
    if pair.control_cosine != pair.control_cosine:
        return " ".join([*parts, NO_CONTROL])
    control = f"A and the control sentence have cosine {numbers.cosine(pair.control_cosine)}"
    if pair.control_hidden == pair.control_hidden:
        control += (
            "; if in each sentence the word with the largest effect is hidden, the cosine is "
            f"{numbers.cosine(pair.control_hidden)}"
        )
    return " ".join([*parts, f"{control}."])


def beside_its_sense(pair: HiddenPair, sense: str, cosines: Tensor) -> str:
    """Compare the word's vector in sentence A with its vectors in labelled sentences where it has the same sense."""
    far = int((cosines <= pair.cosine[0, 0]).sum())
    as_far = (
        f"{far} of these cosines {'is' if far == 1 else 'are'} not larger than"
        if far
        else "All these cosines are larger than"
    )
    span = numbers.span(float(cosines.min()), float(cosines.max()), numbers.cosine)
    return (
        f'"{pair.placed[0].word.text}" in A, compared with the same word in {len(cosines)} labelled sentences of the same '
        f"sense ({sense}), has cosine {numbers.cosine(float(cosines.mean()))} on average (range {span}). {as_far} "
        "the cosine of the word's vectors in A and B."
    )
