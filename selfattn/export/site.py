"""The example pairs as static pages with an index: a folder for any web space, each page a report that opens by itself."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from selfattn.analysis.measures import drift
from selfattn.analysis.swapping import swap_pair
from selfattn.analysis.word_map import word_map
from selfattn.captions import answer
from selfattn.captions.answer import Swap
from selfattn.captions.attention import largest_cell
from selfattn.captions.steps import kernel_error
from selfattn.charts.curves import drift_curve
from selfattn.charts.head_map import head_map
from selfattn.charts.theme import LIGHT
from selfattn.charts.two_sentences import maps_of_two
from selfattn.charts.vega import Spec, beside
from selfattn.charts.word_strip import word_strip
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.examples import Example, labelled_sentences
from selfattn.export import report
from selfattn.export.files import View
from selfattn.export.provenance import Provenance
from selfattn.tidy_tables import drift_frame, heads_frame, strip_rows

INDEX = "index.html"


class SiteError(ValueError):
    """The site can't be written. The message says why and what to do."""


def write_site(encoder: Encoder, examples: Sequence[Example], folder: Path, wrote: Callable[[str], None]) -> None:
    """A page a pair, named by its word, and the index, in a new or empty folder; wrote(file) is called after each.

    Raises SiteError for a folder that holds something, NotRecomputable where the encoder's heads can't be swapped.
    """
    encoder.check_recomputable()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SiteError(f"{folder} holds something already. Choose a new or empty folder.")
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for example in examples:
        view, finding = pair_view(encoder, example)
        file = f"{view.name}.html"
        (folder / file).write_text(report.html(view, index=INDEX), encoding="utf-8")
        rows.append(report.entry(file, example.word, [example.first, example.second], finding))
        wrote(file)
    index = report.document(f"Where {len(rows)} words get their meaning", [*_introduction(encoder), *rows])
    (folder / INDEX).write_text(index, encoding="utf-8")
    wrote(INDEX)


def pair_view(encoder: Encoder, example: Example) -> tuple[View, str]:
    """One pair as the main view shows it, with the head that moves the word furthest; and what that comes to, in a line."""
    a, b, control = (encoder.encode(text).places(example.word)[0] for text in example.sentences)
    every = swap_pair(encoder, a, b, control)
    heads = heads_frame(
        share=every.share, a_from_b=every.a_from_b, b_from_a=every.b_from_a, control_share=every.control
    )
    first = heads.loc[heads["share"].idxmax()]
    head, best = Head(int(first["layer"]), int(first["head"])), Swap(first["share"], first["control_share"])
    sense, sides = example.senses[0], {"A": a, "B": b}
    rows = {name: one.sentence.weights(*head, one.rows).mean(0) for name, one in sides.items()}
    strip = [row for name, one in sides.items() for row in strip_rows(one.sentence, rows[name], one.word, name)]
    curves = {"A against B": drift(a, b), "control pair: one sense (A against the control)": drift(a, control)}
    main, beside_it = (curve.tolist() for curve in curves.values())
    maps = {name: word_map(one.sentence, one.sentence.weights(*head)) for name, one in sides.items()}
    error = max(
        float((one.sentence.weights(*head) - one.sentence.own_weights(*head)).abs().max()) for one in sides.values()
    )

    def parting() -> Spec:
        colors = dict(zip(curves, (LIGHT.ink, LIGHT.sentence_a)))
        return drift_curve(drift_frame(**curves), LIGHT, colors, dashed=list(curves)[1:])

    def whole_head() -> Spec:
        return beside(*maps_of_two(maps, sides, LIGHT, name=f"{head}, from scratch").values())

    words, map_, whole = f'what "{example.word}" attends to', "all heads: swap", f"the whole head {head}"
    receivers = answer.receivers(strip)
    labelled = int((labelled_sentences()["word"] == example.word).sum())
    cells = [f"In {name}: {largest_cell(words_.matrix.numpy(), words_.labels)}" for name, words_ in maps.items()]
    view = View(
        name=example.word,
        provenance=Provenance.of(
            encoder, f'Where does "{example.word}" get its meaning?',
            {name: one.sentence for name, one in (sides | {"control": control}).items()},
            layer=head.layer, head=head.head, error=error,
        ),
        figures={
            "where the two vectors part": parting,
            words: lambda: word_strip(strip, LIGHT, width=620),
            map_: lambda: head_map(heads, "share", LIGHT, str(head), title="share of the way"),
            whole: whole_head,
        },
        tables={"heads": lambda: heads, "words": lambda: pd.DataFrame(strip)},
        captions={
            "where the two vectors part": answer.paths(
                main, example.word, beside_it, sense, a.positions == b.positions
            ),
            words: answer.head_effect(head, best, example.word, receivers, head, best, sense),
            map_: f"{answer.map_of_heads(heads, 'share', example.word)} {answer.limit(example.word, head, labelled)}",
            whole: f"{' '.join(cells)} {kernel_error(error, None)}",
        },
        headless={"where the two vectors part", map_, "heads"},
        shows={words: sides, whole: sides, "words": sides},
    )  # fmt: skip
    return view, answer.head_title(best, beside_it[-1] <= main[-1])


def _introduction(encoder: Encoder) -> list[str]:
    return [
        report.paragraph(
            "One word in two sentences: where its two vectors part inside a pretrained encoder, what it attends to in the "
            "attention head that makes most of the difference, and how far swapping that head's output moves it."
        ),
        report.paragraph(
            f"Encoder: {encoder.title}. Every head is recomputed from scratch, its error on each page. Each pair is a hint: "
            "over other sentences of the same word other heads lead. Layers and heads count from 0."
        ),
    ]
