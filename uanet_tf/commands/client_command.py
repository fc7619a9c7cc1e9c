"""``uanet client``: tags sentences on a server."""

import dataclasses
import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from uanet_lite.answers import to_json
from uanet_lite.tagged_sentence import TaggedSentence, TaggedTexts
from uanet_lite.text_lines import STDIN, display_name, read_lines
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.row_source import TextFlags
from uanet_tf.errors import InputError
from uanet_tf.serving.client import BATCH_SIZE, MODEL, URL, Client, Sentence
from uanet_tf.serving.retrying import RetryPolicy, ServingError
from uanet_tf.tagging import terminal


def client(
    texts: list[str],
    text: TextFlags,
    *,
    url: str = flag(URL, "http(s):// or grpc(s):// of the server."),
    model_name: str = flag(MODEL, "Name of the model of tokens."),
    text_model_name: str | None = flag(
        None, "Name of the model of text. Default: --model_name and '_text'."
    ),
    tokens: bool = flag(False, "Words are separated by blanks: do not split them."),
    threshold: float | None = flag(None, "Gamma in nats. Default: the model's own."),
    input: str = flag(STDIN, "File of sentences, one per line; '-': standard input."),
    output_format: str = flag(
        "pretty", "Tables, or one JSON object per sentence.", ("pretty", "jsonl")
    ),
    batch_size: int = flag(BATCH_SIZE, "Maximum number of sentences in a request.", at_least=1),
    timeout: float = flag(60.0, "Seconds to wait for an answer."),
    retries: int = flag(3, "Retries after a temporary error.", at_least=0),
) -> None:
    """Tags sentences on a server: TF Serving's, or the local one.

        uanet client --url=http://127.0.0.1:8501 "Riverton beat Marlow 2-1."

    Text is cut into tokens by the model MODEL_text on the server (--text_model_name names another);
    words separated by blanks (--tokens) go to MODEL itself. Without text, sentences are read from
    --input, one per line; an empty line has an empty answer.
    """
    if texts and input != STDIN:
        raise InputError("Give sentences, or a file of them by --input, not both.")
    live = not texts and input == STDIN and sys.stdin.isatty()
    color, draw = terminal.wants_color(sys.stdout), terminal.can_draw(sys.stdout)
    printer = terminal.SentencePrinter(threshold, color=color, draw=draw)
    try:
        with Client(
            url,
            model_name,
            text_model_name=text_model_name,
            batch_size=batch_size,
            timeout=timeout,
            retries=RetryPolicy(attempts=retries + 1),
        ) as server:
            lines = texts or _lines(input)
            sentences = (line.split() if tokens else line for line in lines)
            options: dict[str, Any] = {"threshold": threshold, **dataclasses.asdict(text)}
            for tagged in _tag(server, sentences, options, 1 if live else 8 * batch_size):
                if output_format == "jsonl":
                    sys.stdout.write(json.dumps(to_json(tagged), ensure_ascii=False) + "\n")
                else:
                    said = printer.render(tagged) if tagged.tokens else "  (no words)"
                    sys.stdout.write(f"{said}\n\n")
                if live:
                    sys.stdout.flush()
    except ServingError as error:
        raise InputError(str(error)) from error


def _tag(
    server: Client, sentences: Iterable[Sentence], options: dict[str, Any], size: int
) -> Iterator[TaggedSentence]:
    """The answers, asked for in parts of ``size`` lines."""
    done, remaining = 0, iter(sentences)
    while part := list(itertools.islice(remaining, size)):
        try:
            found = server.tag(part, **options)
            yield from itertools.chain(*found) if isinstance(found, TaggedTexts) else found
        except ServingError as error:
            if error.sentence is None:
                raise
            raise InputError(f"line {done + error.sentence + 1}: {error.__cause__}") from error
        done += len(part)


def _lines(path: str) -> Iterator[str]:
    """Lines of a file; InputError: it cannot be read, is not UTF-8, or has no line at all."""
    found = False
    for _, line in read_lines(path):
        found = True
        yield line
    if not found:
        raise InputError(f"{display_name(path)}: no text given, not even an empty line.")
