"""The small systems that several lessons share, one file each: plain numbers in, every step out.

Weights come from `selfattn.kernel`, so a lesson and a real head are computed by the same lines. Nothing here knows
of Streamlit; pandas comes in only where a system hands over a frame.
"""
