"""Captions of lessons on a head's steps: hidden tokens, padding, and what the head adds."""

from collections.abc import Mapping

from torch import Tensor

from selfattn import numbers


def hidden_tokens(rows: Mapping[str, Tensor]) -> str:
    """Count the tokens that the mask hides from the word. rows: (n,) by the sentence's name, infinite where hidden."""
    counts = {name: int(row.isinf().sum()) for name, row in rows.items()}
    parts = (f"{count or 'none'} of {len(rows[name])} tokens in {name}" for name, count in counts.items())
    return f"The mask hides {', '.join(parts)}."


def head_output(added: Mapping[str, Tensor], stream: Mapping[str, Tensor]) -> str:
    """State the length of the vector that the head adds, and of the vector that it is added to."""
    parts = (
        f"{numbers.decimal(added[name].norm())} to a vector of length {numbers.decimal(stream[name].norm())} in {name}"
        for name in added
    )
    return f"The head adds a vector of length {' and '.join(parts)}, before the layer's norm."


def padding(n: int, extra: int, padded: float, error: float) -> str:
    """State the effect of padding on real tokens: the most weight it gets from one, and the largest change of a weight."""
    gets = f"at most {numbers.error(padded)}" if padded else "exactly 0"
    differ = f"differ from the unpadded ones by at most {numbers.error(error)}" if error else "are the unpadded ones"
    return (
        f"{n} tokens and {extra} of padding. Padding gets {gets} of any real token's weight. "
        f"The real tokens' weights {differ}."
    )
