"""Draw the main view in 1200 x 675 pixels for sharing: the finding, and the sentence that it is about, or both sentences."""

from selfattn.charts.flow import sentences
from selfattn.charts.landscape import landscape
from selfattn.charts.moved_word import SMALL, Data, Shown, finding
from selfattn.charts.sheet import Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec

WIDTH, HEIGHT, MARGINS = 1200, 675, {"left": 60, "right": 60, "top": 36, "bottom": 32}  # pixels
ZOOM = 1.1  # everything is larger than in the main view's picture
ACROSS, DOWN = (WIDTH - 120) / ZOOM, (HEIGHT - 68) / ZOOM  # the room between the margins, before zooming
FINDING = (30, 26, 22, 18)  # pixels of letters, before zooming: the first size that needs at most two lines is used
ONE, BOTH = 34, 30  # the largest letters of one sentence, and of both sentences
STRETCH = (
    1.3,
    1.15,
    1.0,
    0.85,
    0.7,
    0.55,
    0.4,
)  # factors for the heights of streams and hills: the first that fits is used


def share(data: Data, theme: Theme) -> Spec:
    """Draw the picture for sharing from the data of the component `way`."""
    for stretch in STRETCH:
        sheet = Sheet(theme, ZOOM)
        if _draw(sheet, Shown(data), stretch) <= DOWN - SMALL - 14:
            break
    sheet.text(0, DOWN - 2, f"Encoder: {data['encoder']}, last layer", SMALL, theme.muted)
    sheet.text(ACROSS, DOWN - 2, "selfattn", SMALL, align="right", bold=True)
    return {**sheet.drawn(ACROSS, DOWN), "padding": MARGINS, "autosize": "none"}


def _draw(sheet: Sheet, shown: Shown, stretch: float) -> float:
    """Draw all but the last line of text. Return the y coordinate below it."""
    sides = [shown.answer[0]] if shown.answer else [0, 1]
    y = finding(sheet, shown, ACROSS, FINDING, 2) + 6
    y, starts = sentences(sheet, shown, y, ACROSS, sides, ONE if shown.answer else BOTH)
    return landscape(sheet, shown, y, ACROSS, starts, sides, stretch) if shown.data["way"] else y
