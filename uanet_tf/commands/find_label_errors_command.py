"""``uanet find_label_errors``: labels of a file that are probably wrong."""

import collections
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

from uanet_lite.atomic_file import open_output
from uanet_lite.printable import printable
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import Span, detect_scheme
from uanet_lite.text_lines import display_name
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.labelled_file import read_and_tell
from uanet_tf.commands.setting_flags import SettingFlags, Settings
from uanet_tf.config import iter_options
from uanet_tf.errors import InputError
from uanet_tf.evaluation.label_errors import (
    KINDS,
    LabelDoubt,
    doubts_page,
    find_doubts,
    surest_first,
)
from uanet_tf.formats.table import Reading
from uanet_tf.text.display_width import shorten

# Not passed on to the folds, which have files of their own.
_OURS = ("train_path", "dev_path", "token_column", "label_column", "data_format", "label_names")
_AROUND = 5  # tokens shown on either side
_TOKEN_COLUMNS = 32


def find_label_errors(
    *,
    run_dir: str = flag(None, "Directory of the folds' runs (required).", required=""),
    settings: Annotated[Settings, SettingFlags()],
    folds: int = flag(4, "Number of folds: as many taggers are trained.", at_least=2, at_most=100),
    top: int = flag(20, "Number of places to show in the terminal.", at_least=0),
    kinds: Sequence[str] = flag(
        KINDS,
        f"Kinds of errors to show and write, of {', '.join(KINDS)}. Missed and spurious "
        "entities rank below others of the same probability, since most are the tagger's own "
        "errors: name a kind to see it alone.",
    ),
    output: str | None = flag(None, "JSON lines to write, one for each place."),
    html: str | None = flag(None, "HTML page to write."),
) -> None:
    r"""Finds labels of a file that are probably wrong.

        uanet find_label_errors --recipe=fast --train_path=A --run_dir=R \
            --html=doubts.html
        uanet find_label_errors --recipe=fast --epochs=5 --train_path=A --folds=4 \
            --run_dir=R --output=F

    Cross-validation: for each fold a tagger is trained on the others, and its predictions are
    compared with the fold's labels; the places where it is surest of another label come first.
    Takes the flags of train. The runs are R/foldN: those that are complete are not trained again,
    one that was stopped continues.
    """
    data = settings.config.data
    if not data.train_path:
        raise InputError("--train_path is required.")
    if data.test_path:
        raise InputError(f"--test_path is not read. Received: {data.test_path}")
    if not kinds or not set(kinds) <= set(KINDS):
        raise InputError(f"--kinds must be of {', '.join(KINDS)}. Received: {','.join(kinds)}")
    if output and html and os.path.realpath(output) == os.path.realpath(html):
        raise InputError(f"--output and --html must be different files. Received: {html}")
    reading = Reading.of_settings(data)
    sentences = read_and_tell(data.train_path, reading)
    dev = read_and_tell(data.dev_path, reading) if data.dev_path else []
    name = display_name(data.train_path)
    with contextlib.ExitStack() as stack:
        # Before the work: it may not be possible.
        lines, page = (
            stack.enter_context(open_output(path)) if path else None for path in (output, html)
        )
        doubts = _doubts(run_dir, settings, sentences, dev, folds)
        found = surest_first(doubt for doubt in doubts if doubt.kind in kinds)
        if lines is not None:
            for rank, doubt in enumerate(found, 1):
                record = {"rank": rank, **doubt.to_dict()}
                lines.write(json.dumps(record, ensure_ascii=False) + "\n")
        if page is not None:
            page.write(doubts_page(found, name))
    sys.stdout.write(_doubts_table(found, name, top))


def _doubts(
    run_dir: str,
    settings: Settings,
    sentences: Sequence[Sentence],
    dev: Sequence[Sentence],
    folds: int,
) -> Iterator[LabelDoubt]:
    """The places of all folds, each judged by the tagger that has not seen it."""
    import uanet_tf  # TensorFlow, not for --help
    from uanet_tf.commands.training_runs import train_folds

    config = settings.config
    values = {field.name: value for _, field, value in iter_options(config)}
    typed = sorted(settings.given - set(_OURS))
    given = [f"--{name}={values[name]}" for name in typed]
    scheme = None if config.data.task == "pos" else detect_scheme(s.labels for s in sentences)
    runs = train_folds(run_dir, config, sentences, folds=folds, dev=dev, given=given)
    for fold, (fold_dir, unseen) in enumerate(runs, 1):
        model = uanet_tf.load_model(str(fold_dir), return_probabilities=True)
        yield from find_doubts(model, [sentences[k] for k in unseen], scheme, fold)


def _doubts_table(doubts: Sequence[LabelDoubt], name: str, top: int) -> str:
    """The first places, two lines each: what the file says and what the tagger says, in context."""
    counts = collections.Counter(doubt.kind for doubt in doubts)
    told = ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind])
    likeliest = f" (likeliest: {told})" if told else ""
    lines = [f"{len(doubts):,} places of {name} where file and tagger differ{likeliest}."]
    if doubts and top:
        lines.append("rank  probability  line: in the file, then predicted")
    for rank, doubt in enumerate(doubts[:top], 1):
        texts = [_in_context(doubt, spans) for spans in (doubt.given, doubt.predicted)]
        lines += [
            f"{rank:4}  {doubt.given_probability:11.2g}  {doubt.sentence.line}: {texts[0]}",
            f"{'':4}  {doubt.predicted_probability:11.2g}  "
            f"{'':{len(str(doubt.sentence.line)) + 1}} {texts[1]}",
        ]
    return "\n".join(lines) + "\n"


def _in_context(doubt: LabelDoubt, spans: Sequence[Span]) -> str:
    """``He left [ORG Real Madrid] yesterday``: the stretch in doubt, its spans in brackets."""
    tokens = [shorten(token, _TOKEN_COLUMNS) for token in doubt.sentence.tokens]
    first, last = max(0, doubt.start - _AROUND), doubt.end + _AROUND
    pieces, position = (["..."] if first else []), first
    for span in spans:
        pieces += tokens[position : span.start]
        inside = " ".join(tokens[span.start : span.end])
        pieces.append(f"[{printable(span.type)} {inside}]")
        position = span.end
    pieces += tokens[position:last]
    return " ".join([*pieces, "..."] if last < len(tokens) else pieces)
