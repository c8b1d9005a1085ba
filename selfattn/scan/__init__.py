"""Measure a word's attention weights in every head, over a table of any size. See `python -m selfattn.scan --help`."""

from selfattn.scan.output import Scan, ScanError, read_scan

__all__ = ["Scan", "ScanError", "read_scan"]
