"""The number of generated inputs in pytest's summary, whichever processes the tests ran in (tests/conftest.py has it)."""


def pytest_terminal_summary(terminalreporter) -> None:
    """Sum what the tests of tests/fuzz noted."""
    reports = [report for held in terminalreporter.stats.values() for report in held]
    called = [report for report in reports if getattr(report, "when", "") == "call"]
    total = sum(dict(report.user_properties).get("generated inputs", 0) for report in called)
    if total:
        terminalreporter.write_line(f"fuzz: {total:,} generated inputs")
