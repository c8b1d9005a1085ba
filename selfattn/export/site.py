"""Write a static page for each example pair of sentences, and an index page."""

from collections.abc import Callable, Sequence
from pathlib import Path

from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import Example, labelled_sentences
from selfattn.export import report
from selfattn.export.component_page import place
from selfattn.export.provenance import Provenance
from selfattn.panel import Panel
from selfattn.stored_reports import KINDS, stored
from selfattn.views.main_view import main_view

INDEX = "index.html"


class SiteError(ValueError):
    """The site can't be written."""


def write_site(encoder: Encoder, examples: Sequence[Example], folder: Path, wrote: Callable[[str], None]) -> None:
    """Write a page for each example, and an index page. The folder must be new or empty.

    wrote: called with the name of each file after writing it.
    Raises SiteError if the folder isn't empty, NotRecomputable if the attention can't be recomputed.
    """
    encoder.check_recomputable()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SiteError(f"{folder} is not an empty folder. Choose a new or empty folder.")
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for example in examples:
        panel, file = pair_panel(encoder, example), f"{example.word}.html"
        (folder / file).write_text(pair_page(encoder, example, panel, INDEX), encoding="utf-8")
        rows.append(report.entry(file, example.word, [example.first, example.second], panel.finding))
        wrote(file)
    index = report.document(f"Where {len(rows)} words get their meaning", [*_introduction(encoder), *rows])
    (folder / INDEX).write_text(index, encoding="utf-8")
    wrote(INDEX)


def pair_panel(encoder: Encoder, example: Example) -> Panel:
    """Return the main view of an example pair, with measured (not estimated) effects of heads."""
    read = labelled_sentences()
    labelled = read[read["word"] == example.word]
    many, profiles = (stored(name, encoder, KINDS[name].reads()) for name in ("hidden_words", "head_profiles"))
    *_, panel = main_view(
        encoder, *_placed(encoder, example).values(), senses=labelled if len(labelled) else None,
        over_many=many and many.report, profiles=profiles and profiles.report,
    )  # fmt: skip
    return panel


def pair_page(encoder: Encoder, example: Example, panel: Panel, index: str = "") -> str:
    """Return an example pair's page, which works offline. index: file name of the index page; "" for no link."""
    if panel.live is None:
        raise ValueError(f"Expected a panel with a live figure, got {panel.name!r}.")
    texts = {name: placed.sentence for name, placed in _placed(encoder, example).items()}
    title, error = f'Where does "{example.word}" get its meaning?', max(map(_error, texts.values()))
    parts = [
        *([report.link(index, "All pages")] if index else []),
        place(panel.live, report.paragraph(panel.alt)),
        report.paragraph(Provenance.of(encoder, title, texts, error=error).line()),
        report.method(panel.method),
    ]
    return report.document(title, parts, [panel.live.component])


def _placed(encoder: Encoder, example: Example) -> dict[str, PlacedWord[Encoding]]:
    names = ("A", "B", "control")
    return {name: encoder.encode(text).places(example.word)[0] for name, text in zip(names, example.sentences)}


def _error(encoding: Encoding) -> float:
    """Return the largest difference between the recomputed attention weights and the model's own, over all heads."""
    layers = range(encoding.n_layers)
    return max(float((encoding.weights(layer) - encoding.own_weights(layer)).abs().max()) for layer in layers)


def _introduction(encoder: Encoder) -> list[str]:
    return [
        report.paragraph(
            "Each page shows one word in two sentences. In a pretrained encoder, the page hides the other words from this word, "
            "one at a time, and names the hidden word that changes this word's meaning most. Click a word to see the attention "
            "heads that matter."
        ),
        report.paragraph(
            f"Encoder: {encoder.title}. selfattn recomputes every head's weights. Each page shows the largest difference between "
            "these weights and the model's own. One pair of sentences proves little: in other sentences, other heads may matter "
            "most. Layers and heads count from 0."
        ),
    ]
