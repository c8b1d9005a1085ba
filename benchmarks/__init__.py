"""Compare selfattn's time and memory with those of other code. Both sides are timed alternately in one run on one machine."""
