"""``uanet calibrate``: recalibrates a trained run's confidence on a labelled file."""

import json
import sys
from typing import Annotated, Any

from uanet_tf.commands.command_flags import Flag
from uanet_tf.commands.labelled_file import LabelledFile
from uanet_tf.commands.run_flags import RunDir
from uanet_tf.config import load_config
from uanet_tf.errors import InputError, SentencesError


def calibrate(
    run_dir: RunDir,
    file: LabelledFile,
    *,
    token_column: Annotated[
        str | None,
        Flag("Column of the token: a number, from 0, or a name. Default: the run's."),
    ] = None,
    target_precision: Annotated[
        float,
        Flag(
            "Precision of the accepted entities (of tokens, where labels are not chunks), reached "
            "with a probability of 0.9; 0: nothing is marked as accepted."
        ),
    ] = 0.0,
    target_by_type: Annotated[bool, Flag("A separate threshold for each entity type.")] = False,
) -> None:
    """Recalibrates a trained run's confidence on a labelled file.

        uanet calibrate --run_dir=R --input=FILE
        uanet calibrate --run_dir=R --input=FILE --target_precision=0.95

    Training fits it to the development file. Text of another domain needs a calibration of its own:
    labelled sentences that the run was not trained on. Labels and uncertainty stay as they are.
    With --target_precision half of the file is held out to find the confidence from which entities
    are accepted. Writes model.keras and metrics.json of the run; exports have to be made again.
    """
    if not 0.0 <= target_precision < 1.0:
        raise InputError(f"--target_precision must be in [0, 1). Received: {target_precision}")
    if target_by_type and not target_precision:
        raise InputError("--target_by_type is for a target: give --target_precision.")
    sentences = file.read(load_config(run_dir), token_column)
    from uanet_tf.training.confidence_fit import recalibrate  # TensorFlow, not for --help

    try:
        report = recalibrate(
            run_dir,
            sentences,
            target_precision=target_precision,
            target_by_type=target_by_type,
        )
    except SentencesError as error:
        raise error.of_file(file.name) from None
    file.warn_of_unknown(report.pop("unknown_labels"), "counted as errors")
    before = report.pop("target_before")
    print("\n".join(_lines(report, file.name)))
    if before and not target_precision:
        print(
            f"The run's target precision of {before:g} is removed: answers have no `accepted`.",
            file=sys.stderr,
        )


def _lines(report: dict[str, Any], name_of_file: str) -> list[str]:
    """What was found, for people."""
    found = dict(report)
    acceptance = found.pop("acceptance", None)
    lines = [
        f"{name}: ECE {scores['ece_before']:.2f} % uncalibrated{_until_now(scores)}, "
        f"{scores['ece_after']:.2f} % now ({scores['size']:,} of {name_of_file})"
        for name, scores in found.items()
    ]
    if acceptance is not None:
        parts = acceptance["types"] if acceptance["by_type"] else {"all": acceptance["all"]}
        lines += [_acceptance_line(name, part) for name, part in parts.items()]
    return lines


def _until_now(scores: dict[str, Any]) -> str:
    error = scores.get("ece_until_now")
    return "" if error is None else f", {error:.2f} % until now"


def _acceptance_line(name: str, part: dict[str, Any]) -> str:
    said = f"precision {part['target']:g}, {json.dumps(name, ensure_ascii=False)}: "
    if not part["reached"]:
        best = f"; the highest that can: {part['best']:.2f}" if part["best"] else ""
        answers = f"{part['answers']:,} answer" + "s" * (part["answers"] != 1)
        return said + f"cannot be promised from {answers}, nothing is accepted{best}"
    return said + (
        f"from confidence {part['threshold']:.3f} on, {100 * part['accepted']:.1f} % of "
        f"{part['answers']:,} answers, {100 * part['precision']:.1f} % of these are right"
    )
