"""The corpus job: what a word attends to, in every head, over a table of any size. `python -m selfattn.scan --help`."""

from selfattn.scan.output import Scan, ScanError, read_scan

__all__ = ["Scan", "ScanError", "read_scan"]
