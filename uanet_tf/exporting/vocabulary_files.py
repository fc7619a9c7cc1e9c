"""The vocabularies of an exported model: text files that its lookup tables are made from."""

import contextlib
import pathlib
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf
from absl import logging

from uanet_lite.model_file import CHARS, LABELS, WORDS
from uanet_lite.token_ids import FIRST_ID, UNKNOWN_ID
from uanet_tf.data.lookup import SubwordLookup
from uanet_tf.models.tagger import Tagger

SUBWORDS = "subwords.txt"


def write_vocabulary_files(model: Tagger, folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes the vocabularies, one symbol per line; line k (from 0) has id k + 2. Gives the files.

    ``words.txt``: normalised words; left out where no line can hold some word (an empty one, or one
    with a line end, from pretrained vectors): its table then stays in the graph. ``chars.txt``: the
    code point of a character, a tab, and the character (escaped if it is not printable).
    ``labels.txt``: the labels of the answers, where line k has number k. ``subwords.txt``: the
    sub-words of a pretrained encoder, for information only; its tokenizer is in the graph. Lines
    end in LF; the text is UTF-8.
    """
    files = [_write(folder / LABELS, model.label_names)]
    lookup = model.lookup
    if isinstance(lookup, SubwordLookup):
        return [*files, _write(folder / SUBWORDS, lookup.vocabulary)]
    odd = next((word for word in lookup.words if not word or {"\n", "\r"} & set(word)), None)
    if odd is None:
        files.append(_write(folder / WORDS, lookup.words))
    else:
        logging.warning("No %s: no line of a file can hold the word %r.", WORDS, odd)
    files.append(_write(folder / CHARS, [f"{ord(c)}\t{_shown(c)}" for c in lookup.chars]))
    return files


@contextlib.contextmanager
def tables_from_files(model: Tagger, files: Sequence[pathlib.Path]) -> Iterator[None]:
    """Within it the model looks tokens up in tables of ``files``; functions traced then keep them.

    So do models saved from them.
    """
    lookup, paths = model.lookup, {path.name: str(path) for path in files}
    tables = {}
    if WORDS in paths:
        tables["words"] = _table(paths[WORDS], tf.string, tf.lookup.TextFileIndex.WHOLE_LINE)
    if CHARS in paths:
        tables["chars"] = _table(paths[CHARS], tf.int64, 0)
    if not tables:
        yield
        return
    keys: dict[str, list] = {"words": lookup.words, "chars": [ord(c) for c in lookup.chars]}
    for name, table in tables.items():  # that the file reads as it was written
        symbols = keys[name]
        ids = table.lookup(tf.constant(symbols, table.key_dtype)).numpy()
        wrong = np.count_nonzero(ids != np.arange(FIRST_ID, FIRST_ID + len(symbols)))
        if wrong or table.size().numpy() != len(symbols):
            raise RuntimeError(f"{table.name}: {wrong} of {len(symbols)} symbols are not found.")
    with lookup.tables(**tables):
        yield


def _table(path: str, key: tf.DType, column: int) -> tf.lookup.StaticHashTable:
    return tf.lookup.StaticHashTable(CheckedTextFile(path, key, column), default_value=UNKNOWN_ID)


def _shown(char: str) -> str:
    """The character; if it has no mark of its own, or ends lines for some reader, its escape."""
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")


def _write(path: pathlib.Path, lines: Sequence[str]) -> pathlib.Path:
    # Not in text mode: a line ends in LF on every system.
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))
    return path


_BUCKETS = 2**63 - 1


class CheckedTextFile(tf.lookup.TextFileInitializer):
    """Makes a table of a file's lines: line k (from 0) gets id k + ``FIRST_ID``.

    The hash of the file becomes a constant of the graph, and is compared each time the table is
    made: at every load of a SavedModel, in any server, and never at a call. A file that was cut
    or changed afterwards would otherwise give other ids, and wrong answers, without an error.

    Args:
      path: the file, with its final content.
      key_index: where the keys are, see ``tf.lookup.TextFileInitializer``; columns end at tabs.

    Raises:
      tf.errors.InvalidArgumentError: when a table is made of another content.
    """

    def __init__(self, path: str, key_dtype: tf.DType, key_index: int):
        numbers = tf.lookup.TextFileIndex.LINE_NUMBER
        super().__init__(path, key_dtype, key_index, tf.int64, numbers, value_index_offset=FIRST_ID)
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
