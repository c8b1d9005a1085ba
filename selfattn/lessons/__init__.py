"""Small systems that several lessons share, one file each. Each takes plain numbers and returns every step.

`selfattn.kernel` computes their weights, so that the same lines compute a lesson and a real head. No lesson imports Streamlit.
"""
