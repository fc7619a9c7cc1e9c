"""Which words keep their full stop: those of a corpus, and common ones that it happens to lack."""

import collections
import itertools
import re
from collections.abc import Sequence

# Titles, forms of companies, months: of English, and of names in other languages' news.
COMMON = (
    *("Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "Rev.", "St.", "Jr.", "Sr."),
    *("Gov.", "Sen.", "Rep.", "Gen.", "Lt.", "Sgt.", "Capt."),
    *("Bros.", "Co.", "Corp.", "Inc.", "Ltd.", "vs."),
    *("Jan.", "Feb.", "Aug.", "Sept.", "Oct.", "Nov.", "Dec."),
)
_ABBREVIATION = re.compile(r"[^\W\d_][\w.-]*\.")


def abbreviations(sentences: Sequence[Sequence[str]]) -> list[str]:
    """The abbreviations of a corpus, the most frequent first, then the common ones.

    A word counts if it stands more than once, and more often with its full stop than without. A
    common one counts unless the corpus cuts it ("Corp", ".") more often than not. A corpus that
    cuts common ones as a rule, such as one of tweets, is given none that it does not show.

    Args:
      sentences: tokens of sentences.
    """
    counts = collections.Counter(token for tokens in sentences for token in tokens)
    cut = collections.Counter(
        f"{word}."
        for tokens in sentences
        for word, stop in itertools.pairwise(tokens)
        if stop == "."
    )
    shown = [
        token
        for token, count in counts.most_common()
        if count > 1 and count > counts[token[:-1]] and _ABBREVIATION.fullmatch(token)
    ]
    if sum(counts[word] for word in COMMON) < sum(cut[word] for word in COMMON):
        return shown
    known = {*shown}
    return shown + [word for word in COMMON if word not in known and counts[word] >= cut[word]]
