"""What the library computes over many sentences is what is kept of it."""

import pytest

from tests.as_shown import library, record

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", library.RECORDS)
def test_is_computed_as_it_was(name):
    different = record.differences(name, library.RECORDS[name]())
    assert not different, "\n".join([f"{len(different)} differences. {record.ANEW}", *different])
