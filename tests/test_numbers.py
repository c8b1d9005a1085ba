"""Test how captions and charts write numbers."""

import math
import re

import pytest
import vl_convert as vlc

from selfattn import numbers

CASES = [
    (numbers.weight, {0.125: "0.13", 0.005: "0.01", 0.0049: "0.005", 4e-5: "under 0.0001", 0.0: "0.00", math.nan: "unknown"}),
    (numbers.weight, {1e-4: "0.0001"}),
    (numbers.cosine, {-0.125: "−0.13", -0.001: "0.00"}),
    (numbers.decimal, {-0.0: "0.00", 1e30: "1000000000000000019884624838656.00", -math.inf: "−∞"}),
    (numbers.change, {0.025: "+0.03", -0.034: "−0.03", 0.001: "0.00", math.inf: "+∞"}),
    (numbers.effect, {-0.0625: "−0.063", -0.0004: "0.000"}),
    (numbers.share, {0.125: "13 %", 0.0: "0 %", 0.004: "under 1 %", 0.9971: "over 99 %", -0.1: "−10 %", math.nan: "unknown"}),
    (numbers.share, {0.99999994: "100 %"}),  # a sum of float32 weights
    (lambda value: numbers.share(value, 1), {0.9971: "99.7 %", 0.0004: "under 0.1 %"}),
    (numbers.error, {0.0: "0", 3e-7: "0.0000003", 1.01e-7: "0.0000002", 9.5e-7: "0.000001", 0.0312: "0.04"}),
    (numbers.error, {2.2e-16: "3 × 10⁻¹⁶", math.nan: "unknown", math.inf: "∞"}),
    (numbers.count, {1234567: "1,234,567"}),
    (numbers.plain, {2.0: "2", 0.123456: "0.1235", -1.2346: "−1.235", 12345.6: "12346", 1.2e-6: "0.0000012"}),
    (numbers.plain, {1e-20: "0", 0.0: "0", math.inf: "∞", 1.234e-10: "0.000000000123"}),
    (numbers.error, {1e-9: "0.000000001", 9.9e-10: "1 × 10⁻⁹"}),
    (numbers.share, {1e-6: "0 %", 1.05e-6: "under 1 %", 1 - 1.05e-6: "over 99 %", 0.005: "1 %", 0.995: "100 %"}),
    (numbers.fitting, {0.02: "+.2f", 0.0176: "+.3f", 0.0: "+.2f", math.inf: "+.2f", 1e-20: "+.12f"}),
    (lambda maximum: numbers.fitting(maximum, numbers.SHARE), {0.02: ".0%", 0.0176: ".1%"}),
]  # fmt: skip


@pytest.mark.parametrize(("write", "texts"), CASES)
def test_functions_format_numbers(write, texts):
    assert {value: write(value) for value in texts} == texts


def test_span_writes_unit_only_once():
    assert numbers.span(0.1, 0.32) == "0.10 to 0.32"
    assert numbers.span(-0.01, 0.05, numbers.change) == "−0.01 to +0.05"
    assert numbers.span(0.121, 0.149, numbers.share) == "12 to 15 %"


def test_numerical_error_is_never_rounded_down():
    for i in range(1, 400):
        value = i * 1.7e-9
        assert float(numbers.error(value)) >= value * (1 - 1e-8)


@pytest.mark.parametrize(
    ("form", "write"),
    [
        (numbers.WEIGHT, numbers.weight),
        (numbers.FINE, lambda value: numbers.decimal(value, 4)),
        (numbers.CHANGE, numbers.change),
        (numbers.SHARE, numbers.share),
    ],
)
def test_charts_format_numbers_as_captions_do(form, write):
    values = [0.125, 0.375, 0.0625, 0.5, 0.31, 0.98, 0.005]
    values += [] if write is numbers.share else [-0.125, -0.7]
    assert _on_a_chart(form, values) == [write(value) for value in values]


def test_charts_write_numerical_errors_without_exponent():
    assert _on_a_chart(f"+{numbers.ERROR}", [1e-7, 1.5e-7, -3e-6]) == ["+0.0000001", "+0.00000015", "−0.000003"]


def _on_a_chart(form: str, values: list[float]) -> list[str]:
    spec = {
        "data": {"values": [{"place": place, "value": value} for place, value in enumerate(values)]},
        "mark": "text",
        "encoding": {
            "y": {"field": "place", "type": "ordinal", "axis": None},
            "text": {"field": "value", "type": "quantitative", "format": form},
        },
        "config": {"locale": numbers.LOCALE},
    }
    return re.findall(r">([^<>\s][^<>]*)</text>", vlc.vegalite_to_svg(spec))
