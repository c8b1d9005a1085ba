"""Draw tables as pictures, one kind of chart per file. A chart doesn't know where its numbers come from."""
