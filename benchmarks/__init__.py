"""Compare selfattn's time and memory with a reference. Both are timed alternately, in one run on one machine."""
