"""Set effects below the noise of a precision to 0, and count them."""

import pandas as pd

from selfattn import numbers

# The noise of a precision below float32 in the effect of removing a head. It depends on the processor, so this is an upper
# bound: over 22 pairs, with PyTorch, oneDNN and MKL limited to several instruction sets, the largest was .0038 in bfloat16
# and .00045 in float16.
NOISE = {"bfloat16": 0.006, "float16": 0.0007}
# The noise of each column of one pair's table, as a multiple of NOISE.
OF_PAIR = {"effect": 1.0, "control": 1.0, "effect_minus_control": 2.0}
# The noise of a token's change of log probability, as a multiple of NOISE. Over 16 sentences it was at most 9. The bundled
# encoder has no language-model head, so its input embeddings were used instead.
OF_LOG_PROBABILITY = 13


def noise_floor(
    frame: pd.DataFrame, measure: str, precision: str, columns: dict[str, float] = OF_PAIR
) -> tuple[pd.DataFrame, str]:
    """Set effects below the precision's noise to 0; return the frame, and a sentence that says how many there are in `measure`.

    frame: one row per head. columns: the frame's effects, each with its noise as a multiple of NOISE. In float32 the frame is
    unchanged and the sentence empty.
    """
    if precision not in NOISE:
        return frame, ""
    floors = {column: part * NOISE[precision] for column, part in columns.items() if column in frame}
    shown = frame.assign(
        **{column: frame[column].where(frame[column].abs() >= floor, 0.0) for column, floor in floors.items()}
    )
    if measure not in floors:
        return shown, ""
    hidden, floor = int((shown[measure] == 0).sum()), float(f"{floors[measure]:.2g}")
    return shown, (
        f"In {precision} rounding alone moves this by up to {numbers.plain(floor)}: {hidden} of {len(frame)} heads lie "
        "under that and are drawn as 0."
    )
