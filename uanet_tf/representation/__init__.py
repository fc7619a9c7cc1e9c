"""From tokens to one vector per word."""
