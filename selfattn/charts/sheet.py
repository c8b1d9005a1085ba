"""Draw marks at pixel positions in one chart."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, field, layered, marks, nominal

Align = Literal["left", "center", "right"]
Point = tuple[float, float]
NONE = "transparent"
PADDING = 8  # pixels around the drawing
AROUND = dict.fromkeys(("left", "top", "right", "bottom"), PADDING)


class Sheet:
    """A drawing in which y grows downwards. Lengths are given in pixels, and multiplied by `zoom`.

    Areas are drawn first, then rectangles, images, rules, paths, points and texts.
    """

    def __init__(self, theme: Theme, zoom: float = 1) -> None:
        self.theme, self.zoom = theme, zoom
        self._areas: list[dict[str, Any]] = []
        self._rects: list[dict[str, Any]] = []
        self._images: list[dict[str, Any]] = []
        self._rules: list[dict[str, Any]] = []
        self._paths: list[dict[str, Any]] = []
        self._points: list[dict[str, Any]] = []
        self._texts: dict[tuple[Align, bool], list[dict[str, Any]]] = {}

    def pale(self, color: str, part: float) -> str:
        """Return a colour mixed with the background. part: how much of the colour, 0 to 1."""
        pairs = zip(*([int(each[n : n + 2], 16) for n in (1, 3, 5)] for each in (color, self.theme.background)))
        return "#" + "".join(f"{round(one * part + other * (1 - part)):02x}" for one, other in pairs)

    def rect(
        self,
        x: float,
        y: float,
        x2: float,
        y2: float,
        color: str,
        *,
        opacity: float = 1,
        stroke: str = NONE,
        line: float = 0,
        **more: Any,
    ) -> None:
        """Add a rectangle. color: `NONE` for an outline only."""
        ends = {"x": x, "y": y, "x2": x2, "y2": y2}
        look = {"color": color, "opacity": opacity, "stroke": stroke, "line": line * self.zoom}
        self._rects.append({**self._placed(ends), **look, **more})

    def image(self, x: float, y: float, width: float, height: float, url: str) -> None:
        """Add a picture with the top left corner at x, y."""
        self._images.append({**self._placed({"x": x, "y": y, "width": width, "height": height}), "url": url})

    def rule(self, x: float, y: float, x2: float, y2: float, color: str, width: float = 1) -> None:
        """Add a straight line."""
        ends = {"x": x, "y": y, "x2": x2, "y2": y2}
        self._rules.append({**self._placed(ends), "color": color, "width": width * self.zoom})

    def dotted(self, x: float, y: float, y2: float, color: str) -> None:
        """Add a dotted vertical line."""
        for top in range(round(y), round(y2) - 1, 6):
            self.rule(x, top, x, top + 2, color)

    def area(self, points: Iterable[Point], color: str, opacity: float = 1, **more: Any) -> None:
        """Fill the polygon with these corners."""
        area = self._areas[-1]["path"] + 1 if self._areas else 0
        for order, (x, y) in enumerate(points):
            place = self._placed({"x": x, "y": y})
            self._areas.append({"path": area, "order": order, **place, "color": color, "opacity": opacity, **more})

    def path(self, points: Iterable[Point], color: str, width: float, **more: Any) -> None:
        """Add a line through points."""
        path = self._paths[-1]["path"] + 1 if self._paths else 0
        for order, (x, y) in enumerate(points):
            look = {"color": color, "width": width * self.zoom}
            self._paths.append({"path": path, "order": order, **self._placed({"x": x, "y": y}), **look, **more})

    def point(
        self,
        x: float,
        y: float,
        radius: float,
        color: str,
        *,
        stroke: str = NONE,
        line: float = 0,
        opacity: float = 1,
        shape: str = "circle",
        turn: float = 0,
        **more: Any,
    ) -> None:
        """Add a circle, or another of Vega's shapes. turn: degrees clockwise."""
        look = {"color": color, "stroke": stroke, "line": line * self.zoom, "opacity": opacity, "shape": shape}
        area, angle = round(3.1416 * (radius * self.zoom) ** 2, 1), round(turn, 1)
        self._points.append({**self._placed({"x": x, "y": y}), "size": area, **look, "angle": angle, **more})

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 13,
        color: str = "",
        *,
        align: Align = "left",
        bold: bool = False,
        angle: float = 0,
        **more: Any,
    ) -> None:
        """Add a text on the baseline y. color: "" for the theme's ink."""
        look = {"text": text, "size": size * self.zoom, "color": color or self.theme.ink, "angle": angle}
        self._texts.setdefault((align, bold), []).append({**self._placed({"x": x, "y": y}), **look, **more})

    def lines(
        self, x: float, y: float, texts: Sequence[str], size: float = 13, color: str = "", bold: bool = False
    ) -> float:
        """Add lines of text, and return the next baseline."""
        for text in texts:
            self.text(x, y, text, size, color, bold=bold)
            y += round(1.4 * size)
        return y

    def drawn(self, width: float, height: float) -> Spec:
        """Return the drawing as a chart of this size."""
        width, height = width * self.zoom, height * self.zoom
        x = field("x", axis=None, scale={"domain": [0, width], "nice": False, "zero": False})
        y = field("y", axis=None, scale={"domain": [0, height], "nice": False, "zero": False, "reverse": True})
        place, box = {"x": x, "y": y}, {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
        color, stroke = nominal("color", scale=None), {"stroke": nominal("stroke", scale=None)}
        opacity, line = field("opacity", scale=None), {"strokeWidth": field("line", scale=None)}
        thick = {"color": color, "strokeWidth": field("width", scale=None)}
        tip = {"tooltip": nominal("said")}
        own = {"fill": color, "fillOpacity": opacity, **stroke, **line, **tip}
        whole = {
            "width": {"expr": "datum.width"},
            "height": {"expr": "datum.height"},
            "align": "left",
            "baseline": "top",
        }
        images = marks("image", {**place, "url": nominal("url")}, "images", aspect=False, smooth=False, **whole)
        order = {"detail": nominal("path"), "order": field("order")}
        filled = {**place, **order, "fill": color, "fillOpacity": opacity}
        layers = [marks("line", filled, "areas", stroke=None)] if self._areas else []
        layers += [marks("rect", {**box, **own}, "rects", cornerRadius=3), *([images] if self._images else [])]
        layers.append(marks("rule", {**box, **thick}, "rules"))
        wide = {"color": color, "size": field("width", scale=None)}  # Vega-Lite reads a line's width from "size"
        layers.append(marks("line", {**place, **order, **wide}, "paths", strokeCap="round"))
        angle = {"angle": field("angle", scale=None)}
        shape = {"shape": nominal("shape", scale=None), "size": field("size", scale=None), **angle}
        layers.append(marks("point", {**place, **own, **shape}, "points", opacity=1))
        datasets: dict[str, Any] = {
            "areas": self._areas, "rects": self._rects,
            "images": self._images, "rules": self._rules, "paths": self._paths, "points": self._points,
        }  # fmt: skip
        for (align, bold), rows in self._texts.items():
            name = f"{align}_{'bold' if bold else 'plain'}"
            look = {"text": nominal("text"), "size": shape["size"], **angle, "color": color}
            layers.append(
                marks(
                    "text", {**place, **look}, name, align=align, baseline="alphabetic", fontWeight=600 if bold else 400
                )
            )
            datasets[name] = rows
        return layered(layers, datasets, self.theme, width, height, padding=AROUND)

    def _placed(self, places: dict[str, float]) -> dict[str, float]:
        return {name: round(place * self.zoom, 2) for name, place in places.items()}
