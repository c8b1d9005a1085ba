"""Whether patches and hidden tokens fit an encoder and the text they are made in, and patches one another."""

from collections.abc import Collection, Sequence

from selfattn.encoders.capture import Head, Hide, Patch
from selfattn.encoders.placed_word import Tokens


def check_patches(patches: Collection[Patch], n_layers: int, n_heads: int, d_head: int, n: int) -> None:
    """Refuse patches that don't fit an encoder of this shape, a text of n tokens, or one another. Raises ValueError."""
    taken = set()
    for patch in patches:
        name, at = Head(patch.layer, patch.head), patch.positions
        if not (0 <= patch.layer < n_layers and 0 <= patch.head < n_heads):
            raise ValueError(f"Expected a patch of L0 H0 to L{n_layers - 1} H{n_heads - 1}, got {name}.")
        if at is not None and (not at or not all(0 <= p < n for p in at)):
            raise ValueError(f"Expected positions from 0 to {n - 1} for the patch of {name}, got {at}.")
        shapes = [(d_head,)] + ([] if at is None else [(len(at), d_head)])
        finite = bool(patch.value.isfinite().all())
        if tuple(patch.value.shape) not in shapes or not finite:
            wanted, among = " or ".join(map(str, shapes)), "" if finite else " with NaN or infinity among them"
            raise ValueError(
                f"Expected finite numbers of shape {wanted} for the patch of {name}, got {tuple(patch.value.shape)}{among}."
            )
        for p in range(n) if at is None else at:
            if (name, p) in taken:
                raise ValueError(f"Expected one patch a head and position, got two for {name} at position {p}.")
            taken.add((name, p))


def check_hidden(hidden: Collection[Hide], all_heads: Sequence[Head], tokens: Tokens) -> None:
    """Refuse what can't be hidden in a text; padding may be, but from no query among it. Raises ValueError."""
    n = len(tokens.ids)
    for hide in hidden:
        heads = all_heads if hide.heads is None else hide.heads
        if not heads:
            raise ValueError("Expected heads to hide tokens in, got none. None (heads=None) stands for all.")
        if strange := sorted({*heads} - {*all_heads}):
            raise ValueError(f"Expected heads L0 H0 to {all_heads[-1]}, got {strange[0]}.")
        for at, most in ((hide.queries, n - tokens.padding), (hide.keys, n)):
            if not at or not all(0 <= p < most for p in at):
                raise ValueError(f"Expected positions from 0 to {most - 1} to hide or to hide from, got {tuple(at)}.")
        if own := sorted({*hide.queries} & {*hide.keys}):
            names = ", ".join(f"{tokens.tokens[p]!r} at {p}" for p in own)
            raise ValueError(
                f"A token is never hidden from itself: {names} stands in queries and in keys. Take it from one."
            )
