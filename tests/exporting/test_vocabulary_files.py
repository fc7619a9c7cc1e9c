"""Tables that are made from files know the same words as the training model's."""

import types

import pytest
import tensorflow as tf

from uanet_tf.data.lookup import TokenLookup
from uanet_tf.exporting.vocabulary_files import tables_from_files, write_vocabulary_files

# Each of them ends a line, is a blank or nothing for some reader of text.
AWKWARD = [
    *["a b", " lead", "trail ", "\t", "c\td", "e\u2028f", "g\u2029h", "i\u0085j", "\ufeffk"],
    *["l\vm", "n\fo", "\x1c", "p\x00q", "\u200b", "#", "\\n", "\ufffd", '"', "東京", "🙂", "\xa0"],
]


def make_model(words, chars, labels=("O", "B-X")):
    lookup = TokenLookup(words, chars, normalize_digits=False)
    return types.SimpleNamespace(lookup=lookup, label_names=list(labels))


def answers(model, tokens):
    return [ids.numpy().tolist() for ids in model.lookup(tf.constant(tokens))]


def test_awkward_words_and_characters(tmp_path):
    chars = sorted(set("".join(AWKWARD)) | {"\r", "\n"})
    model = make_model(AWKWARD, chars)
    tokens = [*AWKWARD, "unknown", "", "\r\n", "a\rb", *chars]
    own = answers(model, tokens)
    assert own[0][: len(AWKWARD)] == list(range(2, 2 + len(AWKWARD)))
    files = write_vocabulary_files(model, tmp_path)
    with tables_from_files(model, files):
        assert answers(model, tokens) == own
    assert answers(model, tokens) == own


def test_the_files_can_be_read(tmp_path):
    model = make_model(["the", "e\u2028f", "東京"], ["t", "\u2028", "東", "\r"], ["O", "B-X"])
    files = {path.name: path.read_bytes() for path in write_vocabulary_files(model, tmp_path)}
    assert files == {
        "words.txt": "the\ne\u2028f\n東京\n".encode(),
        "chars.txt": "116\tt\n8232\t\\u2028\n26481\t東\n13\t\\r\n".encode(),
        "labels.txt": b"O\nB-X\n",
    }


@pytest.mark.parametrize("word", ["", "a\nb", "a\rb", "\r"])
def test_a_word_that_no_line_can_hold_stays_in_the_graph(tmp_path, caplog, word):
    model = make_model(["the", word, "cat"], ["a"])
    files = write_vocabulary_files(model, tmp_path)
    assert [path.name for path in files] == ["labels.txt", "chars.txt"]
    assert repr(word) in caplog.text
    tokens = ["the", word, "cat", "ab"]
    own = answers(model, tokens)
    with tables_from_files(model, files):
        assert answers(model, tokens) == own
    assert own[0] == [2, 3, 4, 1]


def test_a_file_that_reads_otherwise_is_noticed(tmp_path):
    model = make_model(["the", "cat"], ["a", "b"])
    files = write_vocabulary_files(model, tmp_path)
    (tmp_path / "words.txt").write_text("cat\nthe\n")
    with (
        pytest.raises(RuntimeError, match="2 of 2 symbols are not found"),
        tables_from_files(model, files),
    ):
        pass
