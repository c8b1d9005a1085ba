"""Draw tables as Vega-Lite charts."""
