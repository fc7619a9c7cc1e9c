"""Which operations a TensorFlow Lite model is made of."""

import collections

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


def _name(code: schema.OperatorCode) -> str:
    if code.CustomCode() is not None:
        return code.CustomCode().decode() + "*"
    # Small numbers stand in the older of the two fields.
    return _NAMES[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
