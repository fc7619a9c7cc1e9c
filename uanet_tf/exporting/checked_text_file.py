"""A lookup table's file that is identified by its content."""

import tensorflow as tf

from uanet_lite.token_ids import FIRST_ID

_BUCKETS = 2**63 - 1


class CheckedTextFile(tf.lookup.TextFileInitializer):
    """Makes a table of a file's lines: line k (from 0) gets id k + ``FIRST_ID``.

    The hash of the file becomes a constant of the graph, and is compared each time the table is
    made: at every load of a SavedModel, in any server, and never at a call. A file that was cut
    or changed afterwards would otherwise give other ids, and wrong answers, without an error.

    Args:
      path: the file, with its final content.
      key_dtype: of the table's keys.
      key_index: where the keys are, see ``tf.lookup.TextFileInitializer``; columns end at tabs.

    Raises:
      tf.errors.InvalidArgumentError: when a table is made of another content.
    """

    def __init__(self, path: str, key_dtype: tf.DType, key_index: int):
        super().__init__(
            path,
            key_dtype,
            key_index,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
            delimiter="\t",
            value_index_offset=FIRST_ID,
        )
        self._content_hash = int(_hash(path))

    def initialize(self, table: tf.lookup.StaticHashTable) -> tf.Operation:
        path = tf.convert_to_tensor(self._filename, tf.string)
        same = tf.equal(_hash(path), self._content_hash)
        told = ["A vocabulary file is damaged or was changed after the export:", path]
        with tf.control_dependencies([tf.debugging.Assert(same, told)]):
            return super().initialize(table)


def _hash(path: tf.Tensor | str) -> tf.Tensor:
    """A 63-bit fingerprint of a file's bytes, equal on every machine."""
    return tf.strings.to_hash_bucket_fast(tf.io.read_file(path), _BUCKETS)
