"""Tagged sentences as texts with suggested marks, for annotation tools."""

from uanet_tf.annotation.annotated_text import AnnotatedText, Mark
from uanet_tf.tagging.tagged_sentence import TaggedSentence


def suggested(sentence: TaggedSentence, score: float | None = None) -> AnnotatedText:
    """The sentence with its entities as suggestions, each with its confidence.

    Args:
      sentence: of a longer text only its own part is taken.
      score: how much it is worth annotating.
    """
    begin = sentence.starts[0] if sentence.starts else 0
    end = sentence.ends[-1] if sentence.ends else 0
    places = zip(sentence.starts, sentence.ends, strict=True)
    return AnnotatedText(
        text=(sentence.text or "")[begin:end],
        marks=tuple(
            Mark(entity.start - begin, entity.end - begin, entity.type, round(entity.confidence, 6))
            for entity in sentence.entities
        ),
        tokens=tuple((first - begin, last - begin) for first, last in places),
        score=None if score is None else round(score, 6),
    )
