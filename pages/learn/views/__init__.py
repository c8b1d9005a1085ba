"""The three views of the page on pronouns and negation."""
