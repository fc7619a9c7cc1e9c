"""Which label was given where the file has which."""

from collections import Counter
from typing import NamedTuple

from uanet_lite import tag_schemes
from uanet_tf.metrics.scoring import Labels

OTHER = "(other)"


class Confusion(NamedTuple):
    """Counts of tokens.

    Attributes:
      names: labels, or types of entities and "O"; the most frequent of the file first.
      counts: [gold][given], in the order of ``names``.
    """

    names: list[str]
    counts: list[list[int]]


def confusion(gold: Labels, given: Labels, *, task: str, most: int = 15) -> Confusion:
    """Counts tokens by the label of the file and the label given.

    Args:
      gold: labels of the file, a sequence for each sentence.
      given: labels of the tagger for the same tokens.
      task: "ner": the types of the tokens' labels are compared, without their letters; "pos".
      most: rows; what is rarer in both is counted as ``OTHER``.
    """

    def name(label: str) -> str:
        if task == "pos":
            return label
        letter, span_type = tag_schemes.split_label(label)
        return span_type or letter

    pairs = Counter(
        (name(left), name(right))
        for rows in zip(gold, given, strict=True)
        for left, right in zip(*rows, strict=True)
    )
    sizes: Counter[str] = Counter()
    for pair, count in pairs.items():
        for each in pair:
            sizes[each] += count
    names = [each for each, _ in sizes.most_common(most)]
    if len(sizes) > most:
        names[-1] = OTHER
    row = {each: index for index, each in enumerate(names)}
    counts = [[0] * len(names) for _ in names]
    for (left, right), count in pairs.items():
        counts[row.get(left, len(names) - 1)][row.get(right, len(names) - 1)] += count
    return Confusion(names, counts)
