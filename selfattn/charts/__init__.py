"""Draw tables as Vega-Lite charts, one kind of chart per file. A chart doesn't know where its numbers come from."""
