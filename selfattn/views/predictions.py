"""The questions of Predictions: a class, the similarity of two sentences, a word in a gap; each as a target and in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from selfattn import numbers
from selfattn.analysis.targets import Asked, class_score, gap_word, similarity
from selfattn.captions.predictions import Write
from selfattn.encoders.classification import ClassHead
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.heads_on_top import CLASSES, MASKED, carries
from selfattn.encoders.masked_lm import MaskedHead
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.pooling import Pooling

TOP = 10  # words of a gap


@dataclass(frozen=True, eq=False)
class Question:
    """One number that is asked of one sentence, and of those of a table."""

    sentence: Encoding
    asked: Asked
    key: tuple  # of results about it, beside the sentence
    python: str  # lines that make `asked`, of `encoder`
    what: str  # the number, in a sentence
    write: Write
    answer: str  # what the encoder says, in words
    where: str = ""  # " in A", where two sentences are asked about
    answers: pd.DataFrame = field(default_factory=pd.DataFrame)  # token or class, probability or score

    @property
    def said(self) -> str:
        """The number, and of which sentence."""
        return f"{self.what}{self.where}"


def first_asked(encoder: Encoder, gap: bool) -> str:
    """The checkpoint's own task: "class", "gap", else "similarity". gap: an old link asks for a masked word."""
    if carries(encoder.model.config, CLASSES):
        return "class"
    return "gap" if gap or carries(encoder.model.config, MASKED) else "similarity"


def class_question(head: ClassHead, sentence: Encoding, chosen: str | None = None) -> Question:
    """About a class, by its name in `head.labels`; another name or None: the likeliest, or the largest score."""
    answers = head.answers(head.logits(sentence.states[-1])).cpu()
    order = answers.argsort(descending=True).tolist()
    number = head.labels.index(chosen) if chosen in head.labels else order[0]
    table = pd.DataFrame({"class": [head.labels[at] for at in order], head.unit: answers[order].tolist()})
    write = numbers.weight if head.unit == "probability" else numbers.decimal
    answer = ", ".join(f"{head.labels[at]} {write(float(answers[at]))}" for at in order[:3])
    kind = "margin" if head.exclusive else "logit" if head.unit == "probability" else "score"
    what = f"the {kind} of {head.labels[number]}"
    python = (
        "from selfattn.analysis.targets import class_score\nfrom selfattn.encoders.classification import load_class_head\n"
        f"asked = class_score(load_class_head(encoder), {number})"
    )
    asked = class_score(head, number)
    return Question(sentence, asked, ("class", number), python, what, numbers.change, answer, answers=table)


def similarity_questions(encoder: Encoder, pooling: Pooling, sides: Mapping[str, Encoding]) -> list[Question]:
    """About the cosine of two sentences, "A" and "B", asked of each. Raises TextError for a text that would be cut."""
    asked = {name: similarity(encoder, pooling, sides[other]) for name, other in zip("AB", "BA")}
    targets = {name: asked[name](side) for name, side in sides.items()}
    cosine = float(targets["A"].of(sides["A"].states[-1][list(targets["A"].positions)]))
    answer = f"The two sentences have cosine {numbers.cosine(cosine)}."
    return [
        Question(
            sides[name], asked[name], ("similarity", sides[other].text),
            "from selfattn.analysis.targets import similarity\nfrom selfattn.encoders.pooling import load_pooling\n"
            f"asked = similarity(encoder, load_pooling(encoder), {sides[other].text!r})", "the cosine", numbers.effect, answer,
            where=f" in {name}",
        )
        for name, other in zip("AB", "BA")
    ]  # fmt: skip


def gap_question(head: MaskedHead, masked: Encoding, row: int = 0) -> Question:
    """About one of the likeliest words of the gap, by its row. Raises TextError where there isn't one gap."""
    table = head.predictions(masked, TOP)
    row = min(row, len(table) - 1)
    answer = ", ".join(f'"{each.text}" {numbers.weight(each.probability)}' for each in table.head(3).itertuples())
    token, what = int(table["id"][row]), f'log p of "{table["text"][row]}"'
    python = (
        "from selfattn.analysis.targets import gap_word\nfrom selfattn.encoders.masked_lm import load_masked_head\n"
        f"asked = gap_word(load_masked_head(encoder), {token})"
    )
    return Question(
        masked, gap_word(head, token), ("gap", token), python, what, numbers.change, answer,
        answers=table[["text", "probability"]].rename(columns={"text": "token"}),
    )  # fmt: skip


def words_of(tokens: Tokens) -> list[str]:
    """The words of a sentence as labels: one of them is the gap."""
    return numbered([word.text for word in tokens.words])


def numbered(words: Sequence[str]) -> list[str]:
    """The words as labels; a repeated one gets its place, so that a link can tell them apart."""
    return [f"{word} ({place + 1})" if word in words[:place] else word for place, word in enumerate(words)]
