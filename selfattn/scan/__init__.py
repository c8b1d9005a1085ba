"""Scan a table of any size: measure a word's weights in every head. See `python -m selfattn.scan --help`."""

from selfattn.scan.output import Scan, ScanError, read_scan

__all__ = ["Scan", "ScanError", "read_scan"]
