"""``uanet export``: a run for TF Serving or TensorFlow Lite."""

from typing import Annotated, Any

from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.setting_flags import OptionFlags
from uanet_tf.errors import InputError


def export(
    *,
    run_dir: str = flag(
        None,
        "Directory of a trained run, or the name of a model that comes with the package "
        "(required).",
        required="the directory of a trained run",
    ),
    export_dir: str = flag(
        None, "Directory of the models' folders (required).", required="where to export to"
    ),
    options: Annotated[dict[str, Any], OptionFlags("export")],
    name: str = flag("uanet", "Name of the model; that of raw text is NAME_text."),
    version: int | None = flag(
        None, "Number of the version, from 1 on. Default: the next free one."
    ),
    text: bool = flag(True, "Also export the model that takes raw text."),
    tflite: bool = flag(
        False, "Write EXPORT_DIR/NAME.tflite, for TensorFlow Lite, instead of SavedModels."
    ),
    quantize: bool = flag(
        False,
        "With --tflite: also write NAME_float16.tflite, half as large, and NAME_dynamic.tflite, "
        "with 8-bit weights. The share of labels that equal the run's model's is printed.",
    ),
) -> None:
    """Exports a run for TF Serving.

        uanet export --run_dir=R --export_dir=E [--name=uanet]

    Writes E/NAME/N, a SavedModel that takes tokens, and E/NAME_text/N, one that takes raw text;
    with --tflite, instead of these, E/NAME.tflite for TensorFlow Lite. See docs/serving.md. Output
    appears complete or not at all, and only after its answers have been compared with the run's
    model. Exit code 2: bad input, explained in one sentence on stderr.
    """
    if tflite and version is not None:
        raise InputError("--version goes with SavedModels: a .tflite file has none.")
    if quantize and not tflite:
        raise InputError("--quantize goes with --tflite.")
    # TensorFlow, only for good arguments.
    if tflite:
        from uanet_tf.exporting.tflite.tflite_export import export_tflite

        for file in export_tflite(run_dir, export_dir, name=name, quantize=quantize, **options):
            size = file.path.stat().st_size / 1e6
            print(f"{file.path}: {size:.1f} MB, {file.precision}, {file.agreement}")
        return
    from uanet_tf.exporting import saved_model

    exported = saved_model.export(
        run_dir, export_dir, name=name, version=version, text=text, **options
    )
    for path in (exported.path, exported.text_path):
        if path is not None:
            size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            print(f"{path}: {size / 1e6:.1f} MB")
