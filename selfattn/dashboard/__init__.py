"""The dashboard's pickers, links, caches and downloads."""
