"""Write a page's figures and tables as one HTML file that works offline.

The Content-Security-Policy forbids fetching, and allows only the components' scripts.
"""

import base64
import hashlib
from collections.abc import Collection, Iterable, Mapping
from html import escape

from selfattn import numbers
from selfattn.charts.labels import drawable, isolated_words
from selfattn.export import files
from selfattn.export.component_page import module, place, stylesheet
from selfattn.export.files import View

SHOWN_ROWS = 100  # shown rows of a table; the CSV has all rows

STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1b2330, #eef1f6); --muted: light-dark(#5c6675, #a3adbd);
  --rule: light-dark(#e3e6eb, #2a3240); color: var(--ink); background: light-dark(#ffffff, #0f131a);
  font: 16px/1.5 "Source Sans 3", "DejaVu Sans", "Noto Sans", sans-serif }
body { max-width: 62rem; margin: 3rem auto; padding: 0 1.5rem } body:has(.live) { max-width: 86rem }
h1 { font-size: 1.7rem; line-height: 1.25 }
h1:has(+ .live, + p + .live) { color: var(--muted); font-size: 1rem }
h2 { font-size: 1.15rem; margin-top: 2.5rem }
figure { margin: 1.5rem 0 } img { max-width: 100%; height: auto; border: 1px solid var(--rule); border-radius: 6px }
figcaption, .quiet { color: var(--muted); font-size: .92rem } a { color: light-dark(#174f97, #7fb8f5) }
.live { margin: 1.5rem 0 } summary { cursor: pointer }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--rule); vertical-align: top }
td { unicode-bidi: isolate; overflow-wrap: anywhere } .scroll { max-height: 24rem; overflow: auto }
"""


def html(view: View, width: float | None = None) -> str:
    """Return the view as an HTML page with all text escaped."""
    parts = [
        paragraph(view.provenance.line()),
        *(f"<p><b>{_text(name)}</b> <bdi>{_text(text)}</bdi></p>" for name, text in view.provenance.sentences.items()),
        *_figures(view, width),
        *_tables(view),
        "<h2>Where this comes from</h2>",
        _table(_origin(view).items(), ("", "")),
        paragraph(
            "In attention maps, rows are queries and columns are keys. Positions, layers and heads count from 0."
        ),
        paragraph("Attention weights show which tokens the model uses, not why it decides as it does."),
    ]
    return document(view.provenance.title, parts, {each.live.component for each in view.panels.values() if each.live})


def document(title: str, parts: Iterable[str], components: Collection[str] = ()) -> str:
    """Return an HTML page that contains the parts. components: names of the JavaScript components in the parts."""
    title, names = _text(title), sorted(components)
    style = STYLE + stylesheet(*names) if names else STYLE
    modules = [module(name) for name in names]
    scripts = " ".join(map(_hash, modules)) or "'none'"
    started = [f'<script type="module">{each}</script>' for each in modules]
    policy = (
        f"default-src 'none'; img-src data: blob:; style-src {_hash(style)}; script-src {scripts}; base-uri 'none'; "
        "form-action 'none'"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>\n'
        f"<body><h1>{title}</h1>\n{chr(10).join([*parts, *started])}</body></html>\n"
    )


def paragraph(text: str) -> str:
    return f'<p class="quiet">{_text(text)}</p>'


def link(file: str, title: str) -> str:
    return f'<p><a href="{_text(file)}">{_text(title)}</a></p>'


def entry(file: str, title: str, sentences: Iterable[str], finding: str) -> str:
    """Return an entry of the index page, with a link to `file`."""
    lines = "<br>".join(f"<bdi>{_text(text)}</bdi>" for text in sentences)
    return f'<h2><a href="{_text(file)}">{_text(title)}</a></h2><p>{lines}</p>{paragraph(finding)}'


def method(text: str) -> str:
    """Return a measurement's description, which the reader can unfold."""
    parts = text.split("\n\n")
    return f"<details><summary>How this was measured</summary>{''.join(map(paragraph, parts))}</details>"


def _figures(view: View, width: float | None) -> Iterable[str]:
    for name, spec in view.pictures.items():
        panel, picture = view.panels[name], _data_uri("image/svg+xml", files.svg(spec, view.origin(name), width))
        below = f"<figcaption>{_text(panel.note)}</figcaption>" if panel.note else ""
        figure = f'<figure><img src="{picture}" alt="{_text(panel.alt)}">{below}</figure>'
        if "finding" not in (panel.live.data if panel.live else {}):
            yield f"<h2>{_text(panel.finding)}</h2>"
        yield place(panel.live, figure) if panel.live else figure
        if panel.method:
            yield method(panel.method)


def _hash(text: str) -> str:
    """Return the hash with which the Content Security Policy allows an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _tables(view: View) -> Iterable[str]:
    for name, (make, origin) in view.tables.items():
        frame, file = make(), f"{name}.csv"
        complete = _data_uri("text/csv;charset=utf-8", files.csv(frame, origin))
        shown = "" if len(frame) <= SHOWN_ROWS else f", of which the first {SHOWN_ROWS} are shown"
        yield f"<h2>{_text(name)}</h2>"
        yield (
            f'<p class="quiet">{numbers.count(len(frame))} rows{shown}. '
            f'<a download="{_text(file)}" href="{complete}">Download all rows as CSV</a></p>'
        )
        rows = frame.head(SHOWN_ROWS).itertuples(index=False)
        yield f'<div class="scroll" tabindex="0">{_table(rows, frame.columns)}</div>'


def _cell(value: object) -> str:
    return numbers.plain(value) if isinstance(value, float) else str(value)


def _table(rows: Iterable[Iterable[object]], columns: Iterable[object]) -> str:
    head = "".join(f"<th>{_text(str(column))}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{_text(_cell(value))}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _origin(view: View) -> Mapping[str, object]:
    provenance = view.provenance
    versions = ", ".join(f"{package} {version}" for package, version in provenance.versions.items())
    unknown = provenance.check() or "not measured on this page"
    error = unknown if provenance.error is None else numbers.error(provenance.error)
    if not provenance.model:
        return {"computed by": provenance.line(), "link": provenance.link, "versions": versions}
    return {
        "encoder": provenance.model,
        "revision": provenance.revision or "none: loaded from a folder",
        "sha256 of the weights": provenance.digest,
        "sha256 of weights, configuration and tokeniser": provenance.content,
        "layer": "all" if provenance.layer is None else provenance.layer,
        "head": "all" if provenance.head is None else provenance.head,
        "ran on": f"{provenance.device}, {provenance.dtype}",
        "largest difference between recomputed attention weights and the model's own": error,
        **{f"tokens of {name}": " ".join(tokens) for name, tokens in provenance.tokens.items()},
        "link": provenance.link,
        "versions": versions,
    }


def _text(text: str) -> str:
    return escape(isolated_words(drawable(text)))


def _data_uri(kind: str, text: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(text.encode('utf-8', 'replace')).decode()}"
