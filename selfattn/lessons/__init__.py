"""The small systems that several lessons share, one file each: plain numbers in, every step out.

`selfattn.kernel` computes their weights, so that the same lines compute a lesson and a real head. No lesson imports Streamlit.
"""
