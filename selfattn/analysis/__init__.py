"""Compute numbers about heads and vectors: functions from tensors to tensors."""
