"""Make models and texts for the benchmarks."""

from functools import cache

import torch
from torch import nn
from transformers import AutoModel, BertConfig

from selfattn import Encoder, load_encoder
from selfattn.encoders.capture import IMPLEMENTATION

SENTENCE = "the bank of the river was muddy after the rain and the loan from the other bank was late"


@cache
def bundled() -> Encoder:
    return load_encoder(device="cpu")


def base_size(implementation: str = IMPLEMENTATION, small: bool = False) -> nn.Module:
    """Make a BERT-base with random weights. small: 2 layers, d_model 48."""
    torch.default_generator.manual_seed(0)
    shape = {"num_hidden_layers": 2, "hidden_size": 48, "intermediate_size": 48} if small else {}
    return AutoModel.from_config(BertConfig(**shape), attn_implementation=implementation).eval()


def ids(n: int) -> dict[str, torch.Tensor]:
    """Return model inputs of n random token ids."""
    generator = torch.Generator().manual_seed(n)
    numbers = torch.randint(1000, 20_000, (1, n), generator=generator)
    return {"input_ids": numbers, "attention_mask": torch.ones_like(numbers)}


def text(n: int) -> str:
    """Return a text of n tokens, special tokens included."""
    words = SENTENCE.split()
    return " ".join(words[i % len(words)] for i in range(n - 2))
