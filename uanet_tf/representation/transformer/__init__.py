"""Pretrained Transformers: their files, tokenizers and states."""
