"""Every page draws and says, and the library computes, what is kept of it."""

import pytest

from tests.as_shown import library, pages, record

pytestmark = pytest.mark.slow
RECORDS = pages.RECORDS | library.RECORDS


@pytest.fixture(scope="module", autouse=True)
def nothing_computed():
    pages.forget()


@pytest.mark.parametrize("name", RECORDS)
def test_is_shown_as_it_was(name):
    different = record.differences(name, RECORDS[name]())
    assert not different, "\n".join([f"{len(different)} differences. {record.ANEW}", *different])
