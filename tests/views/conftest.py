"""Let the tests in this folder use a fixture of tests/charts."""

from tests.charts.conftest import sides as sides
