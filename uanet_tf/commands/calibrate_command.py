"""``uanet calibrate``: recalibrates a trained run's confidence on a labelled file."""

import json
import pathlib
import shutil
import sys
from typing import Annotated, Any

from uanet_tf.commands.command_flags import Flag
from uanet_tf.commands.labelled_file import LabelledFile
from uanet_tf.commands.run_flags import RunDir
from uanet_tf.config import load_config
from uanet_tf.errors import InputError, SentencesError, one_line


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
    output: Annotated[
        str | None,
        Flag("Directory for a copy of the run with the new calibration. Default: the run itself."),
    ] = None,
) -> None:
    """Recalibrates a trained run's confidence on a labelled file.

        uanet calibrate --run_dir=R --input=FILE
        uanet calibrate --run_dir=R --input=FILE --target_precision=0.95

    REWRITES the run, model.keras and metrics.json; with --output=DIR a copy of it, without its
    checkpoints. Exports have to be made again.

    Training fits it to the development file. Text of another domain needs a calibration of its own:
    labelled sentences that the run was not trained on. Labels and uncertainty stay as they are.
    With --target_precision half of the file is held out to find the confidence from which entities
    are accepted. Without a target nothing is written where the confidence would be worse on the
    file than it is, by its Brier score.
    """
    if not 0.0 <= target_precision < 1.0:
        raise InputError(f"--target_precision must be in [0, 1). Received: {target_precision}")
    if target_by_type and not target_precision:
        raise InputError("--target_by_type is for a target: give --target_precision.")
    sentences = file.read(load_config(run_dir), token_column)
    place = _copy(run_dir, output) if output else run_dir
    from uanet_tf.training.confidence_fit import recalibrate  # TensorFlow, not for --help

    output_is_whole = False
    try:
        report = recalibrate(
            place,
            sentences,
            target_precision=target_precision,
            target_by_type=target_by_type,
        )
        output_is_whole = True
    except SentencesError as error:
        raise error.of_file(file.name) from None
    finally:
        if output and not output_is_whole:
            shutil.rmtree(place)
    file.warn_of_unknown(report.pop("unknown_labels"), "counted as errors")
    before = report.pop("target_before")
    print("\n".join(_lines(report, file.name)))
    if output:
        print(f"{place} is a copy of {run_dir} with this calibration.")
    else:
        print(f"{run_dir} is rewritten (model.keras, metrics.json): make its exports again.")
    if before and not target_precision:
        print(
            f"The run's target precision of {before:g} is removed: answers have no `accepted`.",
            file=sys.stderr,
        )


def _copy(run_dir: str, output: str) -> str:
    """A copy of a run without what only training reads, in a directory that is new or empty."""
    place = pathlib.Path(output)
    if place.is_dir() and not any(place.iterdir()):
        place.rmdir()
    if place.exists():
        raise InputError(f"--output={output} is there already: name a new or empty directory.")
    try:
        left = shutil.ignore_patterns("checkpoints", "tensorboard", ".*")
        shutil.copytree(run_dir, place, ignore=left)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(place, ignore_errors=True)
        raise InputError(f"--output={output} cannot be written: {one_line(error)}") from error
    return output


def _lines(report: dict[str, Any], name_of_file: str) -> list[str]:
    """What was found, for people."""
    found = dict(report)
    acceptance = found.pop("acceptance", None)
    counted = "entities" if "entities" in found else "tokens"
    lines = [
        f"{name}: ECE {scores['ece_before']:.2f} % uncalibrated{_until_now(scores)}, "
        f"{scores['ece_after']:.2f} % now{_brier(scores)} ({scores['size']:,} {name} "
        f"{'found in' if name == 'entities' else 'of'} {name_of_file})"
        for name, scores in found.items()
    ]
    if found:
        lines += [
            "ECE: mean distance of the confidence from the share that is right; Brier score: mean "
            "of (confidence - right)²; 0 is best for both."
        ]
    if acceptance is not None:
        lines.append(f"Of the half of {name_of_file} that the confidence was not fitted to:")
        parts = acceptance["types"] if acceptance["by_type"] else {"all": acceptance["all"]}
        lines += [_acceptance_line(name, part, counted) for name, part in parts.items()]
    return lines


def _brier(scores: dict[str, Any]) -> str:
    said = f", Brier score {scores['brier_after']:.4f}"
    if "brier_until_now" in scores:
        said += f" ({scores['brier_until_now']:.4f} until now)"
    return said


def _until_now(scores: dict[str, Any]) -> str:
    error = scores.get("ece_until_now")
    return "" if error is None else f", {error:.2f} % until now"


def _acceptance_line(name: str, part: dict[str, Any], counted: str) -> str:
    said = f"precision {part['target']:g}, {json.dumps(name, ensure_ascii=False)}: "
    if not part["reached"]:
        best = f"; the highest that can: {part['best']:.2f}" if part["best"] else ""
        return said + (
            f"cannot be promised from {part['answers']:,} {counted} found, nothing is accepted"
            f"{best}"
        )
    return said + (
        f"from confidence {part['threshold']:.3f} on, {100 * part['accepted']:.1f} % of "
        f"{part['answers']:,} {counted} found, {100 * part['precision']:.1f} % of these are right"
    )
