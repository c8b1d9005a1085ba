"""Find, check and load an encoder by its name, run texts through it, and record its attention."""
