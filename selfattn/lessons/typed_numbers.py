"""Numbers that a visitor typed, checked once at the boundary: finite, not huge, as many as expected."""

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

LARGEST = 10_000.0  # beyond this a hand-made example teaches nothing, and squares lose digits


def parse(name: str, text: str) -> list[float]:
    """The numbers of a text such as "3, 1" or "3 1"; ValueError where it holds anything else."""
    parts = text.replace(",", " ").replace(";", " ").strip("[]() ").split()
    try:
        return [float(part) for part in parts]
    except ValueError:
        raise ValueError(f"{name}: expected numbers such as 3, 1; got {text[:40]!r}. Type digits and commas.") from None


def vector(name: str, numbers: Iterable[float], size: int | None = None) -> Tensor:
    """One vector in float64, shape (size,); ValueError where a number is missing, not finite or too large."""
    row = [float(number) for number in numbers]
    if not row or (size is not None and len(row) != size):
        wanted = "at least one number" if size is None else f"{size} number{'s' if size > 1 else ''}"
        raise ValueError(f"{name}: expected {wanted}, got {len(row)}. Separate numbers with commas.")
    for number in row:
        if not math.isfinite(number):
            raise ValueError(f"{name}: expected finite numbers, got {number}. Fill in each number.")
        if abs(number) > LARGEST:
            raise ValueError(
                f"{name}: expected numbers up to {LARGEST:,.0f} in size, got {number:g}. Choose smaller ones."
            )
    return torch.tensor(row, dtype=torch.float64)


def matrix(name: str, rows: Sequence[Iterable[float]], width: int | None = None) -> Tensor:
    """Vectors of one length in float64, shape (len(rows), width); ValueError as for `vector`."""
    if not len(rows):
        raise ValueError(f"{name}: expected at least one vector, got none. Add a row.")
    first = vector(f"{name}, row 1", rows[0], width)
    rest = [vector(f"{name}, row {place}", row, len(first)) for place, row in enumerate(rows[1:], start=2)]
    return torch.stack([first, *rest])


def number(name: str, value: float, low: float, high: float) -> float:
    """One number between low and high, both included; ValueError otherwise."""
    if not math.isfinite(value) or not low <= value <= high:
        raise ValueError(f"{name}: expected a number from {low:g} to {high:g}, got {value}. Choose one in that range.")
    return value
