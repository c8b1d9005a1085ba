"""Test that every page shows what its stored record says."""

import pytest

from tests.as_shown import pages, record

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def nothing_computed():
    pages.forget()


@pytest.mark.parametrize("name", pages.RECORDS)
def test_page_matches_its_stored_summary(name):
    different = record.differences(name, pages.RECORDS[name]())
    assert not different, "\n".join([f"{len(different)} differences. {record.ANEW}", *different])
