"""Command lines: the only part of the package that knows about flags."""
