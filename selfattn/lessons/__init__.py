"""Compute examples that several lesson pages share, one file each.

`selfattn.kernel` computes the attention weights in the examples, as it does for real heads. No module here imports Streamlit.
"""
