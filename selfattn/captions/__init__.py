"""The sentences beneath a picture, each made of the numbers that the picture draws. They claim no more than the numbers."""
