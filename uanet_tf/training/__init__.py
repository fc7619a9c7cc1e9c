"""Training a tagger: the loop, its step, and what is fitted and written after it."""
