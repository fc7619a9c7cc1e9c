"""A SavedModel of graph functions: written with only what they use, and the operations it needs."""

import contextlib
import logging
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from uanet_tf.errors import InputError, written_reason

_GRADIENT = "_gradient_op_type"


def save_signatures(
    signatures: Mapping[str, Any],
    path: pathlib.Path,
    *,
    owner: tf.Module,
    assets: Sequence[pathlib.Path] = (),
) -> None:
    """Writes a SavedModel with these signatures, {name: tf.function with an input signature}.

    A ``tf.Module`` of the variables and tables that the functions use is saved, not the Keras
    model, which would add the traced calls of every layer. ``ExportArchive`` is similar, but does
    not find a table that replaces another in a layer.

    Args:
      owner: the model, which holds the tables that the functions use.
      assets: further files, beside those that tables are made from.

    Raises:
      InputError: it cannot be written.
    """
    functions = {name: function.get_concrete_function() for name, function in signatures.items()}
    module = tf.Module()
    variables = [v for function in functions.values() for v in function.graph.variables]
    module.used_variables = list({id(variable): variable for variable in variables}.values())
    captured = {id(tensor) for each in functions.values() for tensor in each.captured_inputs}
    # Or other resources that initialise themselves.
    module.used_tables = [
        part
        for part in tf.train.TrackableView(owner).descendants()
        if id(getattr(part, "resource_handle", None)) in captured
    ]
    module.files = [tf.saved_model.Asset(str(file)) for file in assets]
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    with writing(path), _without_notes():
        tf.saved_model.save(module, str(path), signatures=functions, options=options)
        _forget_gradients(path)


@contextlib.contextmanager
def _without_notes() -> Iterator[None]:
    """TensorFlow notes the hidden path at which it writes, which the user never sees again."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(max(level, logging.WARNING))
    try:
        yield
    finally:
        logger.setLevel(level)


def _forget_gradients(path: pathlib.Path) -> None:
    """Removes the names of gradient functions, which are not saved: each load would warn."""
    file = path / "saved_model.pb"
    saved = saved_model_pb2.SavedModel.FromString(file.read_bytes())
    for meta_graph in saved.meta_graphs:
        library = meta_graph.graph_def.library
        for nodes in (meta_graph.graph_def.node, *(f.node_def for f in library.function)):
            for node in nodes:
                node.attr.pop(_GRADIENT, None)
        del library.gradient[:]
        del library.registered_gradients[:]
    file.write_bytes(saved.SerializeToString(deterministic=True))
    (path / "fingerprint.pb").unlink(missing_ok=True)  # it would no longer match the graph


@contextlib.contextmanager
def writing(path: str | pathlib.Path) -> Iterator[None]:
    """Context that only writes files: a full disk or the like is an InputError that names ``path``.

    Errors of TensorFlow's writers too.
    """
    try:
        yield
    except (OSError, tf.errors.OpError) as error:
        reason = written_reason(error)
        raise InputError(f"{path} cannot be written: {reason}. Nothing was exported.") from error


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
