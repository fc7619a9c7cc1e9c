"""How many sentence ends of a file are found in its text, and how many others.

    python -m benchmarks.sentence_ends --train=FILE --data=FILE

Ten sentences at a time are written as one normal text (``uanet_lite.tokenizer.detokenize``) and
split as ``uanet tag`` does with a model of the training file. Headlines and tables end without a
full stop, and no splitter finds their ends: what a full stop, "!" or "?" closes is counted by
itself.
"""

import sys
from collections.abc import Sequence

from benchmarks.command_line import make_parser

_SENTENCES = 10


def table(train: str, data: str, language: str) -> str:
    """Sentence ends, as Markdown.

    Args:
      train: CoNLL file whose tokens decide on abbreviations, as in training.
      data: CoNLL file to split.
      language: code of its language.
    """
    from uanet_lite.columns_file import read_corpus
    from uanet_lite.raw_text import sentence_spans
    from uanet_tf.text.tokenizer_choice import choose_tokenizer

    read = [[sentence.tokens for sentence in read_corpus(path)] for path in (train, data)]
    abbreviations = choose_tokenizer(read[0]).tokenizer.abbreviations
    ends = closed = found = found_closed = wrong = 0
    for first in range(0, len(read[1]), _SENTENCES):
        text, right = _joined(read[1][first : first + _SENTENCES])
        spans = sentence_spans(text, language, abbreviations=abbreviations)
        given = {start + len(text[start:end].rstrip()) for start, end in spans}
        stopped = {end for end in right if text[:end].rstrip("\"'”’»)] ").endswith((".", "!", "?"))}
        ends, closed = ends + len(right), closed + len(stopped)
        found, found_closed = found + len(right & given), found_closed + len(stopped & given)
        wrong += len(given - right)
    return "\n".join(
        [
            "| ends | found | behind . ! ? | found | wrong |",
            "| --- " * 5 + "|",
            f"| {ends:,} | {100 * found / ends:.1f} % | {closed:,} "
            f"| {100 * found_closed / max(1, closed):.1f} % | {wrong} |",
        ]
    )


def _joined(sentences: Sequence[Sequence[str]]) -> tuple[str, set[int]]:
    """The text of sentences, and where each ends."""
    from uanet_lite.tokenizer import detokenize

    text, places = detokenize([token for tokens in sentences for token in tokens])
    ends, count = set(), 0
    for tokens in sentences:
        count += len(tokens)
        # A full stop that is not written twice has no place: the token before it has.
        ends.add(next(place[1] for place in reversed(places[:count]) if place is not None))
    return text, ends


def main() -> None:
    """Prints a table."""
    parser = make_parser("sentence_ends", __doc__)
    parser.add_argument("--train", required=True, metavar="FILE")
    parser.add_argument("--data", required=True, metavar="FILE")
    parser.add_argument("--language", default="en", help="code of its language (default: en)")
    given = parser.parse_args()
    sys.stdout.write(table(given.train, given.data, given.language) + "\n")


if __name__ == "__main__":
    main()
