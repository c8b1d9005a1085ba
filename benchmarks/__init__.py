"""Measure selfattn beside something else: each ratio is of two things timed alternately in one run on one machine."""
