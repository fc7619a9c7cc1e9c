"""Which operations a TensorFlow Lite model is made of."""

import collections

import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema

_NAMES = {
    number: name for name, number in vars(schema.BuiltinOperator).items() if isinstance(number, int)
}


def operations(content: bytes) -> collections.Counter[str]:
    """Counts over all subgraphs; a custom operation (Select TF too) has its name and a star."""
    model = schema.Model.GetRootAs(content, 0)
    codes = [_name(model.OperatorCodes(i)) for i in range(model.OperatorCodesLength())]
    counts: collections.Counter[str] = collections.Counter()
    for i in range(model.SubgraphsLength()):
        graph = model.Subgraphs(i)
        counts.update(
            codes[graph.Operators(k).OpcodeIndex()] for k in range(graph.OperatorsLength())
        )
    return counts


def custom_operations(content: bytes) -> set[str]:
    """Those that not every TensorFlow Lite runtime has."""
    return {name for name in operations(content) if name.endswith("*")}


def first_planned_late(content: bytes) -> str | None:
    """Kind of the first operation of the first signature whose size the inputs' do not tell.

    The runtime plans its memory up to there before it runs; behind it once more, and so on.
    """
    interpreter = tf.lite.Interpreter(
        model_content=content,
        experimental_op_resolver_type=(
            tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        ),
    )

    def sizes(length: int) -> dict[int, tuple[int, ...]]:
        for item in interpreter.get_input_details():
            interpreter.resize_tensor_input(item["index"], [1, length, 7][: len(item["shape"])])
        interpreter.allocate_tensors()
        return {item["index"]: tuple(item["shape"]) for item in interpreter.get_tensor_details()}

    some, others = sizes(0), sizes(11)
    changing = {
        item["index"] for item in interpreter.get_tensor_details() if -1 in item["shape_signature"]
    }
    unknown = {index for index in changing if some.get(index) == others.get(index)}
    names = (
        operation["op_name"]
        for operation in interpreter._get_ops_details()
        if unknown.intersection(operation["outputs"])
    )
    return next(names, None)


def computed_shapes(content: bytes) -> collections.Counter[int]:
    """How often each subgraph gives something a shape that it computes.

    Behind each of these the runtime plans its memory anew.
    """
    model = schema.Model.GetRootAs(content, 0)
    codes = [_name(model.OperatorCodes(i)) for i in range(model.OperatorCodesLength())]
    counts: collections.Counter[int] = collections.Counter()
    for number in range(model.SubgraphsLength()):
        graph = model.Subgraphs(number)
        for k in range(graph.OperatorsLength()):
            operator = graph.Operators(k)
            if codes[operator.OpcodeIndex()] == "RESHAPE":
                shape = graph.Tensors(operator.Inputs(1)).Buffer()
                counts[number] += model.Buffers(shape).DataLength() == 0
    return +counts


def _name(code: schema.OperatorCode) -> str:
    if code.CustomCode() is not None:
        return code.CustomCode().decode() + "*"
    # Small numbers stand in the older of the two fields.
    return _NAMES[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
