"""Compute numbers about attention heads and word vectors."""
