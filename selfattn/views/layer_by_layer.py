"""Show the cosine of a word's two vectors after each layer, plain and with each sentence's leading word hidden."""

from functools import cache

from torch import Tensor

from selfattn import numbers
from selfattn.analysis.hiding import HiddenPair
from selfattn.charts.curves import lines
from selfattn.panel import Panel, Tables
from selfattn.tidy_tables import hidden_curves_frame

NO_CONTROL = "There is no sentence to compare with: add one in which the word means what it means in A."


def layer_by_layer(pair: HiddenPair) -> Panel:
    """The panel of a pair's cosines after each layer."""
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
    """State the cosine of the two last vectors: unchanged, and without the leading words."""
    text = f'As they are, the two "{pair.placed[0].word.text}" have cosine {numbers.cosine(float(pair.cosine[0, 0]))}'
    hidden = [f'"{words[at].label}"' for words, at in zip(pair.words, pair.top) if at is not None]
    return f"{text}; with {' and '.join(hidden)} hidden {numbers.cosine(pair.both_hidden)}." if hidden else f"{text}."


def beside(pair: HiddenPair) -> str:
    """State the cosine with two other words hidden, and the control's cosine."""
    parts = []
    if (others := pair.other_words) == others:
        parts.append(f"With any two other words hidden it is at most {numbers.cosine(others)}.")
    if pair.control_cosine != pair.control_cosine:
        return " ".join([*parts, NO_CONTROL])
    control = f"A and the control have {numbers.cosine(pair.control_cosine)}"
    if pair.control_hidden == pair.control_hidden:
        control += f", with their own leading words hidden {numbers.cosine(pair.control_hidden)}"
    return " ".join([*parts, f"{control}."])


def beside_its_sense(pair: HiddenPair, sense: str, cosines: Tensor) -> str:
    """Compare A's word with labelled sentences of its sense; count those as far from A as B. cosines: of `within_sense`."""
    far = int((cosines <= pair.cosine[0, 0]).sum())
    as_far = f"{far} of them no nearer to A than B is" if far else "each nearer to A than B is"
    span = numbers.span(float(cosines.min()), float(cosines.max()), numbers.cosine)
    return (
        f'"{pair.placed[0].word.text}" in A and in {len(cosines)} labelled sentences of its sense ({sense}): cosine '
        f"{numbers.cosine(float(cosines.mean()))} on average, {span}; {as_far}."
    )
