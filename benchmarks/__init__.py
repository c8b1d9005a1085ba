"""Side-by-side measurements. Every figure is a ratio of two things measured alternately in one run on one machine."""
