"""The classification head: which class an encoder sees in a sentence, as its own folder names the classes.

Source: Devlin et al. 2019, "BERT", section 4.1.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import NotFinite, brief
from selfattn.encoders.heads_on_top import NoHead, logits_of, read_head, take_encoder_out
from selfattn.encoders.loading import PARITY
from selfattn.encoders.memory import is_out_of_memory
from selfattn.encoders.tokenizer import SAMPLE

WHAT = "classification head"
LOGITS = PARITY | {"float32": 1e-5}  # largest difference to the whole model's logits, in parts of the largest or of 1


@dataclass(frozen=True, eq=False)
class ClassHead:
    """What turns a sentence's last hidden states into a logit for each class."""

    encoder: Encoder
    labels: tuple[str, ...]  # the classes, as the folder's id2label has them
    exclusive: bool  # one class of several: probabilities by softmax; else each by itself, by sigmoid
    _model: nn.Module  # the whole model, its encoder replaced by the identity

    def logits(self, states: Tensor) -> Tensor:
        """(..., p, d_model) last hidden states, those of the first token first, to (..., n_labels); differentiable.

        What is hidden is left out of the states, as padding is out of a mean over tokens. Raises NotFinite.
        """
        logits = logits_of(self.encoder, self._model, WHAT, states.reshape(-1, *states.shape[-2:]))
        return logits.float().reshape(*states.shape[:-2], -1)

    def probabilities(self, logits: Tensor) -> Tensor:
        """(..., n_labels) logits to probabilities, 0 to 1: they sum to 1 where the classes exclude one another."""
        return logits.softmax(-1) if self.exclusive else logits.sigmoid()

    def number(self, label: str | int) -> int:
        """The class of this name, or number from 0, letter case aside where no other name differs in that alone.

        Raises ValueError.
        """
        for same in (lambda one: one == str(label), lambda one: one.casefold() == str(label).casefold()):
            if len(found := [at for at, one in enumerate(self.labels) if same(one)]) == 1:
                return found[0]
        if str(label).isdecimal() and int(label) < len(self.labels):
            return int(label)
        raise ValueError(
            f"Expected a class of {self.encoder.title}: {', '.join(self.labels)}; got {str(label)[:80]!r}."
        )


def load_class_head(encoder: Encoder) -> ClassHead:
    """The classification head of an encoder's own checkpoint, measured on a short text against the whole model.

    Raises NoHead where it has none, or where the logits of the two differ.
    """
    owners = "distilbert-base-uncased-finetuned-sst-2-english and cardiffnlp/twitter-roberta-base-sentiment-latest"
    families = MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES
    model = read_head(encoder, AutoModelForSequenceClassification, families, WHAT, owners)
    encoding = encoder.encode(SAMPLE)
    try:
        with torch.no_grad():
            whole = model.to(encoder.device)(**encoder.inputs([encoding])).logits[0].float()
            take_encoder_out(model)
            labels = tuple(str(label) for _, label in sorted(model.config.id2label.items()))
            exclusive = model.config.problem_type != "multi_label_classification" and len(labels) > 1
            head = ClassHead(encoder, labels, exclusive, model)
            own = head.logits(encoding.states[-1])
        most = float((own - whole).abs().max() / whole.abs().max().clamp_min(1))
    except NotFinite as error:
        raise NoHead(str(error)) from None
    except Exception as error:  # of a class that wants more than states
        if is_out_of_memory(error):
            raise
        raise NoHead(f"{encoder.title}'s {WHAT} doesn't read last hidden states alone: {brief(error)}") from None
    if not most <= LOGITS[encoder.dtype]:
        raise NoHead(
            f"{encoder.title}'s {WHAT} is left out: its logits from last hidden states differ from the whole model's by "
            f"{most:.1g} (at most {LOGITS[encoder.dtype]:g} is expected)."
        )
    return head
