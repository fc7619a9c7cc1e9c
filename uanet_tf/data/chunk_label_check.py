"""Whether all labels of sentences are those of entities."""

from collections.abc import Iterable

from uanet_tf.data.conll import Sentence
from uanet_tf.data.tag_schemes import split_label
from uanet_tf.errors import InputError, SentencesError


def check_chunk_labels(sentences: Iterable[Sentence]) -> None:
    """Raises SentencesError, with the sentence's line, if a label is no chunk label."""
    for sentence in sentences:
        for label in sentence.labels:
            try:
                split_label(label)
            except InputError as error:
                raise SentencesError(
                    f"in the sentence that begins here: {error}", sentence.line
                ) from None
