"""Compute numbers about heads and vectors, from tensors to tensors."""
