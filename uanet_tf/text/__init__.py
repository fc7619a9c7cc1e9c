"""Raw text: sentences, tokens, and back; in plain Python, without TensorFlow."""
