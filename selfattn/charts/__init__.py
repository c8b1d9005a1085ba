"""Tables become pictures, one kind a file. A chart knows nothing of where its numbers came from."""
