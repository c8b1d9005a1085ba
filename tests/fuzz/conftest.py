"""Runs a check on generated inputs and counts them: 1,000 in `make test`, 10,000 in `make test-long`."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, settings


@pytest.fixture(params=[1, pytest.param(10, marks=pytest.mark.long)], ids=["short", "long"])
def generated(request) -> Callable:
    """generated(count, strategy, check) runs check on `count` inputs, ten times as many in the long run.

    The short run generates the same inputs each time, the long one new ones.
    """

    def run(count: int, strategy, check: Callable) -> None:
        tried = 0

        @settings(
            max_examples=count * request.param,
            deadline=None,
            derandomize=request.param == 1,
            database=None,
            phases=[Phase.generate, Phase.shrink] if request.param > 1 else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def check_one(value):
            nonlocal tried
            tried += 1
            check(value)

        try:
            check_one()
        finally:
            request.node.user_properties.append(("generated inputs", tried))

    return run
