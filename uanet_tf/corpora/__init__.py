"""Reports on labelled files."""
