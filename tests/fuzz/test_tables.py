"""Read generated tables, and write generated texts as CSV."""

import csv
import io
import json

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from selfattn import TextError
from selfattn.scan.tables import InputError
from selfattn.scan.uploads import read_table
from selfattn.tidy_tables import csv_text, unescaped
from tests.fuzz.hostile import texts

pytestmark = pytest.mark.slow

HEADERS = [
    "sentence,word,sense", "sentence,word", "word,sentence", "sentence", "", "a,b,c", "Word;SENTENCE",
    "sep=\t\nsentence\tword", "sentence,sentence,word", '"',
]  # fmt: skip


def csvs() -> st.SearchStrategy[bytes]:
    cell = st.one_of(st.sampled_from(["The bank of the river.", "bank", "a", '"', ",,,", "\r"]), texts())
    line = st.lists(cell, max_size=5).map(",".join)
    lines = st.lists(line, max_size=8).map("\n".join)
    encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"])
    text = st.builds(
        lambda head, body, encoding: f"{head}\n{body}".encode(encoding, "surrogatepass"),
        st.sampled_from(HEADERS), lines, encodings,
    )  # fmt: skip
    return st.one_of(text, text, st.binary(max_size=300))


def lines_of_json() -> st.SearchStrategy[bytes]:
    number = st.builds(lambda digits, n: digits * n, st.sampled_from(["7", "-1", "1e9", "NaN"]), st.integers(1, 6000))
    nested = st.integers(1, 2000).map(lambda depth: "[" * depth + "]" * depth)
    fixed = st.sampled_from(["null", "true", '"bank"', '{"a": 1, "a": 2}'])
    value = st.one_of(texts().map(json.dumps), number, nested, fixed)
    pair = st.builds("{}: {}".format, st.sampled_from(['"sentence"', '"word"', '"sense"', '"x"']), value)
    line = st.one_of(st.lists(pair, max_size=5).map(lambda pairs: f"{{{', '.join(pairs)}}}"), value)
    encodings = st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16-le", "utf-16-be", "utf-32"])
    return st.builds(lambda lines, encoding: "\n".join(lines).encode(encoding), st.lists(line, max_size=5), encodings)


@pytest.mark.parametrize(("suffix", "tables"), [(".csv", csvs()), (".jsonl", lines_of_json())])
def test_table_is_read_or_refused(suffix, tables, generated):
    def read(data):
        try:
            good, broken = read_table(data, suffix)
        except (InputError, TextError) as error:
            assert str(error).encode("utf-8")
            return
        assert len(broken) == 0 or broken["reason"].str.len().min() > 0
        assert len(good) <= 5_000
        cells = [cell for row in good.itertuples(index=False) for cell in row[1:] if isinstance(cell, str)]
        pa.array(cells, pa.string()).validate(full=True)  # each cell fits into a Parquet file

    generated(90, 700, tables, read)


def test_csv_keeps_texts_but_has_no_formulas(generated):
    def written(cells):
        text = csv_text(pd.DataFrame({"a": cells, "b": "b"}, dtype=object))
        _, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)  # a CR without LF ends a row too
        assert [[unescaped(cell) for cell in row] for row in rows] == [[cell, "b"] for cell in cells]
        assert not [cell for cell, _ in rows if cell.strip()[:1] in {*"=+-@\uff1d\uff0b\uff0d\uff20"}]

    risky = st.text("=+-@\r\n\t\0',\";\uff1d\uff0b\uff0d\uff20 a", max_size=8)
    generated(60, 1500, st.lists(st.one_of(risky, texts()), min_size=1, max_size=5), written)
