"""Record what every page draws and says, in few numbers, so that a test sees each unintended change.

Written anew by `python -m tests.as_shown`, and then read: `git diff tests/as_shown` is what becomes different for a visitor.
"""
