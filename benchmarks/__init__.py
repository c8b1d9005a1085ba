"""Measure selfattn's time and memory."""
