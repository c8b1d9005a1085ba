"""Draw the main view as a picture to share, of 1200 x 675 pixels."""

from selfattn.charts.flow import sentences
from selfattn.charts.landscape import landscape
from selfattn.charts.moved_word import SMALL, Data, Shown, finding
from selfattn.charts.sheet import Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec

WIDTH, HEIGHT, MARGINS = 1200, 675, {"left": 60, "right": 60, "top": 36, "bottom": 32}  # pixels
ZOOM = 1.1  # larger than in the main view
ACROSS, DOWN = (WIDTH - 120) / ZOOM, (HEIGHT - 68) / ZOOM  # pixels between the margins, before zooming
FINDING = (30, 26, 22, 18)  # letters in pixels: the first that fits in two lines is used
ONE, BOTH = 34, 30  # largest letters: of one sentence; of two
STRETCH = (1.3, 1.15, 1.0, 0.85, 0.7, 0.55, 0.4)  # height factors: the first that fits is used


def share(data: Data, theme: Theme) -> Spec:
    """Draw the picture that visitors can download and share. data: see way.schema.json."""
    for stretch in STRETCH:
        sheet = Sheet(theme, ZOOM)
        if _draw(sheet, Shown(data), stretch) <= DOWN - SMALL - 14:
            break
    sheet.text(0, DOWN - 2, f"Encoder: {data['encoder']}, last layer", SMALL, theme.muted)
    sheet.text(ACROSS, DOWN - 2, "selfattn", SMALL, align="right", bold=True)
    return {**sheet.drawn(ACROSS, DOWN), "padding": MARGINS, "autosize": "none"}


def _draw(sheet: Sheet, shown: Shown, stretch: float) -> float:
    """Draw everything above the footer. Return the y coordinate where the drawing ends."""
    sides = [shown.answer[0]] if shown.answer else [0, 1]
    y = finding(sheet, shown, ACROSS, FINDING, 2) + 6
    y, starts = sentences(sheet, shown, y, ACROSS, sides, ONE if shown.answer else BOTH)
    return landscape(sheet, shown, y, ACROSS, starts, sides, stretch) if shown.data["way"] else y
