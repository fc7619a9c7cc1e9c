"""Labelled text in the formats of annotation tools and other libraries."""
