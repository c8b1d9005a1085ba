"""The parts of the dashboard that pages share: pickers, links, caches and downloads."""
