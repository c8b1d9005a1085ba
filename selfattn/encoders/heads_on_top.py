"""Load the output head of a checkpoint, such as a classifier."""

import re

import transformers
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)
from transformers.modeling_outputs import BaseModelOutputWithPooling
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_PRETRAINING_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
)

from selfattn.encoders.checkpoint import unchanged
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, NotFinite, brief
from selfattn.encoders.loading import DTYPES, read_model
from selfattn.encoders.memory import is_out_of_memory
from selfattn.encoders.sources import resolve

CLASSES, TAGS, MASKED = "classification head", "token-classification head", "masked-language head"
LOADERS = {
    CLASSES: AutoModelForSequenceClassification, TAGS: AutoModelForTokenClassification, MASKED: AutoModelForMaskedLM,
}  # fmt: skip
NAMES = {
    CLASSES: MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES, TAGS: MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
}  # fmt: skip
OWNERS = {
    CLASSES: "distilbert-base-uncased-finetuned-sst-2-english and cardiffnlp/twitter-roberta-base-sentiment-latest",
    TAGS: "dslim/bert-base-NER and Davlan/distilbert-base-multilingual-cased-ner-hrl",
    MASKED: "bert-base-uncased, roberta-base and distilbert-base-uncased",
}
# The output head of these pretraining classes detects replaced tokens.
DISCRIMINATORS = {"ElectraForPreTraining", "FunnelForPreTraining"}
TASK = re.compile(r"For([A-Z]\w*)$|(LMHead)Model$")  # in BertForTokenClassification or XLNetLMHeadModel
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")


class NoHead(RuntimeError):
    """A checkpoint doesn't have the wanted task head, such as a classifier."""


def carries(config, head: str) -> bool:
    """Return True if a config's `architectures` name a model class with this head."""
    if head in NAMES:
        classes = {NAMES[head].get(config.model_type)}
    elif masked := MODEL_FOR_MASKED_LM_MAPPING_NAMES.get(config.model_type):
        classes = {masked, MODEL_FOR_PRETRAINING_MAPPING_NAMES.get(config.model_type)} - DISCRIMINATORS
    else:
        return False
    return not classes.isdisjoint(_named(config))


def check_head(encoder: Encoder, head: str) -> None:
    """Raise NoHead if the checkpoint lacks this output head (CLASSES, TAGS or MASKED)."""
    if not carries(encoder.model.config, head):
        # `_instead` returns the end of a sentence, with a full stop.
        raise NoHead(f"{encoder.title} has no {head}: {_instead(encoder.model.config)} {OWNERS[head]} have a {head}.")


def _named(config) -> list[str]:
    """Return a config's `architectures` (any JSON value) as a list of strings."""
    names = config.architectures or []
    return [str(name) for name in (names if isinstance(names, list) else [names])]


def _instead(config) -> str:
    """Say, for an error message, what the checkpoint has instead of the wanted head."""
    if not _named(config):
        return (
            'its config.json has no "architectures". Add the class of the saved model, such as '
            '"architectures": ["BertForSequenceClassification"].'
        )
    named = ", ".join(_named(config))[:200]
    if (match := TASK.search(named)) is None:
        if all(hasattr(transformers, name) for name in _named(config)):
            return "its checkpoint has only the encoder."
        return f"its config.json names the architecture {named}, which transformers doesn't have."
    words = WORD.findall(match[1] or "LanguageModelling")
    task = " ".join(word if word.isupper() else word.lower() for word in words).replace("pre training", "pretraining")
    unshown = "" if any(carries(config, each) for each in LOADERS) else ", which selfattn doesn't show yet"
    return f"its checkpoint has a head for {task} ({named}){unshown}."


def read_head(encoder: Encoder, head: str) -> nn.Module:
    """Load the encoder together with the output head `head`, on the CPU. Raises NoHead."""
    check_head(encoder, head)
    source = resolve(encoder.name, encoder.revision)
    try:
        with unchanged(source.folder, encoder.files):
            config = AutoConfig.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
            model, missing, _ = read_model(source, LOADERS[head], config, encoder.dtype, "eager")
    except Exception as error:  # weights of another shape, a changed file
        if is_out_of_memory(error):
            raise
        reason = str(error) if isinstance(error, LoadError) else brief(error)
        if "mismatched" in str(error):
            reason = "the shapes of its weights don't match config.json."
        raise NoHead(f"{encoder.title}'s {head} can't be read: {reason}") from None
    # Loading accepts an encoder without a pooler, but the head needs the pooler.
    lacking = sorted(key for key in missing if not key.startswith(f"{model.base_model_prefix}.") or "pooler" in key)
    if lacking:
        raise NoHead(
            f"{encoder.title} lacks {len(lacking)} weights of its {head} (first: {lacking[0]}). Save the complete model again."
        )
    return model


def logits_of(encoder: Encoder, model: nn.Module, head: str, states: Tensor) -> Tensor:
    """Compute logits from last hidden states (batch, n, d_model). Raises NotFinite.

    model: a model whose encoder was removed by `take_encoder_out`
    """
    logits = model(inputs_embeds=states.to(encoder.device, DTYPES[encoder.dtype])).logits
    if not logits.isfinite().all():
        raise NotFinite(
            f"The {head} of {encoder.title} computes NaN or infinity for this text in {encoder.dtype}. "
            "Choose another text or float32."
        )
    return logits


def take_encoder_out(model: nn.Module) -> nn.Module:
    """Remove the encoder from a model, and return the encoder. The model then passes inputs_embeds, unchanged, to its head."""
    body = getattr(model, model.base_model_prefix)
    setattr(model, model.base_model_prefix, _PassThrough(body))
    return body


class _PassThrough(nn.Module):
    """Returns inputs_embeds as last hidden states."""

    def __init__(self, body: nn.Module):
        super().__init__()
        self.pooler, self.activation = getattr(body, "pooler", None), getattr(body, "pooler_activation", None)

    def forward(self, *unused, inputs_embeds: Tensor, **others) -> BaseModelOutputWithPooling:
        pooled = None
        if self.activation is not None:  # ALBERT's pooler is a bare matrix
            pooled = self.activation(self.pooler(inputs_embeds[:, 0]))
        elif self.pooler is not None:
            pooled = self.pooler(inputs_embeds)
        return BaseModelOutputWithPooling(last_hidden_state=inputs_embeds, pooler_output=pooled)
