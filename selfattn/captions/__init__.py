"""The sentence beneath a picture, computed from the numbers that the picture draws."""
