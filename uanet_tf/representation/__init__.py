"""From tokens to one vector a word."""
