"""The window's width, for pictures that follow it."""

from selfattn.charts.vega import Spec

SIDEBAR, MARGINS = 310, 66  # pixels of a window that aren't the figure's (a scroll bar too): with the sidebar, without
OPEN = 1000  # pixels of a window from which on the sidebar is open


def the_window() -> list[Spec]:
    """The parameters `window_width` and `room`: pixels of the window as it is now, and of it those for a figure."""
    size = "windowSize()[0] > 0 ? windowSize()[0] : 1440"
    resized = {"events": {"source": "window", "type": "resize"}, "update": size}
    room = f"window_width - (window_width >= {OPEN} ? {SIDEBAR} : {MARGINS})"
    return [{"name": "window_width", "init": size, "on": [resized]}, {"name": "room", "expr": room}]
