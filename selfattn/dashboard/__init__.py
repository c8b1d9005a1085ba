"""Pickers, links, caches and downloads."""
