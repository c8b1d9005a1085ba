"""A fixture for checks on generated inputs."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, settings


@pytest.fixture(params=["short", pytest.param("long", marks=pytest.mark.long)])
def generated(request) -> Callable:
    """Return a function that runs a check on generated inputs."""
    in_full = request.param == "long"

    def run(short: int, long: int, strategy, check: Callable) -> None:
        @settings(
            max_examples=long if in_full else short,
            deadline=None,
            derandomize=not in_full,
            database=None,
            phases=[Phase.generate, Phase.shrink] if in_full else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def run_check(value):
            check(value)

        run_check()

    return run
