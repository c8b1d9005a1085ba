"""Pickers, links, caches, downloads and the display of charts. No other package of the library imports streamlit."""
