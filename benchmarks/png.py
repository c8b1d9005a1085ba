"""One head as PNG: our export, provenance and all, beside matplotlib's imshow with annotated cells and savefig."""

import io
from collections.abc import Iterator

import matplotlib

from benchmarks.models import bundled, text
from benchmarks.table import Row, compare
from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT
from selfattn.export import files
from selfattn.export.provenance import Provenance

matplotlib.use("agg")

TITLE = "One head as PNG"
COLUMNS = ("selfattn", "matplotlib")


def main() -> Iterator[Row]:
    """From the weights to the file's bytes, at about the same number of pixels."""
    from matplotlib import pyplot

    encoder = bundled()
    for n, rounds in ((12, 9), (64, 5), (128, 3)):
        encoding = encoder.encode(text(n))
        weights = encoding.weights(0, 10).numpy()
        origin = Provenance.of(encoder, "L0 H10", {"A": encoding}, layer=0, head=10, error=3e-8)

        def ours(weights=weights, encoding=encoding, origin=origin):
            spec = heatmap(weights, encoding.tokens, LIGHT)
            return files.png(spec, origin, scale=2, width=600)

        def theirs(weights=weights, encoding=encoding, n=n):
            figure, axes = pyplot.subplots(figsize=(6, 6), dpi=200)
            axes.imshow(weights, cmap="Blues")
            axes.set_xticks(range(n), encoding.tokens, rotation=60)
            axes.set_yticks(range(n), encoding.tokens)
            for i in range(n):
                for j in range(n):
                    axes.text(j, i, f"{weights[i, j]:.2f}", ha="center", va="center", fontsize=4)
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png")
            pyplot.close(figure)
            return buffer.getvalue()

        yield compare(f"{n} tokens, 1200 pixels wide", ours, theirs, rounds)
