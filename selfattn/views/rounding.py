"""Replace effects smaller than the rounding noise of bfloat16 or float16 by 0, and count them."""

import pandas as pd

from selfattn import numbers

# The largest noise in a head's effect on the cosine of two vectors was .0038 in bfloat16 and .00045 in float16, measured over
# 22 sentence pairs. NOISE is larger, because processors round differently.
NOISE = {"bfloat16": 0.006, "float16": 0.0007}
# Noise of each column in a sentence pair's table of heads, as a multiple of NOISE.
OF_PAIR = {"effect": 1.0, "control": 1.0, "effect_minus_control": 2.0}
# Noise of a change of log probability, as a multiple of NOISE. The largest noise measured in 16 sentences was 9 times NOISE. The
# bundled encoder has no language-model head, so its input embeddings served as output layer.
OF_LOG_PROBABILITY = 13


def noise_floor(
    frame: pd.DataFrame, measure: str, precision: str, columns: dict[str, float] = OF_PAIR
) -> tuple[pd.DataFrame, str]:
    """Set effects below the precision's rounding noise to 0, and state how many effects in the column `measure` are 0.

    columns: for each column of effects, the noise as a multiple of NOISE.
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
        f"In {precision}, rounding alone causes effects of up to {numbers.plain(floor)}. Smaller effects, in "
        f"{hidden} of {len(frame)} heads, are drawn as 0."
    )
