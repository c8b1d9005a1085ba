"""Compare selfattn's time and memory with a reference. The two are timed in turn, in one run on one machine."""
