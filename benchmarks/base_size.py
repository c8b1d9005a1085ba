"""Time the page "A word in two sentences" on an encoder with 12 layers of 12 heads."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from streamlit.testing.v1 import AppTest

from benchmarks.models import base_size
from benchmarks.table import Row, duration
from selfattn import load_encoder
from selfattn.analysis.hiding import hidden_pair
from selfattn.dashboard import encoder_picker, figures, word_figure
from selfattn.encoders.sources import resolve
from selfattn.examples import PAIRS

TITLE = "The main view on a base-size encoder"
COLUMNS = ("measured", "target")
APP = Path(__file__).parents[1] / "app.py"
FIRST_PICTURE, ANSWER = 1.0, 2.5  # limits in seconds
ROUNDS = 3


def main(small: bool = False) -> Iterator[Row]:
    """Yield rows with the wall and CPU time of hiding each word, and of drawing the main view."""
    with tempfile.TemporaryDirectory() as folder:
        base_size("sdpa", small).save_pretrained(folder)
        copy_tokenizer(Path(folder))
        encoder = load_encoder(folder, device="cpu")
        places = [encoder.locate(text, PAIRS[0].word)[0] for text in PAIRS[0].sentences]
        what = "hide every word, and estimate the effects in 144 heads by gradient"
        yield from _rows(what, ANSWER, lambda: hidden_pair(encoder, *places), 1 if small else ROUNDS)
        pictures = _first_picture(encoder.name)
    for kind, (first, figure, whole) in pictures.items():
        most = f"{FIRST_PICTURE:g} s"
        what = "from the end of loading until the page shows the sentences"
        yield Row(f"{what}: {kind}", duration(first), most, first / FIRST_PICTURE, 1, 1)
        yield Row(f"from the end of loading until the figure shows the effects: {kind}", duration(figure), "", None, 1)
        yield Row(f"from the end of loading until the page is complete: {kind}", duration(whole), "", None, 1)


def copy_tokenizer(folder: Path) -> None:
    """Copy the bundled encoder's tokeniser."""
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        shutil.copy(resolve().folder / name, folder)


def _rows(what: str, most: float, run, rounds: int) -> Iterator[Row]:
    run()
    for kind, clock in (("wall time", time.perf_counter), ("CPU time", time.process_time)):
        seconds = []
        for _ in range(rounds):
            start = clock()
            run()
            seconds.append(clock() - start)
        least = min(seconds)  # the least disturbed round
        yield Row(f"{what}: {kind}", duration(least), f"{most:g} s", least / most, rounds, 1)


def _first_picture(name: str) -> dict[str, tuple[float, ...]]:
    """Measure how many seconds after the encoder is loaded the sentences, the figure and the complete page appear."""
    clocks = {"wall time": time.perf_counter, "CPU time": time.process_time}
    marks: list[dict[str, float]] = []

    def noted(function):
        def run(*arguments, **options):
            result = function(*arguments, **options)
            marks.append({kind: clock() for kind, clock in clocks.items()})
            return result

        return run

    word_figure.LONG = 0  # show the sentences first, as for large models
    steps = (encoder_picker, "load_encoder"), (word_figure, "show_stored"), (figures, "show_live")
    before = [getattr(*step) for step in steps]
    for step, function in zip(steps, before):
        setattr(*step, noted(function))
    try:
        at = AppTest.from_file(str(APP), default_timeout=300)
        at.query_params["model"], at.query_params["other"] = "another ...", name
        at.run()
        at.button(key="load_model").click().run()
    finally:
        for step, function in zip(steps, before):
            setattr(*step, function)
    if at.exception:
        raise RuntimeError(at.exception[0].message)
    marks = [*marks[:3], {kind: clock() for kind, clock in clocks.items()}]
    return {kind: tuple(mark[kind] - marks[0][kind] for mark in marks[1:]) for kind in clocks}
