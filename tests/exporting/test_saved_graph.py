"""SavedModels of graph functions: the operations they need, and full disks."""

import resource

import pytest
import tensorflow as tf

from uanet_tf.errors import InputError
from uanet_tf.exporting.saved_graph import (
    foreign_operations,
    graph_operations,
    save_signatures,
    writing,
)
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


def toy(size):
    """A module with a variable of this size, and a signature that reads it."""
    module = tf.Module()
    module.weights = tf.Variable(tf.zeros([size]))

    @graph_function([tf.TensorSpec([None])])
    def call(x):
        return {"y": x + tf.reduce_sum(module.weights)}

    return module, {"serving_default": call}


@pytest.fixture
def most_bytes():
    """Sets the size beyond which no file of this process grows, whoever writes it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(("weights", "size"), [(1, 500), (50_000, 20_000)])
def test_a_saved_model_that_has_no_room(tmp_path, most_bytes, weights, size):
    """First the graph has none, then the variables."""
    module, signatures = toy(weights)
    path = tmp_path / "model"
    most_bytes(size)
    with pytest.raises(InputError, match=r"/model cannot be written: File too large\. Nothing was"):
        save_signatures(signatures, path, owner=module)


def test_tensorflow_s_record_writer_on_a_full_disk():
    with (
        pytest.raises(
            InputError, match=r"a cannot be written: .*No space left on device.* Nothing"
        ),
        writing("a"),
        tf.io.TFRecordWriter("/dev/full") as writer,
    ):
        writer.write(b"x" * 100_000)


def test_other_faults_are_not_taken_for_it():
    with pytest.raises(ZeroDivisionError), writing("a"):
        raise ZeroDivisionError
