"""A server's answer for one sentence."""


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
