"""Record what every page shows, so that a test finds unintended changes.

`python -m tests.as_shown` updates the records.
"""
