"""Tables that are made from files know the same words as the training model's."""

import types

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.data.lookup import TokenLookup
from uanet_tf.errors import InputError
from uanet_tf.exporting.saved_graph import save_signatures
from uanet_tf.exporting.vocabulary_files import tables_from_files, write_vocabulary_files
from uanet_tf.ops.graphs import graph_function
from uanet_tf.serving.rest_api.loaded_model import LoadedModel

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


@pytest.mark.parametrize("name", ["words.txt", "chars.txt"])
@pytest.mark.parametrize(
    "damage", [lambda text: text[:-1], lambda text: text[: len(text) // 2], lambda text: b""]
)
def test_a_damaged_vocabulary_cannot_be_loaded(tmp_path, name, damage):
    model = make_model([f"w{number}" for number in range(50)], ["w", "1", "2"])
    module = tf.Module()
    module.lookup = model.lookup
    files = write_vocabulary_files(model, tmp_path)
    with tables_from_files(model, files):

        @graph_function([tf.TensorSpec([None], tf.string, "tokens")])
        def ids(tokens):
            words, chars = model.lookup(tokens)
            return {"words": words, "chars": chars}

        save_signatures({"serving_default": ids}, tmp_path / "1", owner=module, assets=files)
    for file in files:
        file.unlink()
    request = {"tokens": np.array([b"w49", b"x"], object)}
    loaded = LoadedModel(tmp_path / "1")
    assert loaded.predict("", request)["words"].tolist() == [51, 1]
    loaded.close()
    file = tmp_path / "1" / "assets" / name
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(InputError, match=rf"file is damaged or was changed .*assets/{name}"):
        LoadedModel(tmp_path / "1")
    with pytest.raises(tf.errors.InvalidArgumentError, match="damaged or was changed"):
        tf.saved_model.load(str(tmp_path / "1"))
