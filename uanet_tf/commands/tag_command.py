"""``uanet tag``: sentences with the labels of a trained run, or of a TensorFlow Lite file."""

import contextlib
import dataclasses
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO

from uanet_lite import row_output
from uanet_lite.answers import IN_TEXT, answers
from uanet_lite.atomic_file import STDOUT, open_output
from uanet_lite.printable import printable
from uanet_lite.row_multiple import ROW_MULTIPLE
from uanet_lite.row_output import Write
from uanet_lite.rows import Row
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_lite.text_lines import GZIP_MAGIC
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.row_source import InputFile, bursts
from uanet_tf.commands.run_flags import TaggerFlags
from uanet_tf.commands.runner import PARTLY
from uanet_tf.errors import InputError
from uanet_tf.metrics.run_metrics import read_run_metrics
from uanet_tf.tagging import streams, terminal
from uanet_tf.tagging.masked_text import masking_writer
from uanet_tf.tagging.monitor import (
    BLOCK,
    FALSE_ALARMS,
    Reference,
    StreamMonitor,
    known_words,
    sentence_facts,
)
from uanet_tf.tagging.streams import tag_rows

_FORMATS = (*row_output.FORMATS, "pretty")
_WATCHED = (
    "Say on stderr when the input is no longer like the run's development data (uncertainty, "
    f"unknown words, labels), after each {BLOCK} sentences; an alarm without a shift has a "
    f"probability of at most {FALSE_ALARMS:g}, however long the input is. From then on the run's "
    'target precision and recall are not promised, and JSON has "promise": false.'
)


def tag(
    tagger: TaggerFlags,
    file: InputFile,
    *,
    monitor: bool = flag(False, _WATCHED),
    output: str = flag(STDOUT, "File to write; '-': standard output."),
    output_format: str | None = flag(
        None, "Format of the output. Default: jsonl for jsonl input, else conll.", _FORMATS
    ),
    uncertainty_columns: bool = flag(
        False,
        "CoNLL output: also write draft label and uncertainty (nats), before the label; of a "
        "run with a target precision also 1 where the label is accepted, else 0.",
    ),
    mask: bool = flag(
        False,
        "Write the text with [PER] and the like in place of all entities (with a target "
        "precision of the accepted ones) and candidates, as lines of text, of JSON for JSON, "
        "whose other keys stay as they are. Of a run with a --target_recall that share of the "
        "text's entities is masked, with a probability of 0.9, in text like its development file; "
        "no more is promised.",
    ),
    progress: bool | None = flag(
        None,
        "Show a progress bar on stderr. Default: if stderr is a terminal and the output is not.",
    ),
) -> int:
    """Tags sentences with a trained run, or with a TensorFlow Lite file.

        uanet tag --run_dir=R --input=FILE --output=FILE
        uanet tag --model=NAME.tflite --input=FILE --output=FILE

    Reads CoNLL, JSON lines ({"text": "..."} or {"tokens": [...]}), plain text (one sentence or
    paragraph per line; tokens: words between blanks) and writes one answer for each row, in the
    order of the input, in constant memory; at once when the input pauses, unless sentences of
    columns are read with their document, which may go on. A line of JSON that cannot be tagged gets
    an "error" as its answer, and the exit code is 1 at the end.

    Output formats:
      conll   the input's columns and the label as last column (for conlleval)
      jsonl   the input's keys and text, tokens, starts, ends (characters), labels,
              draft_labels, refined, uncertainty (nats), confidence, entities (text,
              type, start, end in characters, token_start, token_end, confidence,
              uncertainty); unless the row is one sentence, sentences: the tokens of
              each, [[first, after the last], ...]; of a run with a target precision
              also accepted, and what --return_... flags ask for, of tokens and,
              where they have it, of entities; candidates (as entities, but with a
              probability in place of scores); after an alarm of --monitor, of a run
              with a target, "promise": false
      pretty  for the terminal: draft label, uncertainty, final label of each token
    """
    tagger.check_output(output, *filter(None, [tagger.model]))
    _check_format(output_format, tagger, uncertainty_columns)
    kind, rows = file.open(tagger.column())
    output_format = output_format or ("jsonl" if kind == "jsonl" else "text" if mask else "conll")
    _check_format(output_format, tagger, uncertainty_columns)
    if mask:
        if output_format not in ("text", "jsonl"):
            raise InputError(
                f"--mask writes text, or JSON lines. Received: --output_format={output_format}"
            )
        if tagger.model is not None:
            raise InputError("--mask needs --run_dir: a .tflite file gives no candidates.")
    # No output format shows refined labels of certain tokens, so they are not computed.
    model = tagger.load()
    if mask:
        model.return_candidates = True
        if "recall" not in model.targets:
            why = "the run has no target recall (uanet calibrate --target_recall=0.95)"
            print(f"No recall is promised: {why}.", file=sys.stderr)
    if tagger.model is None:
        from uanet_tf.ops.devices import gpu_text  # TensorFlow is loaded by now

        if said := gpu_text():
            print(f"tagging on {said}", file=sys.stderr)
    cut = file.text.cutter(file.input, kind, model.tokenizer)
    watch = _ShiftWatch(tagger.run_dir, model) if monitor else None
    if progress is None:
        progress = sys.stderr.isatty() and not (output == STDOUT and sys.stdout.isatty())
    errors = 0
    with open_output(output) as stream, _progress(file.input, progress) as advance:
        if mask:
            write = masking_writer(output_format, stream)
        elif output_format == "pretty":
            write = _pretty_writer(stream, model.threshold)
        else:
            write = row_output.make_writer(
                output_format,
                stream,
                uncertainty_columns=uncertainty_columns,
                optional_answers=model.optional_answers,
            )
        for part in _parts(file, map(cut, rows), model, kind):
            # Somebody waits for the answers to a few lines that came by themselves; else the bytes
            # are the same, however the input is cut into parts. TensorFlow Lite reads single rows.
            is_awaited = isinstance(part, list) and len(part) < ROW_MULTIPLE
            fill = tagger.model is None and not is_awaited
            for row, tagged in tag_rows(model, part, fill_rows=fill, **tagger.sizes):
                if watch and watch.withdraws:
                    row = dataclasses.replace(row, fields=row.fields | {"promise": False})
                write(row, tagged)
                if watch:
                    watch.add(tagged)
                errors += file.tell_error(row)
                advance(row.line)
            stream.flush()
    if watch:
        watch.tell_end()
    return PARTLY if errors else 0


def _check_format(kind: str | None, tagger: TaggerFlags, uncertainty_columns: bool) -> None:
    """Raises InputError for flags that go with another format of the output; None: not known."""
    if uncertainty_columns and kind not in (None, "conll"):
        raise InputError(f"--uncertainty_columns goes with --output_format=conll. Received: {kind}")
    for answer in answers(IN_TEXT, optional=True):
        if tagger.options.get(answer.needs) and kind not in (None, "jsonl"):
            raise InputError(f"--{answer.needs} goes with --output_format=jsonl. Received: {kind}")


def _parts(file: InputFile, rows: Iterator[Row], model: Any, kind: str) -> Iterator[Iterable[Row]]:
    """The rows in one list; of input that may pause, what has arrived without a pause."""
    # A document is read whole, however long it takes to come. A line of JSON or text is a document.
    is_alone = kind != "conll" or model.context == model.refiner_context == "sentence"
    if file.may_pause() and is_alone:
        yield from bursts(rows, streams.WINDOW_SENTENCES)
    else:
        yield rows


@contextlib.contextmanager
def _progress(path: str, shown: bool) -> Iterator[Callable[[int], object]]:
    """A progress bar over the lines of the input; gives the function that takes a line number."""
    if not shown:
        yield lambda line: None
        return
    import tqdm

    with tqdm.tqdm(total=_count_lines(path), unit=" lines", file=sys.stderr) as bar:
        yield lambda line: bar.update(line - bar.n)
        if bar.total is not None:
            bar.update(bar.total - bar.n)


def _count_lines(path: str) -> int | None:
    """Lines of a plain file; None where counting them would consume or unpack it."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as stream:
        if stream.peek(2)[:2] == GZIP_MAGIC:
            return None
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def _pretty_writer(stream: TextIO, threshold: float | None) -> Write:
    color, draw = terminal.wants_color(stream), terminal.can_draw(stream)
    printer = terminal.SentencePrinter(threshold, color=color, draw=draw)

    def write(row: Row, answers: Sequence[TaggedSentence]) -> None:
        for answer in answers:
            stream.write(printer.render(answer) + "\n\n")
        if not answers:
            stream.write(f"  ({row.error or 'no words'})\n\n")

    return write


class _ShiftWatch:
    """Says on stderr when answers are no longer like those for the run's development data.

    Raises InputError where there is nothing to compare with, as for a .tflite file: no ``run_dir``.
    """

    def __init__(self, run_dir: str | None, model: Any) -> None:
        if run_dir is None:
            raise InputError("--monitor needs --run_dir: a .tflite file has no development data.")
        path = pathlib.Path(run_dir, "metrics.json")
        values = read_run_metrics(path).get("monitoring")
        if values is None:
            advice = f"`uanet calibrate --run_dir={run_dir} --input=FILE` adds it."
            raise InputError(f"{path} has no 'monitoring', which --monitor compares with: {advice}")
        try:
            reference = Reference.from_dict(values)
        except InputError as error:
            raise InputError(f"{path} cannot be read as the metrics of a run: {error}") from None
        self._monitor = StreamMonitor(reference)
        self._known = known_words(model)
        self._targets = model.targets

    @property
    def withdraws(self) -> bool:
        """Whether what the run promises does not hold any longer."""
        return bool(self._targets and self._monitor.shifts)

    def add(self, sentences: Sequence[TaggedSentence]) -> None:
        """Takes answers; tells of the first alarm."""
        for sentence in sentences:
            given = (sentence.tokens, sentence.labels, sentence.uncertainty)
            chunks = sentence.scheme is not None
            facts = sentence_facts(*given, chunks=chunks, known=self._known)
            if facts is not None and (found := self._monitor.add(facts)):
                told = "; ".join(printable(str(shift)) for shift in found[:3])
                print(f"shift after {found[0].seen:,} sentences: {told}", file=sys.stderr)
                if self._targets:
                    targets = " and ".join(f"{n} of {t:g}" for n, t in self._targets.items())
                    effect = 'answers in JSON have "promise": false from here on'
                    print(f"the promised {targets} no longer holds: {effect}", file=sys.stderr)

    def tell_end(self) -> None:
        """Says that there was no alarm, if there was none, or too little to look at."""
        seen, first = self._monitor.seen, f"the first is after {BLOCK} sentences"
        if seen < BLOCK:
            print(f"no look for a shift: {first}, and there are {seen}", file=sys.stderr)
        elif not self._monitor.shifts:
            print(f"no shift seen in {seen:,} sentences", file=sys.stderr)
