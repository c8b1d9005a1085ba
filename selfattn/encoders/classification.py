"""Load a classification head, for the classes of texts or the tags of words.

Source: Devlin et al. 2019, "BERT", sections 4.1 and 5.3.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import pandas as pd
import torch
from torch import Tensor, nn

from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import LoadError, NotFinite, brief
from selfattn.encoders.heads_on_top import CLASSES, TAGS, NoHead, check_head, logits_of, read_head, take_encoder_out
from selfattn.encoders.loading import PARITY
from selfattn.encoders.memory import is_out_of_memory
from selfattn.encoders.pooling import NoPooling, check_cross_encoder
from selfattn.encoders.sources import resolve
from selfattn.encoders.tokenizer import SAMPLE

AnyHead = TypeVar("AnyHead", bound="ClassHead")
# Allowed relative difference between a `ClassHead`'s logits and those of the complete model, encoder included.
LOGITS = PARITY | {"float32": 1e-5}


@dataclass(frozen=True, eq=False)
class ClassHead:
    """Computes, for a text, the logit of each class."""

    kind: ClassVar[str] = CLASSES

    encoder: Encoder
    labels: tuple[str, ...]  # from id2label; equal names get a number
    activation: str  # "softmax", "sigmoid" (independent classes) or "" (regression)
    _model: nn.Module  # without its encoder
    sigmoid: bool = False  # True: CrossEncoder.predict returns a sigmoid

    @property
    def exclusive(self) -> bool:
        """True if a text belongs to exactly one class."""
        return self.activation == "softmax"

    @property
    def unit(self) -> str:
        """The unit of `answers`: "probability", or "score" for a regression."""
        return "probability" if self.activation else "score"

    def logits(self, states: Tensor) -> Tensor:
        """Compute logits from last hidden states: (..., p, d_model) -> (..., n_labels).

        p: number of the text's tokens, without padding. Raises NotFinite.
        """
        return self._raw(states).reshape(*states.shape[:-2], -1)

    def _raw(self, states: Tensor) -> Tensor:
        return logits_of(self.encoder, self._model, self.kind, states.reshape(-1, *states.shape[-2:])).float()

    def answers(self, logits: Tensor) -> Tensor:
        """Convert logits (..., n_labels) to probabilities, except for a regression."""
        return logits.softmax(-1) if self.exclusive else logits.sigmoid() if self.activation else logits

    def number(self, label: str | int) -> int:
        """Return the index of the class whose name or index is `label`. Raises ValueError."""
        named = [] if isinstance(label, int) else [str(label), str(label).casefold()]
        for name, labels in zip(named, (self.labels, [each.casefold() for each in self.labels])):
            if labels.count(name) == 1:
                return labels.index(name)
        if str(label).isdecimal() and int(label) < len(self.labels):
            return int(label)
        raise ValueError(
            f"{self.encoder.title} has no class {str(label)[:80]!r}. Choose one of {', '.join(self.labels)}."
        )


class TagHead(ClassHead):
    """Computes, for a word, the logit of each tag."""

    kind = TAGS

    def logits(self, states: Tensor) -> Tensor:
        """Return the mean logits of p tokens: (..., p, d_model) -> (..., n_labels)."""
        return self._raw(states).mean(dim=-2).reshape(*states.shape[:-2], -1)

    def tags(self, encoding: Encoding) -> pd.DataFrame:
        """Return a row for each word: word, tag (the most probable), probability."""
        rows = []
        for word in encoding.words:
            logits = self.logits(encoding.states[-1][list(word.positions)])
            best = int(logits.argmax())
            rows.append((word.label, self.labels[best], float(self.answers(logits)[best])))
        return pd.DataFrame(rows, columns=["word", "tag", "probability"])


def load_class_head(encoder: Encoder) -> ClassHead:
    """Load a classification head, and check its logits against the complete model's. Raises NoHead."""
    try:
        activation = check_cross_encoder(resolve(encoder.name, encoder.revision).folder)
    except (NoPooling, LoadError) as error:
        raise NoHead(f"{encoder.title} (saved by sentence-transformers) {error}") from None
    return replace(_load(encoder, ClassHead, _activation(encoder.model.config)), sigmoid=activation.endswith("Sigmoid"))


def load_tag_head(encoder: Encoder) -> TagHead:
    """Load a token-classification head. Raises NoHead."""
    return _load(encoder, TagHead, "softmax")


def _load(encoder: Encoder, kind: type[AnyHead], activation: str) -> AnyHead:
    check_head(encoder, kind.kind)
    labels = _labels(encoder, kind.kind)
    model = read_head(encoder, kind.kind)
    encoding = encoder.encode(SAMPLE)
    try:
        with torch.no_grad():
            expected = model.to(encoder.device)(**encoder.inputs([encoding])).logits[0].float()
            take_encoder_out(model)
            head = kind(encoder, labels, activation, model)
            logits = head._raw(encoding.states[-1])[0]
        most = float((logits - expected).abs().max() / expected.abs().max().clamp_min(1))
    except NotFinite as error:
        raise NoHead(str(error)) from None
    except Exception as error:
        if is_out_of_memory(error):
            raise
        raise NoHead(f"{encoder.title}'s {kind.kind} needs more than the last hidden states: {brief(error)}") from None
    if not most <= LOGITS[encoder.dtype]:
        raise NoHead(
            f"{encoder.title}'s {kind.kind} can't be used: its logits, computed from the last hidden states alone, "
            f"differ from the complete model's logits by "
            f"{most:.1g}. Expected at most {LOGITS[encoder.dtype]:g}."
        )
    return head


def _labels(encoder: Encoder, kind: str) -> tuple[str, ...]:
    """Return distinct class names. Raises NoHead if a class number is missing."""
    named = sorted(encoder.model.config.id2label.items())
    numbers = [number for number, _ in named]
    if numbers != list(range(len(named))):
        raise NoHead(
            f"{encoder.title}'s {kind} can't be used: the keys of id2label in config.json are "
            f"{', '.join(map(str, numbers))[:80]}, expected 0 to {len(named) - 1}. Correct id2label."
        )
    labels = [str(label).strip() for _, label in named]
    while repeated := {label for label, n in Counter(labels).items() if n > 1}:  # "A (class 0)" may be another class
        labels = [f"{label} (class {at})" if label in repeated else label for at, label in enumerate(labels)]
    return tuple(labels)


def _activation(config) -> str:
    """Return the activation that transformers' pipeline applies to logits, or ""."""
    if config.problem_type == "regression":
        return ""
    return "softmax" if config.problem_type != "multi_label_classification" and config.num_labels > 1 else "sigmoid"
