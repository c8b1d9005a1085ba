"""Write numbers for readers: one rule for captions, charts and files.

A true minus sign (−, U+2212), a space before %, halves rounded away from zero as d3 rounds them on the charts, no sign on
a zero, no power of ten where a plain decimal can be read. A number that isn't one (NaN) is "unknown". The constants are
the same rules as d3 format strings (https://d3js.org/d3-format), for a chart whose config carries LOCALE.
"""

import math
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_HALF_UP, Context, Decimal

WEIGHT = ".2f"
COSINE_PLACES = 2  # decimals
COSINE = f".{COSINE_PLACES}f"
FINE = ".4f"  # a tooltip's weight: more digits for who asks
CHANGE = "+.2f"
SHARE = ".0%"
ERROR = ".2~r"  # two digits: a colour bar may have a tick at 1.5e-7
LOCALE = {"number": {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["", ""], "percent": " %"}}

TICKS = 5  # of a colour bar

UNKNOWN = "unknown"
SMALLEST_WEIGHT = 0.0001  # written out; below it only its bound is
PLACES = 12  # of a decimal that nobody asked to be shorter
SMALLEST_DECIMAL = 1e-9  # below it zeros can't be counted by eye
NOISE = 1e-6  # of a share: sums of float32 weights miss 0 and 1 by this
EXACT = Context(prec=400)  # enough for every digit of a float64
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def weight(value: float) -> str:
    """A weight, 0 to 1: "0.31"; one that two decimals would call 0 has its first digit: "0.003"."""
    if 0 < value < SMALLEST_WEIGHT:
        return f"under {SMALLEST_WEIGHT}"
    if 0 < value < 0.005:
        return decimal(value, -math.floor(math.log10(value)))
    return decimal(value)


def cosine(value: float) -> str:
    """A cosine similarity, -1 to 1: "0.81", "−0.12"."""
    return decimal(value, COSINE_PLACES)


def decimal(value: float, places: int = 2, plus: str = "") -> str:
    """Any number with a fixed count of decimals: "12.50", "−0.3", "−∞". plus: the sign of what is above 0."""
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
    """A difference or an effect, with its sign: "+0.12", "−0.03", "0.00"."""
    return decimal(value, places, plus="+")


def effect(value: float) -> str:
    """The change of a cosine without a head, with three decimals: "+0.025"."""
    return change(value, 3)


def share(value: float, places: int = 0) -> str:
    """A part of a whole, 0 to 1, in per cent: "12 %". What only rounds to nothing or to all is "under 1 %", "over 99 %"."""
    unit = 10.0**-places
    if NOISE < value < unit / 200:
        return f"under {decimal(unit, places)} %"
    if 1 - unit / 200 < value < 1 - NOISE:
        return f"over {decimal(100 - unit, places)} %"
    return f"{decimal(100 * value, places)} %" if not math.isnan(value) else UNKNOWN


def percent(value: float) -> str:
    """A part of a way or of a whole, signed, 1 being all: "44 %", "−3 %"."""
    return f"{decimal(100 * value, 0)} %"


def fitting(maximum: float, kind: str = CHANGE) -> str:
    """The d3 format of a colour bar from -maximum to maximum, so that no two of its TICKS read the same. kind: CHANGE or SHARE.

    As many decimals as the step between two ticks needs, which d3 takes from 1, 2, 5, 10, ...; at least those of `kind`.
    """
    step = 2 * abs(maximum) / TICKS
    if not (math.isfinite(step) and step > 0):
        return kind
    power = math.floor(math.log10(step))
    power += step / 10**power >= math.sqrt(50)  # d3 takes the next power of ten from here on
    sign, least, unit = kind[: kind.index(".")], int(kind[-2]), kind[-1]
    return f"{sign}.{min(max(least, -power - 2 * (unit == '%')), PLACES)}{unit}"


def error(value: float) -> str:
    """A numerical error as a bound, so rounded up to its first digit: "0.0000002"; "0" only for no error at all.

    From 0.01 on to two decimals; below 1e-9 as "3 × 10⁻¹⁶".
    """
    value = abs(value)
    if value == 0 or not math.isfinite(value):
        return decimal(value, 0)
    power = min(math.floor(math.log10(value)), -2)
    # Nine digits first: 3e-7 is held as a little more than that, and would become 4e-7.
    rounded = Decimal(f"{value:.8e}").quantize(Decimal(1).scaleb(power), ROUND_CEILING, EXACT).normalize()
    if value >= SMALLEST_DECIMAL:
        return f"{rounded:f}"
    digit, _, power_ = f"{rounded:.0e}".partition("e")
    return f"{digit} × 10{power_.translate(SUPERSCRIPTS)}"


def count(value: int) -> str:
    """A count: "12,345"."""
    return f"{value:,}".replace("-", "−")


def plain(value: float) -> str:
    """A number as somebody would type it, with four digits that count: "2", "−1.235", "12346", "0.0000012"."""
    if value == 0 or not math.isfinite(value):
        return decimal(value, 0)
    places = min(max(3 - math.floor(math.log10(abs(value))), 0), PLACES)
    text = decimal(value, places)
    return text.rstrip("0").rstrip(".") if places else text


def vector(values: Iterable[float], places: int | None = None) -> str:
    """A short vector: "[3, −1]" as somebody would type it, or with a fixed count of decimals: "[1.79, 1.44]"."""
    write = plain if places is None else lambda value: decimal(value, places)
    return f"[{', '.join(write(float(value)) for value in values)}]"


def span(low: float, high: float, write: Callable[[float], str] = decimal) -> str:
    """A range or an interval: "0.10 to 0.32", "+0.01 to +0.05"; a common unit is written once: "12 to 15 %"."""
    first, last = write(low), write(high)
    return f"{first.removesuffix(' %')} to {last}" if last.endswith(" %") else f"{first} to {last}"
