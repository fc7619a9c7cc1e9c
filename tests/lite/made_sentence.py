"""A tagged sentence for the tests of what is shown of one."""

from uanet_lite.tagged_sentence import TaggedSentence


def make_sentence(**changes):
    values = {
        "tokens": ["<b>", "Paris", "Lyon"],
        "labels": ["O", "B-LOC", "I-LOC"],
        "draft_labels": ["O", "B-PER", "I-LOC"],
        "refined_labels": ["O", "B-LOC", "I-LOC"],
        "uncertainty": [0.0, 1.23456789, 0.2],
        "confidence": [1.0, 0.5, 0.9],
        "refined": [False, True, False],
        "scheme": "IOB2",
    }
    return TaggedSentence(**{**values, **changes})
