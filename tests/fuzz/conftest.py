"""Counts what was generated, and says so in the summary: 1,000 inputs in `make test`, 10,000 in `make test-long`."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, settings

TRIED: Counter[str] = Counter()


@pytest.fixture(params=[1, pytest.param(10, marks=pytest.mark.long)], ids=["short", "long"])
def generated(request) -> Callable:
    """generated(count, strategy, check) runs check on `count` inputs, ten times as many in the long run.

    The short run generates the same inputs each time, the long one new ones.
    """

    def run(count: int, strategy, check: Callable) -> None:
        @settings(
            max_examples=count * request.param,
            deadline=None,
            derandomize=request.param == 1,
            database=None,
            phases=[Phase.generate, Phase.shrink] if request.param > 1 else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def tried(value):
            TRIED[request.node.name] += 1
            check(value)

        tried()

    return run


def pytest_terminal_summary(terminalreporter) -> None:
    if TRIED:
        terminalreporter.write_line(f"fuzz: {sum(TRIED.values()):,} generated inputs, {dict(TRIED)}")
