"""Find, check and load encoders, run texts through them, and record their attention."""
