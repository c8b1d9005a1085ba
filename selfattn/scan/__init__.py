"""Measure a word's attention in every head, for each sentence of large tables."""

from selfattn.scan.output import Scan, ScanError, read_scan

__all__ = ["Scan", "ScanError", "read_scan"]
