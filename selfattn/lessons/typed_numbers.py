"""Read numbers that a visitor typed."""

import torch
from torch import Tensor

LARGEST = 10_000.0  # squares of larger numbers lose digits


def parse(name: str, text: str, size: int) -> Tensor:
    """Parse a text such as "3, 1" or "[3 1]" to numbers, (size,) float64. Raises ValueError."""
    parts = text.replace(",", " ").replace(";", " ").strip("[]() ").split()
    try:
        row = [float(part) for part in parts]
    except ValueError:
        raise ValueError(
            f"{name}: expected numbers, got {text[:40]!r}. Type numbers and commas, such as 3, 1."
        ) from None
    if len(row) != size:
        raise ValueError(f"{name}: expected {size} numbers, got {len(row)}. Separate numbers with commas.")
    for number in row:
        if not abs(number) <= LARGEST:
            raise ValueError(
                f"{name}: expected numbers from -{LARGEST:,.0f} to {LARGEST:,.0f}, got {number:g}. Choose another number."
            )
    return torch.tensor(row, dtype=torch.float64)
