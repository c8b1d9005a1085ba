"""A name becomes an encoder, a text an encoding: finding and checking a folder, loading it, and capturing its attention."""
