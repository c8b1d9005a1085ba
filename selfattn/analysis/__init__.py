"""Numbers about heads and vectors: tensors in, tensors out, no tables and no pictures."""
