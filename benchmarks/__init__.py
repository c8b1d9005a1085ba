"""Compare selfattn's time and memory with a reference."""
