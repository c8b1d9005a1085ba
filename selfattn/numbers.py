"""Format numbers in captions, charts and files.

Minus is U+2212. Halves are rounded away from zero, as in d3. NaN is "unknown".
The constants from WEIGHT to ERROR are d3 formats; charts that use these formats need LOCALE.
"""

import math
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_HALF_UP, Context, Decimal

WEIGHT = ".2f"
COSINE_PLACES = 2  # decimals
COSINE = f".{COSINE_PLACES}f"
FINE = ".4f"  # weights in tooltips
CHANGE = "+.2f"
SHARE = ".0%"
ERROR = ".2~r"  # two significant digits, for ticks such as 1.5e-7
LOCALE = {"number": {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["", ""], "percent": " %"}}

TICKS = 5  # number of ticks on a colour bar

UNKNOWN = "unknown"
SMALLEST_WEIGHT = 0.0001  # a smaller weight is written as "under 0.0001"
PLACES = 12  # largest number of decimals
SMALLEST_DECIMAL = 1e-9  # a smaller error is written with a power of ten
NOISE = 1e-6  # rounding error of a sum of float32 weights
EXACT = Context(prec=400)  # enough for every digit of a float64
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def weight(value: float) -> str:
    """Write a weight, 0 to 1: "0.31". Below 0.005, keep one significant digit: "0.003"."""
    if 0 < value < SMALLEST_WEIGHT:
        return f"under {SMALLEST_WEIGHT}"
    if 0 < value < 0.005:
        return decimal(value, -math.floor(math.log10(value)))
    return decimal(value)


def cosine(value: float) -> str:
    """Write a cosine, -1 to 1: "0.81", "−0.12"."""
    return decimal(value, COSINE_PLACES)


def decimal(value: float, places: int = 2, plus: str = "") -> str:
    """Write a number with `places` decimals: "12.50", "−∞". plus: the sign to write before positive numbers."""
    value = float(value)
    if math.isnan(value):
        return UNKNOWN
    digits = "∞"
    if math.isfinite(value):
        rounded = Decimal(abs(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, EXACT)
        digits = f"{rounded:f}"
        if not rounded:
            return digits
    return f"{'−' if value < 0 else plus}{digits}"


def change(value: float, places: int = 2) -> str:
    """Write a difference with its sign: "+0.12", "−0.03", "0.00"."""
    return decimal(value, places, plus="+")


def effect(value: float) -> str:
    """Write a head's effect on a cosine, with three decimals: "+0.025"."""
    return change(value, 3)


def share(value: float, places: int = 0) -> str:
    """Write a fraction, 0 to 1: "12 %", "under 1 %", "over 99 %"."""
    unit = 10.0**-places
    if NOISE < value < unit / 200:
        return f"under {decimal(unit, places)} %"
    if 1 - unit / 200 < value < 1 - NOISE:
        return f"over {decimal(100 - unit, places)} %"
    return f"{decimal(100 * value, places)} %" if not math.isnan(value) else UNKNOWN


def percent(value: float) -> str:
    """Write a fraction of any sign in per cent: "44 %", "−3 %"."""
    return f"{decimal(100 * value, 0)} %"


def fitting(maximum: float, kind: str = CHANGE) -> str:
    """Return a d3 format with enough decimals to distinguish all ticks between -maximum and maximum.

    kind: CHANGE or SHARE
    """
    step = 2 * abs(maximum) / TICKS
    if not (math.isfinite(step) and step > 0):
        return kind
    power = math.floor(math.log10(step))
    power += step / 10**power >= math.sqrt(50)  # d3 rounds a larger step up to the next power
    sign, least, unit = kind[: kind.index(".")], int(kind[-2]), kind[-1]
    return f"{sign}.{min(max(least, -power - 2 * (unit == '%')), PLACES)}{unit}"


def error(value: float) -> str:
    """Write an upper bound of an error: "0.02", "0.0000002", "3 × 10⁻¹⁶".

    The bound is rounded up: to two decimals if it is at least 0.01, else to one significant digit.
    """
    value = abs(value)
    if value == 0 or not math.isfinite(value):
        return decimal(value, 0)
    power = min(math.floor(math.log10(value)), -2)
    # Round to nine digits first, or the float 3e-7 would become 4e-7.
    rounded = Decimal(f"{value:.8e}").quantize(Decimal(1).scaleb(power), ROUND_CEILING, EXACT).normalize()
    if value >= SMALLEST_DECIMAL:
        return f"{rounded:f}"
    digit, _, power_ = f"{rounded:.0e}".partition("e")
    return f"{digit} × 10{power_.translate(SUPERSCRIPTS)}"


def count(value: int) -> str:
    """Write a count: "12,345"."""
    return f"{value:,}".replace("-", "−")


def plain(value: float) -> str:
    """Write a number with up to four significant digits, and all digits before the decimal point: "2", "−1.235", "12346"."""
    if value == 0 or not math.isfinite(value):
        return decimal(value, 0)
    places = min(max(3 - math.floor(math.log10(abs(value))), 0), PLACES)
    text = decimal(value, places)
    return text.rstrip("0").rstrip(".") if places else text


def vector(values: Iterable[float], places: int | None = None) -> str:
    """Write a vector: "[3, −1]", or "[1.79, 1.44]" if `places` (the number of decimals) is 2."""
    write = plain if places is None else lambda value: decimal(value, places)
    return f"[{', '.join(write(float(value)) for value in values)}]"


def span(low: float, high: float, write: Callable[[float], str] = decimal) -> str:
    """Write an interval: "0.10 to 0.32", "12 to 15 %"."""
    first, last = write(low), write(high)
    return f"{first.removesuffix(' %')} to {last}" if last.endswith(" %") else f"{first} to {last}"
