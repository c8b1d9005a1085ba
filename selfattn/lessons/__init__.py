"""Compute the examples of the lesson pages. No module here imports Streamlit."""
