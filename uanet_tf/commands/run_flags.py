"""A trained run, or a TensorFlow Lite file, and how its model is applied."""

import dataclasses
import os
import pathlib
import sys
from typing import Annotated, Any

from uanet_lite.atomic_file import STDOUT
from uanet_lite.model_file import read_model_file
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.setting_flags import OptionFlags
from uanet_tf.config import Config, in_flags, load_config
from uanet_tf.errors import InputError
from uanet_tf.resources.shipped import find_run, shipped_models

_RUN = (
    "Directory of a trained run, or the name of a model that comes with the package: "
    f"{', '.join(shipped_models())}."
)
_FILES = {
    "model.keras", "metrics.json", "config.json", "vocabulary.json", "flags.txt",
    "data_hashes.json",
}  # fmt: skip
_NEEDED = "the directory of a trained run"

RUN_DIR = flag(None, "Directory of a trained run (required).", required=_NEEDED)


@dataclasses.dataclass
class RunFlags:
    """The flags that choose a run and say how its model is applied.

    In ``run_dir`` the name of a model of the package becomes its directory; InputError: it has no
    such model. ``options`` are the inference options given, see ``InferenceOptions``.
    """

    run_dir: str = flag(None, _RUN, required=_NEEDED)
    token_column: str | None = flag(
        None,
        "Column of the token in columns: a number, from 0, or from the end if negative; or a "
        "name that the file gives. Default: the run's.",
    )
    batch_size: int | None = flag(
        None, "Maximum number of sentences in a batch. Default: 256; on a GPU 8,192.", at_least=1
    )
    batch_tokens: int | None = flag(
        None,
        "Maximum number of tokens in a batch, with padding: bounds memory. Default: 4,096; on "
        "a GPU 16,384.",
        at_least=1,
    )
    options: Annotated[dict[str, Any], OptionFlags("tag")] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.run_dir:
            self.run_dir = str(find_run(self.run_dir))

    @property
    def sizes(self) -> dict[str, Any]:
        """Limits of a batch, for ``tag_stream``."""
        return {"batch_size": self.batch_size, "batch_tokens": self.batch_tokens}

    def config(self) -> Config:
        """The run's configuration, read before anything slow is done; InputError: no run."""
        return load_config(self.run_dir)

    def column(self) -> str:
        """Column of the token: the flag's, else the run's."""
        own = self.token_column
        return self.config().data.token_column if own is None else own

    def check_output(self, path: str, *inputs: str) -> None:
        """Raises InputError where output of another kind would replace what it is made of."""
        if path == STDOUT or not os.path.isfile(path):
            return
        for other in inputs:
            if os.path.exists(other) and os.path.samefile(path, other):
                raise InputError(f"--output={path} is the file that is read: name another one.")
        folder = os.path.dirname(os.path.realpath(path))
        in_run = self.run_dir is not None and folder == os.path.realpath(self.run_dir)
        if in_run and os.path.basename(path) in _FILES:
            raise InputError(f"--output={path} is a file of the run: name another one.")

    def load(self) -> Any:
        """The run's model; InputError: there is none, or it cannot follow an option."""
        import uanet_tf
        from uanet_tf.tagging.parallel_batches import run_each_on_one_thread

        run_each_on_one_thread()
        model = uanet_tf.load_model(self.run_dir, **self.options)
        if said := model.broken_promise(self.options):
            print(in_flags(said), file=sys.stderr)
        return model


@dataclasses.dataclass
class ScoredRunFlags(RunFlags):
    """The flags of a run that is scored."""

    options: Annotated[dict[str, Any], OptionFlags("evaluate")] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass
class TaggerFlags(RunFlags):
    """The flags of a run (``model`` is None) or of a TensorFlow Lite file (``run_dir`` is None).

    Raises:
      InputError: neither is named, or both; a flag that goes with the other.
    """

    # Here --model may stand in for it.
    run_dir: str | None = flag(None, _RUN)  # type: ignore[assignment]
    model: str | None = flag(
        None,
        "In place of --run_dir: the name of a model that comes with the package "
        f"({', '.join(shipped_models())}), or a .tflite file of `uanet export --tflite`, with "
        "labels and vocabulary in it, which reads one sentence at a time.",
    )
    num_threads: int | None = flag(
        None, "With --model: sentences that are tagged at the same time. Default: 1.", at_least=1
    )

    def __post_init__(self) -> None:
        if self.model in shipped_models() and not pathlib.Path(self.model).exists():
            if self.run_dir is not None:
                both = f"--model={self.model} names a model, and --run_dir={self.run_dir} another"
                raise InputError(f"{both}: give one of them.")
            self.run_dir, self.model = self.model, None
        if self.model is not None:
            self._check_file()
        elif not self.run_dir:
            raise InputError(f"--run_dir is required: {_NEEDED}.")
        elif self.num_threads is not None:
            raise InputError(
                "--num_threads goes with --model=NAME.tflite, a TensorFlow Lite file. "
                f"Received: {self.num_threads}"
            )
        super().__post_init__()

    def _check_file(self) -> None:
        for name, value in {"run_dir": self.run_dir, **self.options}.items():
            if value is not None:
                raise InputError(
                    f"--{name} goes with a trained run, not with --model: a TensorFlow Lite file "
                    f"keeps what it was exported with. Received: {value}"
                )
        if not pathlib.Path(str(self.model)).exists():
            raise InputError(
                f"--model={self.model} is no file, and no model of the package: it has "
                f"{', '.join(shipped_models())}."
            )

    def column(self) -> str:
        """Column of the token: the flag's, else that of the run or the file."""
        if self.model is None or self.token_column is not None:
            return super().column()
        return read_model_file(self.model).settings["token_column"]

    def load(self) -> Any:
        """The model of the run or the file; InputError: there is none, or a file of others."""
        if self.model is None:
            return super().load()
        # NumPy and a runtime, only for good arguments.
        from uanet_lite.lite_tagger import Tagger

        return Tagger(self.model, threads=self.num_threads or 1)
