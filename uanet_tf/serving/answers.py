"""What a server says of one sentence."""

import dataclasses
from typing import Any, NamedTuple

from uanet_tf.tagging.tagged_sentence import TaggedSentence


class Entity(NamedTuple):
    """A labelled stretch of a text.

    Attributes:
      type: such as "ORG".
      start: first character in the text.
      end: the character after its last.
      text: ``text[start:end]`` of the sentence.
      first_token: position of its first token.
      end_token: position of the token after its last.
    """

    type: str
    start: int
    end: int
    text: str
    first_token: int
    end_token: int


@dataclasses.dataclass(frozen=True, repr=False)
class ServedSentence(TaggedSentence):
    """A tagged sentence and where its tokens stand in its text.

    Attributes:
      text: the text given; of a list of words, the words joined by single blanks.
      starts: first character of each token in ``text``.
      ends: the character after the last of each token.
    """

    text: str = ""
    starts: list[int] = dataclasses.field(default_factory=list)
    ends: list[int] = dataclasses.field(default_factory=list)

    @property
    def entities(self) -> list[Entity]:
        """Labelled stretches with character offsets; [] where labels are no chunks."""
        found = []
        for span in self.spans:
            start, end = self.starts[span.start], self.ends[span.end - 1]
            text = self.text[start:end]
            found.append(Entity(span.type, start, end, text, span.start, span.end))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; offsets count characters."""
        return {
            "text": self.text,
            **super().to_dict(),
            "starts": list(self.starts),
            "ends": list(self.ends),
            "entities": [entity._asdict() for entity in self.entities],
        }


def joined_offsets(tokens: list[str]) -> tuple[str, list[int], list[int]]:
    """Tokens joined by single blanks, and first and end character of each."""
    starts, ends, position = [], [], 0
    for token in tokens:
        starts.append(position)
        position += len(token)
        ends.append(position)
        position += 1
    return " ".join(tokens), starts, ends


def character_offsets(text: str, offsets: list[int]) -> list[int]:
    """Byte offsets into the UTF-8 form of ``text`` as character offsets.

    An offset inside a character is that character's.
    """
    if text.isascii():
        return list(offsets)
    character_of: list[int] = []
    for position, character in enumerate(text):
        character_of += [position] * len(character.encode("utf-8"))
    character_of.append(len(text))
    return [character_of[min(offset, len(character_of) - 1)] for offset in offsets]
