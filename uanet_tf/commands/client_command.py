"""``uanet client``: tags sentences on a server."""

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, TextIO

from uanet_lite.tagged_sentence import TaggedSentence
from uanet_lite.text_lines import STDIN, display_name, read_lines
from uanet_tf.commands.command_flags import Flag
from uanet_tf.errors import InputError
from uanet_tf.serving.client import BATCH_SIZE, MODEL, URL, Client, Sentence
from uanet_tf.serving.retrying import RetryPolicy, ServingError
from uanet_tf.tagging import terminal
from uanet_tf.text.display_width import display_width, pad, shorten

_MOST_COLUMNS = 32


def client(
    texts: list[str],
    *,
    url: Annotated[str, Flag("http(s):// or grpc(s):// of the server.")] = URL,
    model_name: Annotated[str, Flag("Name of the model of tokens.")] = MODEL,
    text_model_name: Annotated[
        str | None, Flag("Name of the model of text. Default: --model_name and '_text'.")
    ] = None,
    tokens: Annotated[bool, Flag("Words are separated by blanks: do not split them.")] = False,
    threshold: Annotated[
        float | None, Flag("Gamma in nats, with --tokens. Default: the model's own.")
    ] = None,
    input: Annotated[str, Flag("File of sentences, one per line; '-': standard input.")] = STDIN,
    output_format: Annotated[
        str, Flag("Tables, or one JSON object per sentence.", ("pretty", "jsonl"))
    ] = "pretty",
    batch_size: Annotated[
        int, Flag("Maximum number of sentences in a request.", at_least=1)
    ] = BATCH_SIZE,
    timeout: Annotated[float, Flag("Seconds to wait for an answer.")] = 60.0,
    retries: Annotated[int, Flag("Retries after a temporary error.", at_least=0)] = 3,
) -> None:
    """Tags sentences on a server: TF Serving's, or the local one.

        uanet client --url=http://127.0.0.1:8501 "Riverton beat Marlow 2-1."

    Text is split by the model MODEL_text on the server (--text_model_name names another); words
    separated by blanks (--tokens) go to MODEL itself. Without text, sentences are read from
    --input, one per line; an empty line has an empty answer.
    """
    if threshold is not None and not tokens:
        raise InputError("--threshold goes with --tokens: the text model has only its own.")
    if texts and input != STDIN:
        raise InputError("Give sentences, or a file of them by --input, not both.")
    live = not texts and input == STDIN and sys.stdin.isatty()
    write = _write_json if output_format == "jsonl" else _write_table
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
            for tagged in _tag(server, sentences, threshold, 1 if live else 8 * batch_size):
                write(sys.stdout, tagged)
                if live:
                    sys.stdout.flush()
    except ServingError as error:
        raise InputError(str(error)) from error


def _tag(
    server: Client, sentences: Iterable[Sentence], threshold: float | None, size: int
) -> Iterator[TaggedSentence]:
    """The answers, asked for in parts of ``size`` sentences."""
    done, remaining = 0, iter(sentences)
    while part := list(itertools.islice(remaining, size)):
        try:
            yield from server.tag(part, threshold=threshold)
        except ServingError as error:
            if error.sentence is None:
                raise
            raise InputError(f"line {done + error.sentence + 1}: {error.__cause__}") from error
        done += len(part)


def _lines(path: str) -> Iterator[str]:
    """Lines of a file.

    Raises:
      InputError: it cannot be read, is not UTF-8, or has no line at all.
    """
    found = False
    for _, line in read_lines(path):
        found = True
        yield line
    if not found:
        raise InputError(f"{display_name(path)}: no text given, not even an empty line.")


def _write_json(stream: TextIO, tagged: TaggedSentence) -> None:
    stream.write(json.dumps(tagged.to_dict(), ensure_ascii=False) + "\n")


def _write_table(stream: TextIO, tagged: TaggedSentence) -> None:
    """The sentence with its entities, then a line a token; a mark where the gate opened."""
    if not tagged.tokens:
        stream.write("(no words)\n\n")
        return
    tokens = [shorten(token, _MOST_COLUMNS) for token in tagged.tokens]
    width = max(map(display_width, [*tokens, "token"]))
    labels = max(map(len, [*tagged.labels, "label"]))
    mark = "●" if terminal.can_draw(stream) else "*"
    lines = [
        shorten(str(tagged), 1_000_000),
        f"    {pad('token', width)}  {'label':{labels}}  nats  confidence",
    ]
    for index, token in enumerate(tokens):
        draft, label = tagged.draft_labels[index], tagged.labels[index]
        row = (
            f"  {mark if tagged.refined[index] else ' '} {pad(token, width)}  "
            f"{label:{labels}}  {tagged.uncertainty[index]:4.2f}  {tagged.confidence[index]:10.2f}"
        )
        lines.append(row if draft == label else f"{row}  draft {draft}")
    for entity in tagged.entities:
        lines.append(
            f"    {entity.type} {entity.start}-{entity.end} {entity.text!r} {entity.confidence:.2f}"
        )
    stream.write("\n".join(lines) + "\n\n")
