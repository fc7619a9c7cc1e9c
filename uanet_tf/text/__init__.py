"""Text made of tokens, the choice of a tokenizer, width on a terminal; without TensorFlow."""
