"""Compare selfattn's time and memory with other programs'. Each ratio is of two things timed alternately on one machine."""
