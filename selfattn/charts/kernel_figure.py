"""The kernel figure as a still picture."""

from collections.abc import Mapping
from typing import Any

from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, finish


def kernel_figure(data: Mapping[str, Any], theme: Theme, width: int | None = None) -> Spec:
    """Draw the data of the component `kernel`."""
    return finish({"data": {"values": []}, "mark": "rect", "width": width or 1080, "height": 100}, theme)
