"""Pretrained BERTs, read from their files."""
