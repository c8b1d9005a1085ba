"""Use the fixtures of tests/charts."""

from tests.charts.conftest import sides as sides
