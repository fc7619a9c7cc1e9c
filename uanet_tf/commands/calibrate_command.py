"""``uanet calibrate``: recalibrates a trained run's confidence on a labelled file."""

import json
import pathlib
import shutil
import sys
from typing import Any

from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.labelled_file import LabelledFile
from uanet_tf.commands.run_flags import RUN_DIR
from uanet_tf.config import load_config
from uanet_tf.errors import InputError, SentencesError, one_line
from uanet_tf.resources.shipped import FOLDER, find_run
from uanet_tf.text.display_width import align


def calibrate(
    *,
    run_dir: str = RUN_DIR,
    file: LabelledFile,
    token_column: str | None = flag(
        None, "Column of the token: a number, from 0, or a name. Default: the run's."
    ),
    target_precision: float = flag(
        0.0,
        "Precision of the accepted entities (of tokens, where labels are not chunks), reached "
        "with a probability of 0.9; 0: nothing is marked as accepted.",
    ),
    target_recall: float = flag(
        0.0,
        "Share of a text's entities that is among those given (accepted, with --target_precision) "
        "and the candidates (--return_candidates), reached with a probability of 0.9; 0: none is "
        "promised.",
    ),
    target_by_type: bool = flag(
        False,
        "Promise the targets for each type by itself, each with a threshold of its own. A target "
        "recall is refused where one type cannot have it.",
    ),
    output: str | None = flag(
        None, "Directory for a copy of the run with the new calibration. Default: the run itself."
    ),
) -> None:
    """Recalibrates a trained run's confidence on a labelled file.

        uanet calibrate --run_dir=R --input=FILE
        uanet calibrate --run_dir=R --input=FILE --target_precision=0.95
        uanet calibrate --run_dir=R --input=FILE --target_recall=0.95

    REWRITES the run, model.keras and metrics.json; with --output=DIR a copy of it, without its
    checkpoints. Exports have to be made again.

    Training fits it to the development file. Text of another domain needs a calibration of its own:
    labelled sentences that the run was not trained on. Labels and uncertainty stay as they are.
    With a target half of the file is held out to find the confidence from which entities are
    accepted, and the probability from which spans are candidates. It holds for text that could as
    well have been in the file; both targets together hold with a probability of 0.9. Prints what
    candidates cost: how many a person looks at. Without a target nothing is written where the
    confidence would be worse on the file than it is, by its Brier score.
    """
    targets = {"target_precision": target_precision, "target_recall": target_recall}
    for name, target in targets.items():
        if not 0.0 <= target < 1.0:
            raise InputError(f"--{name} must be in [0, 1). Received: {target}")
    if target_by_type and not any(targets.values()):
        raise InputError(
            "--target_by_type is for a target: give --target_precision or --target_recall."
        )
    run_dir, name = str(find_run(run_dir)), run_dir
    if pathlib.Path(run_dir).parent == FOLDER and not output:
        raise InputError(f"--run_dir={name} comes with the package: give --output=DIR for a copy.")
    sentences = file.read(load_config(run_dir), token_column)
    place = _copy(run_dir, output) if output else run_dir
    from uanet_tf.training.confidence_fit import recalibrate  # TensorFlow, not for --help

    output_is_whole = False
    try:
        report = recalibrate(place, sentences, **targets, target_by_type=target_by_type)
        output_is_whole = True
    except SentencesError as error:
        raise error.of_file(file.name) from None
    finally:
        if output and not output_is_whole:
            shutil.rmtree(place)
    file.warn_of_unknown(report.pop("unknown_labels"), "counted as errors")
    lost = report.pop("targets_before")
    print("\n".join(_lines(report, file.name)))
    if output:
        print(f"{place} is a copy of {run_dir} with this calibration.")
    else:
        print(f"{run_dir} is rewritten (model.keras, metrics.json): make its exports again.")
    for name, target in lost.items():
        told = "answers have no `accepted`" if name == "precision" else "none is promised"
        print(f"The run's target {name} of {target:g} is removed: {told}.", file=sys.stderr)


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
    acceptance, candidates = found.pop("acceptance", None), found.pop("candidates", None)
    counted = "entities" if "entities" in found else "tokens"
    lines = []
    for name, scores in found.items():
        said = f"{name}: ECE {scores['ece_before']:.2f} % uncalibrated"
        if scores.get("ece_until_now") is not None:
            said += f", {scores['ece_until_now']:.2f} % until now"
        said += f", {scores['ece_after']:.2f} % now, Brier score {scores['brier_after']:.4f}"
        if "brier_until_now" in scores:
            said += f" ({scores['brier_until_now']:.4f} until now)"
        of = "found in" if name == "entities" else "of"
        lines.append(f"{said} ({scores['size']:,} {name} {of} {name_of_file})")
    if found:
        lines.append(
            "ECE: mean distance of the confidence from the share that is right; Brier score: mean "
            "of (confidence - right)²; 0 is best for both."
        )
    if acceptance is not None:
        lines.append(f"Of the half of {name_of_file} that the confidence was not fitted to:")
        parts = acceptance["types"] if acceptance["by_type"] else {"all": acceptance["all"]}
        lines += [_acceptance_line(name, part, counted) for name, part in parts.items()]
    if candidates is not None:
        lines += _candidate_lines(candidates)
    return lines


def _candidate_lines(found: dict[str, Any]) -> list[str]:
    """What was found of candidates, and what they cost."""
    from uanet_tf.metrics.target_recall import cost_rows  # NumPy

    lines = []
    if "target" in found:
        parts = found["types"] if found["by_type"] else {"all": found["all"]}
        for name, part in parts.items():
            lines.append(
                f"recall {part['target']:g}, {json.dumps(name, ensure_ascii=False)}: candidates "
                f"from probability {part['threshold']:.4f} on, {100 * part['recall']:.1f} % of "
                f"{part['entities']:,} entities are given or candidates"
            )
        if found["by_type"]:
            cost = found["cost"]
            lines.append(
                f"all types: {100 * cost['recall']:.1f} % of the entities are shown, "
                f"{cost['per_1000']:.1f} spans are to be looked at per 1,000 tokens, "
                f"{cost['per_entity']:.2f} per entity; with one threshold for all types:"
            )
    return lines + align(cost_rows(found), left=0)


def _acceptance_line(name: str, part: dict[str, Any], counted: str) -> str:
    said = f"precision {part['target']:g}, {json.dumps(name, ensure_ascii=False)}: "
    found = f"{part['answers']:,} {counted} found"
    if not part["reached"]:
        best = f"; the highest that can: {part['best']:.2f}" if part["best"] else ""
        return f"{said}cannot be promised from {found}, nothing is accepted{best}"
    return (
        f"{said}from confidence {part['threshold']:.3f} on, {100 * part['accepted']:.1f} % of "
        f"{found}, {100 * part['precision']:.1f} % of these are right"
    )
