"""Pictures and tables become files that say where they come from."""
