import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_lite.tag_schemes import decode_spans
from uanet_tf.ops.chain import chunk_boundaries
from uanet_tf.ops.graphs import graph_function

LABELS = ["O", *(f"{prefix}-{kind}" for kind in "XY" for prefix in "BIES")]
# One trace for any sentence: hypothesis calls this often.
SPECS = [tf.TensorSpec([None, None], dtype) for dtype in (tf.int32, tf.bool, tf.bool, tf.bool)]
compiled = graph_function(SPECS)(chunk_boundaries)


def read(sentences):
    """Booleans [B, T] for sentences of BIOES labels."""
    length = max(map(len, sentences))
    padded = [[*s, *["B-X"] * (length - len(s))] for s in sentences]  # garbage at padding
    types = [[" XY".index(label[2]) if label != "O" else 0 for label in s] for s in padded]
    starts = [[label[0] in "BS" for label in s] for s in padded]
    ends = [[label[0] in "ES" for label in s] for s in padded]
    mask = np.arange(length) < np.array([[len(s)] for s in sentences])
    return [x.numpy() for x in compiled(types, starts, ends, mask)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from(LABELS), min_size=1, max_size=9), min_size=1, max_size=3))
def test_equals_the_spans_of_a_plain_reader(sentences):
    begins, finishes, touches = read(sentences)
    for row, labels in enumerate(sentences):
        spans = decode_spans(labels, "BIOES")
        assert np.flatnonzero(begins[row]).tolist() == [span.start for span in spans]
        assert np.flatnonzero(finishes[row]).tolist() == [span.end - 1 for span in spans]
        kinds = ["O" if label == "O" else label[2] for label in labels]
        expected = [k for k in range(1, len(kinds)) if kinds[k] != "O" and kinds[k] == kinds[k - 1]]
        assert np.flatnonzero(touches[row]).tolist() == expected


def test_adjacent_chunks():
    (begins,), (finishes,), (touches,) = read([["B-X", "E-X", "I-X", "S-X", "S-Y", "I-Y"]])
    assert begins.tolist() == [True, False, True, True, True, True]
    assert finishes.tolist() == [False, True, True, True, True, True]
    assert touches.tolist() == [False, True, True, True, False, True]


def test_a_sentence_of_padding_has_no_chunks():
    ones = tf.ones([1, 3], tf.bool)
    results = chunk_boundaries(tf.ones([1, 3], tf.int32), ones, ones, tf.zeros([1, 3], tf.bool))
    assert not np.any(results)
