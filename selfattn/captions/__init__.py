"""Captions, each computed from the numbers that its picture draws. They claim no more than the numbers."""
