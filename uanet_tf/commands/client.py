"""Tags sentences on a server: TF Serving's, or the local one.

    uanet client --url=http://127.0.0.1:8501 "Riverton beat Marlow 2-1."

Text is split by the model MODEL_text on the server (--text_model_name names another); words
separated by blanks (--tokens) go to MODEL itself. Without text, sentences are read from --input,
one per line; an empty line has an empty answer.
"""

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from typing import NoReturn, TextIO

from absl import flags

from uanet_lite.tagged_sentence import TaggedSentence
from uanet_lite.text_lines import STDIN, display_name, read_lines
from uanet_tf.commands import runner
from uanet_tf.errors import InputError
from uanet_tf.serving import client
from uanet_tf.serving.retrying import RetryPolicy, ServingError
from uanet_tf.tagging import terminal
from uanet_tf.text.display_width import display_width, pad, shorten

FLAGS = flags.FlagValues()
flags.DEFINE_string("url", client.URL, "http(s):// or grpc(s):// of the server.", flag_values=FLAGS)
flags.DEFINE_string("model_name", client.MODEL, "Name of the model of tokens.", flag_values=FLAGS)
flags.DEFINE_string(
    "text_model_name",
    None,
    "Name of the model of text. Default: --model_name and '_text'.",
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "tokens", False, "Words are separated by blanks: do not split them.", flag_values=FLAGS
)
flags.DEFINE_float(
    "threshold", None, "Gamma in nats, with --tokens. Default: the model's own.", flag_values=FLAGS
)
flags.DEFINE_string(
    "input", STDIN, "File of sentences, one per line; '-': standard input.", flag_values=FLAGS
)
flags.DEFINE_enum(
    "output_format",
    "pretty",
    ("pretty", "jsonl"),
    "Tables, or one JSON object per sentence.",
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "batch_size",
    client.BATCH_SIZE,
    "Most sentences in a request.",
    lower_bound=1,
    flag_values=FLAGS,
)
flags.DEFINE_float("timeout", 60.0, "Seconds to wait for an answer.", flag_values=FLAGS)
flags.DEFINE_integer(
    "retries", 3, "Further tries after a passing error.", lower_bound=0, flag_values=FLAGS
)

_MOST_COLUMNS = 32


def main(texts: list[str]) -> None:
    """Tags ``texts``, or the lines of a file or standard input, with the flags in ``FLAGS``.

    Raises:
      InputError: wrong arguments or input; the server cannot be reached, or refuses.
    """
    if FLAGS.threshold is not None and not FLAGS.tokens:
        raise InputError("--threshold goes with --tokens: the text model has only its own.")
    if texts and FLAGS.input != STDIN:
        raise InputError("Give sentences, or a file of them by --input, not both.")
    live = not texts and FLAGS.input == STDIN and sys.stdin.isatty()
    try:
        _tag(texts or _lines(FLAGS.input), live)
    except ServingError as error:
        raise InputError(str(error)) from error


def _tag(texts: Iterable[str], live: bool) -> None:
    write = _write_json if FLAGS.output_format == "jsonl" else _write_table
    with client.Client(
        FLAGS.url,
        FLAGS.model_name,
        text_model_name=FLAGS.text_model_name,
        batch_size=FLAGS.batch_size,
        timeout=FLAGS.timeout,
        retries=RetryPolicy(attempts=FLAGS.retries + 1),
    ) as server:
        done = 0
        for part in _parts(texts, 1 if live else 8 * FLAGS.batch_size):
            sentences = [text.split() for text in part] if FLAGS.tokens else part
            try:
                answers = server.tag(sentences, threshold=FLAGS.threshold)
            except ServingError as error:
                if error.sentence is None:
                    raise
                raise InputError(f"line {done + error.sentence + 1}: {error.__cause__}") from error
            done += len(part)
            for tagged in answers:
                write(sys.stdout, tagged)
            if live:
                sys.stdout.flush()


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


def _parts(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(texts)
    while part := list(itertools.islice(iterator, size)):
        yield part


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


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, arguments=True)
