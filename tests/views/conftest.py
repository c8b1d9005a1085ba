"""Use the fixtures of the charts' tests."""

from tests.charts.conftest import sides as sides
