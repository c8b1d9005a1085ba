"""A fixture that runs a check on generated inputs: few in `make test`, 10,000 in `make test-long`."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, settings


@pytest.fixture(params=["short", pytest.param("long", marks=pytest.mark.long)])
def generated(request) -> Callable:
    """Return a function: generated(short, long, strategy, check) runs check on generated inputs, `short` or `long` in number.

    The short run generates the same inputs each time. The long run generates new inputs.
    """
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
