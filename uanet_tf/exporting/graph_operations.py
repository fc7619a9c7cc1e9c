"""The operations that an exported graph needs: those of TensorFlow's core load everywhere."""

import pathlib

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

# They call back into the Python process that made them.
PYTHON_OPERATIONS = {"PyFunc", "PyFuncStateless", "EagerPyFunc", "NumpyFunction"}


def graph_operations(path: pathlib.Path) -> set[str]:
    """Names of all operations of a SavedModel, those of its function library included."""
    saved = saved_model_pb2.SavedModel.FromString((path / "saved_model.pb").read_bytes())
    found: set[str] = set()
    for meta_graph in saved.meta_graphs:
        library = meta_graph.graph_def.library.function
        functions = {function.signature.name for function in library}
        for nodes in (meta_graph.graph_def.node, *(function.node_def for function in library)):
            found.update(node.op for node in nodes if node.op not in functions)
    return found


def foreign_operations(path: pathlib.Path) -> set[str]:
    """Those that do not belong to TensorFlow's core, and those that need Python."""
    # The list is made when TensorFlow is built: it does not grow with the packages imported.
    return {
        name
        for name in graph_operations(path)
        if name in PYTHON_OPERATIONS or not hasattr(tf.raw_ops, name)
    }
