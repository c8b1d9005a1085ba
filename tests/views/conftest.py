"""The charts' two sentences, here too."""

from tests.charts.conftest import sides as sides
