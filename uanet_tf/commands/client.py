"""The command line of the client: python -m serving.client."""

import argparse
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn, TextIO

from uanet_tf.commands.runner import BAD_INPUT, BROKEN_PIPE, INTERRUPTED
from uanet_tf.data.text_lines import STDIN, read_lines
from uanet_tf.errors import InputError
from uanet_tf.evaluation import terminal
from uanet_tf.serving import client
from uanet_tf.serving.answers import ServedSentence
from uanet_tf.serving.errors import ServingError
from uanet_tf.serving.retrying import RetryPolicy

_MOST_COLUMNS = 32


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message[0].upper()}{message[1:]} (see --help)")


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits.

    0: done; 2: any error, told in one sentence; 130: interrupted; 141: the reader of the output
    went away.
    """
    try:
        main(sys.argv[1:])
        sys.stdout.flush()
    except (InputError, ServingError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BROKEN_PIPE)
    sys.exit(0)


def main(arguments: list[str]) -> None:
    """Tags what the arguments say.

    Raises:
      InputError: wrong arguments or input.
      ServingError: the server cannot be reached, or refuses.
    """
    options = _parser().parse_args(arguments)
    if options.threshold is not None and not options.tokens:
        raise InputError("--threshold goes with --tokens: the text model has its own alone.")
    texts: Iterable[str] = options.text or _lines()
    write = _write_json if options.json else _write_table
    live = not options.text and sys.stdin.isatty()
    with client.Client(
        options.url,
        options.model_name,
        batch_size=options.batch_size,
        timeout=options.timeout,
        retries=RetryPolicy(attempts=options.retries + 1),
    ) as server:
        for part in _parts(texts, 1 if live else 8 * options.batch_size):
            sentences = [text.split() for text in part] if options.tokens else part
            for tagged in server.tag(sentences, threshold=options.threshold):
                write(sys.stdout, tagged)
            if live:
                sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m serving.client",
        description=client.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("text", nargs="*", help="sentences; default: lines of standard input")
    parser.add_argument("--url", default=client.URL, help="http(s):// or grpc(s):// of the server")
    parser.add_argument("--model_name", default=client.MODEL, help="name of the model of tokens")
    parser.add_argument(
        "--tokens", action="store_true", help="words are separated by blanks: do not split them"
    )
    parser.add_argument(
        "--threshold", type=float, help="Gamma in nats, with --tokens; default: the model's own"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a sentence")
    parser.add_argument(
        "--batch_size",
        type=_count(1),
        default=client.BATCH_SIZE,
        help="most sentences in a request",
    )
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds to wait for an answer")
    parser.add_argument(
        "--retries", type=_count(0), default=3, help="further tries after a passing error"
    )
    return parser


def _count(low: int) -> Callable[[str], int]:
    """A type of arguments: a whole number of at least ``low``."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of at least {low}. Received: {text}"
            )
        return int(text)

    return parse


def _lines() -> Iterator[str]:
    """Lines of standard input that are not blank.

    Raises:
      InputError: not UTF-8, or no line at all.
    """
    found = False
    for _, line in read_lines(STDIN):
        if line.strip():
            found = True
            yield line
    if not found:
        raise InputError("No text given: name it, or write it to standard input.")


def _parts(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(texts)
    while part := list(itertools.islice(iterator, size)):
        yield part


def _write_json(stream: TextIO, tagged: ServedSentence) -> None:
    stream.write(json.dumps(tagged.to_dict(), ensure_ascii=False) + "\n")


def _write_table(stream: TextIO, tagged: ServedSentence) -> None:
    """The sentence with its entities, then a line a token; a mark where the gate opened."""
    if not tagged.tokens:
        stream.write("(no words)\n\n")
        return
    tokens = [terminal.shorten(token, _MOST_COLUMNS) for token in tagged.tokens]
    width = max(map(terminal.display_width, [*tokens, "token"]))
    labels = max(map(len, [*tagged.labels, "label"]))
    mark = "●" if terminal.can_draw(stream) else "*"
    lines = [
        terminal.shorten(str(tagged), 1_000_000),
        f"    {terminal.pad('token', width)}  {'label':{labels}}  nats  confidence",
    ]
    for index, token in enumerate(tokens):
        draft, label = tagged.draft_labels[index], tagged.labels[index]
        row = (
            f"  {mark if tagged.refined[index] else ' '} {terminal.pad(token, width)}  "
            f"{label:{labels}}  {tagged.uncertainty[index]:4.2f}  {tagged.confidence[index]:10.2f}"
        )
        lines.append(row if draft == label else f"{row}  draft {draft}")
    for entity in tagged.entities:
        lines.append(f"    {entity.type} {entity.start}-{entity.end} {entity.text!r}")
    stream.write("\n".join(lines) + "\n\n")
