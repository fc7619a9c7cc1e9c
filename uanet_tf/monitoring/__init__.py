"""Whether a stream of sentences is still like the development data."""
