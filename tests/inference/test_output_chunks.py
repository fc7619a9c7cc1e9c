"""Chunks found inside a graph are those that the tag scheme defines."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_lite.tag_schemes import SCHEMES, Span, decode_spans, encode_spans
from uanet_tf.inference.output_chunks import OutputChunks

LENGTH = 6


@st.composite
def labellings(draw, scheme):
    """Labels of a sentence, with chunks of two types, one of which has no name in the labels."""
    length, spans, start = draw(st.integers(1, LENGTH)), [], 0
    while start < length:
        end = draw(st.integers(start + 1, length))
        kind = draw(st.sampled_from([None, "PER", "LOC"]))
        if kind:
            spans.append(Span(kind, start, end))
        start = end
    return encode_spans(spans, length, scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_chunks_of_valid_labels(scheme, data):
    sentences = data.draw(st.lists(labellings(scheme), min_size=1, max_size=3))
    names = sorted({label for labels in sentences for label in labels} | {"O"})
    ids = np.zeros([len(sentences), LENGTH], np.int32)
    mask = np.zeros([len(sentences), LENGTH], bool)
    for row, labels in enumerate(sentences):
        ids[row, : len(labels)] = [names.index(label) for label in labels]
        ids[row, len(labels) :] = data.draw(st.integers(0, len(names) - 1))  # padding
        mask[row, : len(labels)] = True
    chunks = OutputChunks(names)(tf.constant(ids), tf.constant(mask))
    expected = [
        (row, *span)
        for row, labels in enumerate(sentences)
        for span in decode_spans(labels, scheme)
    ]
    actual = [
        (int(first[0]), kind.decode(), int(first[1]), int(last[1]) + 1)
        for kind, first, last in zip(
            chunks.types.numpy(), chunks.first.numpy(), chunks.last.numpy(), strict=True
        )
    ]
    assert actual == expected
    assert chunks.counts.numpy().tolist() == [
        len(decode_spans(labels, scheme)) for labels in sentences
    ]
    tokens = [
        (row, k, number)
        for number, (row, _, start, end) in enumerate(expected)
        for k in range(start, end)
    ]
    assert [*map(tuple, np.argwhere(chunks.inside.numpy()))] == [each[:2] for each in tokens]
    assert chunks.of_token.numpy().tolist() == [each[2] for each in tokens]
