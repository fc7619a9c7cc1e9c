"""How often the runtime plans its memory: behind each operation whose size it cannot tell."""

import pytest
import tensorflow as tf

from tests.exporting.tflite.agreement import make_model
from tests.exporting.tflite.operations import computed_shapes, first_planned_late
from uanet_tf.exporting.tflite.conversion import FLOAT32, convert
from uanet_tf.ops.graphs import graph_function


@pytest.mark.parametrize("sampling", ["exact", "distilled"])
def test_memory_is_planned_beforehand_up_to_the_recurrences(sampling):
    model = make_model()
    model.drafter.distilled.was_trained.assign(1.0)
    model.sampling = sampling
    content = convert(model)[FLOAT32]
    assert first_planned_late(content) == "WHILE"
    assert not computed_shapes(content)


def test_what_is_planned_late_would_be_seen():
    @graph_function([tf.TensorSpec([1, None])])
    def cut(inputs):
        return tf.reshape(inputs[:, 1:], [tf.shape(inputs)[1] - 1, 1]) * 2.0

    converter = tf.lite.TFLiteConverter.from_concrete_functions([cut.get_concrete_function()])
    content = converter.convert()
    assert first_planned_late(content) == "RESHAPE"
    assert computed_shapes(content) == {0: 1}
