"""What pages drew and said, kept in few numbers: a change that nobody meant is seen.

Written anew by `python -m tests.as_shown`, and then read: `git diff tests/as_shown` is what becomes different for a visitor.
"""
