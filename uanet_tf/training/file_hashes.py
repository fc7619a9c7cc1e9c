"""Hashes of the files that settings name, as they are now: without TensorFlow, and read once."""

import functools
import os

from uanet_lite.columns_file import read_corpus
from uanet_tf.config import DataConfig
from uanet_tf.training.data_hashes import hash_sentences


def file_hashes(config: DataConfig) -> dict[str, str]:
    """{"train_path": hash of what training reads of it, ...} of the files that are there.

    A pipe is not read.

    Raises:
      InputError: a file cannot be read.
    """
    hashes = {}
    for name in ("train_path", "dev_path", "test_path"):
        path = getattr(config, name)
        if path and os.path.isfile(path):
            found = os.stat(path)
            hashes[name] = _hash_of(
                path, config.token_column, config.label_column, found.st_mtime_ns, found.st_size
            )
    return hashes


@functools.lru_cache(maxsize=16)
def _hash_of(path: str, token_column: int, label_column: int, *_: int) -> str:
    return hash_sentences(read_corpus(path, token_column=token_column, label_column=label_column))
