"""Record what every page shows, in few numbers, so that a test finds each unintended change.

`python -m tests.as_shown` updates the records. Read `git diff tests/as_shown` afterwards: it lists what changes for a visitor.
"""
