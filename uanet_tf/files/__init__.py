"""Files as such: text that may be gzipped, strict JSON, weights, checksums, printable text."""
