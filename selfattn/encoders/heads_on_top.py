"""A head that a checkpoint carries on top of its encoder, loaded apart: it reads last hidden states from any run.

A plain one, or one with an attention head removed, or with a word hidden.
"""

from collections.abc import Collection

from torch import Tensor, nn
from transformers import AutoConfig
from transformers.modeling_outputs import BaseModelOutputWithPooling

from selfattn.encoders.checkpoint import unchanged
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, NotFinite, brief
from selfattn.encoders.loading import DTYPES, read_model
from selfattn.encoders.memory import is_out_of_memory
from selfattn.encoders.sources import resolve


class NoHead(RuntimeError):
    """The checkpoint carries no such head on top of its encoder. The message says so and names encoders that do."""


def logits_of(encoder: Encoder, model: nn.Module, what: str, states: Tensor) -> Tensor:
    """What a model whose encoder is taken out makes of last hidden states (batch, n, d_model). Raises NotFinite."""
    logits = model(inputs_embeds=states.to(encoder.device, DTYPES[encoder.dtype])).logits
    if not logits.isfinite().all():
        raise NotFinite(
            f"The {what} of {encoder.title} makes NaN or infinity of this text in {encoder.dtype}; expected finite numbers. Take "
            "another text or float32."
        )
    return logits


def read_head(encoder: Encoder, loader: type, families: Collection[str], what: str, owners: str) -> nn.Module:
    """The whole model that a class of transformers reads from the encoder's own checkpoint, on the CPU.

    families: those with such a class. what: what the head is called; owners: checkpoints that have one. Raises NoHead where
    the checkpoint lacks a weight of the head, or can't be read as that class.
    """
    source = resolve(encoder.name, encoder.revision)
    nothing = f"{encoder.title} has no {what}: its checkpoint holds the encoder alone. {owners} have one."
    if encoder.family not in families:
        raise NoHead(nothing)
    try:
        with unchanged(source.folder, encoder.files):
            config = AutoConfig.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
            model, missing, _ = read_model(source, loader, config, encoder.dtype, "eager")
    except Exception as error:  # weights of another shape, a file that has changed: all mean that it isn't that model's
        if is_out_of_memory(error):
            raise
        reason = str(error) if isinstance(error, LoadError) else brief(error)
        raise NoHead(f"{encoder.title}'s {what} can't be read: {reason}") from None
    # A pooler stands in the encoder's part; the encoder itself needs none.
    if any(not key.startswith(f"{model.base_model_prefix}.") or "pooler" in key for key in missing):
        raise NoHead(nothing)
    return model


def take_encoder_out(model: nn.Module) -> nn.Module:
    """Put in the encoder's place what hands on the states that it is given as inputs_embeds; the encoder that stood there."""
    body = getattr(model, model.base_model_prefix)
    setattr(model, model.base_model_prefix, _HandsOn(body))
    return body


class _HandsOn(nn.Module):
    """Stands where the encoder was; pools as that did."""

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
