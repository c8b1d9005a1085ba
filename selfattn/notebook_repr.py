"""Show objects in a notebook as small HTML tables."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any


def html_table(caption: str, rows: Iterable[Sequence[object]]) -> str:
    """Return an HTML table with escaped texts."""
    lines = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return f"<table><caption>{escape(caption)}</caption>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


class OfTables:
    """A report whose representation lists the report's tables."""

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {len(table):,} x {len(table.columns)}" for name, table in self._tables().items())
        return f"<{type(self).__name__}: {shapes}>"

    def _repr_html_(self) -> str:
        rows = [(name, f"{len(table):,} rows", ", ".join(table.columns)) for name, table in self._tables().items()]
        return html_table(type(self).__name__, rows)

    def _tables(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # vars() has cached properties too
        return {name: value for name, value in values.items() if hasattr(value, "columns")}


class OfSteps:
    """The base class that lets an attention trace show the shapes of its tensors in a notebook."""

    def __repr__(self) -> str:
        shapes = self._shapes()
        *heads, n_query, n_key = shapes["weights"]
        d_head = shapes["query"][-1]
        return f"<AttentionTrace: {''.join(f'{n} x ' for n in heads)}{n_query} queries x {n_key} keys, d_head {d_head}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self)[1:-1], [(name, " x ".join(map(str, of))) for name, of in self._shapes().items()])

    def _shapes(self) -> dict[str, Sequence[int]]:
        return {name: step.shape for name, step in vars(self).items() if hasattr(step, "shape")}
