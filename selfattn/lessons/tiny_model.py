"""Train a model of 777 parameters that learns to attend to position 4.

Source: a public lesson (numpy's seed 0, Adam, initial values as in Keras).
"""

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import typed_numbers

LARGEST_NUMBER = 50
N_TOKENS = 7  # [CLS] and six numbers
TARGET_POSITION = 4
CLS = 0
N_SAMPLES, BATCH = 8000, 32


@dataclass(frozen=True)
class Settings:
    """Settings that a visitor may change. The defaults are from the public lesson cited at the top of this file."""

    seed: int = 0
    epochs: int = 10
    width: int = 8
    magic: int = 42


class Samples(NamedTuple):
    """Sentences whose tokens are numbers, and the label of each sentence."""

    tokens: Tensor  # (N_SAMPLES, 7) int64, column 0 is [CLS] = 0
    labels: Tensor  # (N_SAMPLES,) float, 0 or 1


class Score(NamedTuple):
    """The model's quality on labelled sentences. n_positives: the number of sentences with label 1."""

    loss: float
    accuracy: float
    recall: float
    n_positives: int


@dataclass(frozen=True, eq=False)
class EpochState:
    """The model after an epoch. Epoch 0 is before training."""

    epoch: int
    score: Score
    weights: Tensor  # attention weights (7, 7), averaged over the sentences with label 1
    negative_weights: Tensor  # over equally many sentences with label 0
    model: "TinyModel"  # a copy that isn't trained further

    @property
    def target_weight(self) -> float:
        """The mean weight from [CLS] to position 4 in sentences with label 1."""
        return float(self.weights[CLS, TARGET_POSITION])


class TinyModel(nn.Module):
    """Embeddings, one head, layer norm, and one output unit that reads position 0."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.tokens = nn.Embedding(LARGEST_NUMBER + 1, width)
        self.positions = nn.Embedding(N_TOKENS, width)
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.decide = nn.Linear(width, 1)
        for table in (self.tokens, self.positions):
            nn.init.uniform_(table.weight, -0.05, 0.05)
        for layer in (self.query, self.key, self.value, self.output, self.decide):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def attention(self, tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, AttentionTrace]:
        """Return the head's input (batch, 7, width) and attention trace. tokens: (batch, 7)."""
        states = self.tokens(tokens) + self.positions.weight
        return states, attend(self.query(states), self.key(states), self.value(states), mask)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the logit of "yes", (batch,). mask (7, 7): True = may attend."""
        states, trace = self.attention(tokens, mask)
        first = self.norm(states[:, CLS] + self.output(trace.context[:, CLS]))
        return self.decide(first).squeeze(-1)

    def probability(self, tokens: Tensor) -> Tensor:
        """Return the model's probability that position 4 holds the magic number: (batch,)."""
        return self(tokens).sigmoid()


def samples(settings: Settings, fresh: bool = False) -> Samples:
    """Return the training data. Seed 0 draws the same data as the public lesson that this file cites.

    fresh: return sentences not used in training.
    """
    draw = np.random.RandomState(settings.seed + 1_000_003 * fresh)
    numbers = draw.randint(1, LARGEST_NUMBER + 1, size=(N_SAMPLES, N_TOKENS - 1))
    labels = numbers[:, TARGET_POSITION - 1] == settings.magic
    tokens = np.pad(numbers, ((0, 0), (1, 0)), constant_values=CLS)
    return Samples(torch.from_numpy(tokens).long(), torch.from_numpy(labels).float())


def train(settings: Settings) -> Iterator[EpochState]:
    """Train, and yield the state before the first epoch and after each epoch."""
    data = samples(settings)
    # torch's random state is global; fork_rng restores it.
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(settings.seed)  # torch.manual_seed would seed the GPU too
        model = TinyModel(settings.width)
    shuffle = torch.Generator().manual_seed(settings.seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7, fused=True)
    yield _state(0, model, data)
    for epoch in range(1, settings.epochs + 1):
        for chosen in torch.randperm(len(data.tokens), generator=shuffle).split(BATCH):
            optimizer.zero_grad()
            guess = model(data.tokens[chosen])
            nn.functional.binary_cross_entropy_with_logits(guess, data.labels[chosen]).backward()
            optimizer.step()
        yield _state(epoch, model, data)


def score(model: TinyModel, data: Samples, mask: Tensor | None = None) -> Score:
    """Return loss, accuracy and recall on labelled sentences."""
    guess = model(data.tokens, mask)
    loss = float(nn.functional.binary_cross_entropy_with_logits(guess, data.labels))
    yes, truth = guess > 0, data.labels > 0.5
    return Score(loss, float((yes == truth).float().mean()), float(yes[truth].float().mean()), int(truth.sum()))


def layers(width: int = 8) -> pd.DataFrame:
    """Return the model's layers and their numbers of parameters."""
    model = TinyModel(width)
    parts = {
        "embeddings: tokens, positions": (model.tokens, model.positions),
        "attention: W_Q, W_K, W_V, W_O": (model.query, model.key, model.value, model.output),
        "layer norm": (model.norm,),
        "output unit": (model.decide,),
    }
    rows = []
    for name, modules in parts.items():
        weights = [*nn.ModuleList(modules).parameters()]
        shapes = Counter(tuple(weight.shape) for weight in weights)
        listed = ", ".join(f"{n} × {shape}" for shape, n in shapes.items())
        rows.append((name, listed, sum(weight.numel() for weight in weights)))
    return pd.DataFrame(rows, columns=["layer", "shapes", "numbers"])


def without_edge() -> Tensor:
    """Return a mask (7, 7) that forbids attention from [CLS] to position 4."""
    mask = torch.ones(N_TOKENS, N_TOKENS, dtype=torch.bool)
    mask[CLS, TARGET_POSITION] = False
    return mask


def sentence(text: str) -> Tensor:
    """Return the tokens (1, 7): [CLS], and the six numbers, 1 to 50, that `text` lists. Raises ValueError."""
    row = typed_numbers.parse("Sentence", text, N_TOKENS - 1).tolist()
    for value in row:
        if value not in range(1, LARGEST_NUMBER + 1):
            raise ValueError(
                f"Sentence: expected whole numbers from 1 to {LARGEST_NUMBER}, got {value:g}. Correct this number."
            )
    return torch.tensor([[CLS, *map(int, row)]])


def mean_weights(model: TinyModel, tokens: Tensor) -> Tensor:
    """Return the head's weights (7, 7), averaged over the sentences."""
    return model.attention(tokens)[1].weights.mean(0)


def _state(epoch: int, model: TinyModel, data: Samples) -> EpochState:
    frozen, positive = copy.deepcopy(model).requires_grad_(False), data.labels > 0.5
    weights = mean_weights(frozen, data.tokens[positive])
    negative_weights = mean_weights(frozen, data.tokens[~positive][: int(positive.sum())])
    return EpochState(epoch, score(frozen, data), weights, negative_weights, frozen)
