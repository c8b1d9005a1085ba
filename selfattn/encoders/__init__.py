"""Find, check, load and run encoders, and record their attention."""
