"""Test that `with_tables` doesn't change a chart's numbers."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from streamlit.dataframe_util import convert_anything_to_arrow_bytes, convert_arrow_bytes_to_pandas_df

from selfattn.dashboard.figures import with_tables

RECORDS = [
    {"word": "bank", "place": 0, "weight": 0.25, "chosen": True},
    {"word": "банк 🏦", "place": 1, "weight": None, "chosen": False},
    {"word": "", "place": 2, "weight": 1e-30, "chosen": False, "stands": "below"},
]


@pytest.mark.parametrize(
    "records", [RECORDS, [], [{"only": None}], [{"at": [1, 2]}, {"at": [3]}], [{"n": 1}, {"n": 0.5}]]
)
def test_pyarrow_tables_equal_streamlits_tables(records):
    sent = with_tables({"datasets": {"rows": records}, "mark": "bar"})
    assert isinstance(sent["datasets"]["rows"], pa.Table)
    assert sent["mark"] == "bar"
    ours, theirs = (
        convert_arrow_bytes_to_pandas_df(convert_anything_to_arrow_bytes(data))
        for data in (sent["datasets"]["rows"], records)
    )
    assert list(ours.columns) == list(theirs.columns)
    for name in ours:
        for mine, other in zip(ours[name].tolist(), theirs[name].tolist(), strict=True):
            assert (_missing(mine) and _missing(other)) or np.array_equal(mine, other)


def _missing(value: object) -> bool:
    return value is None or (pd.api.types.is_scalar(value) and pd.isna(value))


@pytest.mark.parametrize("data", [[{"n": 1}, {"n": "one"}], {"type": "FeatureCollection"}, [{"n": 2**70}], ["a"]])
def test_data_unfit_for_a_table_is_unchanged(data):
    assert with_tables({"datasets": {"rows": data}})["datasets"]["rows"] is data


def test_chart_without_datasets_is_unchanged():
    spec = {"data": {"values": RECORDS}}
    assert with_tables(spec) is spec
