"""Texts with marked entities, in the file formats of annotation tools."""
