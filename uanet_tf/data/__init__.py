"""Reading and preparing text: CoNLL files, tag schemes, vocabularies, vectors, batches."""
