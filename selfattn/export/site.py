"""Writes the example pairs as static pages with an index: a folder for any web server or disk, with live figures."""

from collections.abc import Callable, Sequence
from pathlib import Path

from selfattn.analysis.word_map import word_map
from selfattn.charts.theme import LIGHT
from selfattn.charts.vega import beside
from selfattn.encoders.encoder import Encoder
from selfattn.examples import Example, labelled_sentences
from selfattn.export import live, report
from selfattn.export.files import View
from selfattn.export.provenance import Provenance
from selfattn.stored_reports import stored
from selfattn.views.one_head import whole_head, words_row
from selfattn.views.two_sentences import FIGURE, word_in_two_sentences

INDEX = "index.html"
WIDTH = 1000  # the main figure's picture, in units; the live figure follows the window


class SiteError(ValueError):
    """The site can't be written. The message says why and what to do."""


def write_site(encoder: Encoder, examples: Sequence[Example], folder: Path, wrote: Callable[[str], None]) -> None:
    """Write a page per pair, named by its word, the script of the figures, and the index into a new or empty folder.

    wrote(file) is called after each file.

    Raises SiteError for a folder that isn't empty, NotRecomputable if the encoder's attention can't be recomputed.
    """
    encoder.check_recomputable()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SiteError(f"{folder} holds something already. Choose a new or empty folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / live.FILE).write_text(live.script(), encoding="utf-8")
    wrote(live.FILE)
    rows = []
    for example in examples:
        view, finding = pair_view(encoder, example)
        file = f"{view.name}.html"
        (folder / file).write_text(report.html(view, index=INDEX, script=live.FILE), encoding="utf-8")
        rows.append(report.entry(file, example.word, [example.first, example.second], finding))
        wrote(file)
    index = report.document(f"Where {len(rows)} words get their meaning", [*_introduction(encoder), *rows])
    (folder / INDEX).write_text(index, encoding="utf-8")
    wrote(INDEX)


def pair_view(encoder: Encoder, example: Example) -> tuple[View, str]:
    """Return one pair as the main view shows it, with its leading head in detail, and its answer in one line."""
    a, b, control = (encoder.encode(text).places(example.word)[0] for text in example.sentences)
    read = labelled_sentences()
    labelled, many = read[read["word"] == example.word], stored("hidden_words", encoder, read)
    made = word_in_two_sentences(
        encoder, a, b, control, senses=labelled if len(labelled) else None, over_many=many and many.report
    )
    head, sides = made.first_head, {"A": a, "B": b}
    maps = {name: word_map(one.sentence, one.sentence.weights(*head)) for name, one in sides.items()}
    error = max(
        float((one.sentence.weights(*head) - one.sentence.own_weights(*head)).abs().max()) for one in sides.values()
    )
    both, row = whole_head(sides, maps, head, LIGHT, "scratch"), words_row(sides, head, LIGHT, error)
    whole = f"the whole head {head}"
    view = View(
        name=example.word,
        provenance=Provenance.of(
            encoder, made.title, {name: one.sentence for name, one in (sides | {"control": control}).items()},
            layer=head.layer, head=head.head, error=error,
        ),
        lines=[*made.answer, made.limit, *made.notes],
        figures={
            FIGURE: lambda: made.figure(LIGHT, width=WIDTH),
            whole: lambda: beside(*(each.spec for each in both.values())),
            row.name: lambda: row.spec,
        },
        live={FIGURE: lambda: made.figure(LIGHT), row.name: lambda: row.spec},
        tables=made.tables,
        captions={
            FIGURE: made.caption,
            whole: " ".join(f"In {name}: {each.caption}" for name, each in both.items()),
            row.name: row.caption,
        },
        headless={FIGURE, *made.tables},
        shows={whole: sides, row.name: sides, "words": sides, "heads": sides},
    )  # fmt: skip
    return view, " ".join(made.answer)


def _introduction(encoder: Encoder) -> list[str]:
    return [
        report.paragraph(
            "One word in two sentences: which other word it gets its meaning from inside a pretrained encoder, found by hiding "
            "each from it, and through which attention heads. Click a word for its heads."
        ),
        report.paragraph(
            f"Encoder: {encoder.title}. Every head is recomputed from scratch, its error on each page. Each pair is a hint: "
            "over other sentences of the same word other heads lead. Layers and heads count from 0."
        ),
    ]
