"""Define the colours and the font of every chart.

Source of the colours of sentences A and B: ColorBrewer's PuOr, which is safe for the colour-blind.
"""

from dataclasses import dataclass
from typing import Any

from selfattn.numbers import LOCALE

__all__ = ["DARK", "LIGHT", "Theme"]

FONT = "Source Sans, Source Sans Pro, DejaVu Sans, Noto Sans, sans-serif"


@dataclass(frozen=True)
class Theme:
    """The colours of one theme."""

    name: str  # "light" or "dark"
    background: str
    panel: str  # a surface set apart from the background
    ink: str  # text, and the outline of the chosen word or head
    muted: str  # secondary text and axis labels
    grid: str
    sentence_a: str
    sentence_b: str
    weights: tuple[str, ...]  # 0 to the maximum
    signed: tuple[str, ...]  # negative, zero, positive
    effect: tuple[str, ...]  # negative, zero, positive

    def sentence(self, name: str) -> str:
        """Return the colour of sentence "A" or "B"; for other names, the muted colour."""
        return {"A": self.sentence_a, "B": self.sentence_b}.get(name, self.muted)


LIGHT = Theme(
    name="light",
    background="#ffffff",
    panel="#f6f7f9",
    ink="#1b2330",
    muted="#5c6675",
    grid="#e3e6eb",
    sentence_a="#6b3fa0",
    sentence_b="#b35806",
    weights=("#ffffff", "#c9dcf2", "#7fb0de", "#3f7fc4", "#174f97", "#08306b"),
    signed=("#a50f26", "#e2705a", "#ffffff", "#5b9bd0", "#1c4f96"),
    effect=("#7a4a07", "#cf9f4e", "#ffffff", "#55b3a5", "#01665e"),
)

DARK = Theme(
    name="dark",
    background="#0f131a",
    panel="#181e28",
    ink="#eef1f6",
    muted="#a3adbd",
    grid="#2a3240",
    sentence_a="#b99af0",
    sentence_b="#ffa24d",
    weights=("#0f131a", "#153055", "#1d5296", "#3d83d4", "#7fb8f5", "#d3e8ff"),
    signed=("#ff8f7a", "#b2473c", "#0f131a", "#3b78b8", "#8fc6ff"),
    effect=("#eebb66", "#94661f", "#0f131a", "#23867a", "#7fe0d1"),
)


# Legends show squares: if the gradients of two SVGs have the same id, a browser paints both with the first one.
SWATCHES = {"type": "symbol", "symbolType": "square", "symbolSize": 260, "direction": "horizontal"}


def vega_config(theme: Theme) -> dict[str, Any]:
    """Return the Vega-Lite `config` of a theme."""
    label = {"labelColor": theme.muted, "titleColor": theme.muted, "labelFontSize": 12, "titleFontSize": 12}
    return {
        "background": theme.background,
        "font": FONT,
        "locale": LOCALE,
        "view": {"stroke": None},
        # labelOverlap is False because Vega would otherwise drop labels.
        "axis": {
            **label, "domain": False, "ticks": False, "gridColor": theme.grid, "titleFontWeight": "normal",
            "labelOverlap": False,
        },
        "legend": {**label, "titleFontWeight": "normal", "symbolStrokeColor": theme.grid},
        "title": {
            "color": theme.ink, "subtitleColor": theme.muted, "fontSize": 14, "anchor": "start", "fontWeight": 600,
        },
        "text": {"color": theme.ink, "fontSize": 12},
        "header": {"labelColor": theme.ink, "titleColor": theme.muted, "labelFontSize": 13},
        "rule": {"color": theme.muted},
        "line": {"strokeWidth": 2},
    }  # fmt: skip
