"""The reader of graphs sees what is not TensorFlow's core, wherever it stands."""

import pytest
import tensorflow as tf

from uanet_tf.exporting.saved_graph import foreign_operations, graph_operations
from uanet_tf.exporting.verification import ExportMismatchError, verify_operations
from uanet_tf.ops.graphs import graph_function


def save(path, function):
    module = tf.Module()
    call = graph_function([tf.TensorSpec([None], tf.string, name="text")])(function)
    tf.saved_model.save(module, str(path), signatures=call.get_concrete_function())
    return path


def test_operations_of_inner_functions_are_seen(tmp_path):
    def function(text):
        loop = tf.while_loop(lambda k: k < 3, lambda k: (tf.bitwise.bitwise_xor(k, 4),), [0])
        return tf.strings.join([text, tf.strings.as_string(loop[0])])

    operations = graph_operations(save(tmp_path / "core", function))
    assert {"BitwiseXor", "StringJoin", "StatelessWhile"} <= operations
    assert not [name for name in operations if name.startswith("__")]
    assert foreign_operations(tmp_path / "core") == set()


@pytest.mark.parametrize("call", [tf.py_function, tf.numpy_function])
def test_python_is_seen(tmp_path, call):
    def function(text):
        return call(lambda values: values, [text], tf.string)

    path = save(tmp_path / "python", function)
    assert foreign_operations(path) <= {"PyFunc", "EagerPyFunc", "PyFuncStateless"}
    with pytest.raises(ExportMismatchError, match="calls Python"):
        verify_operations(path)


def test_tensorflow_text_is_seen(tmp_path):
    import tensorflow_text

    def function(text):
        def split(words):
            return tensorflow_text.WhitespaceTokenizer().tokenize(words).to_tensor("")

        return tf.cond(tf.size(text) > 1, lambda: split(text), lambda: split(text[:1]))

    foreign = verify_operations(save(tmp_path / "text", function))
    assert len(foreign) == 1
    assert "Whitespace" in foreign.pop()
