"""Output that replaces nothing that it is made of."""

import os
from collections.abc import Sequence

from uanet_lite.atomic_file import STDOUT
from uanet_lite.input_error import InputError

_OF_A_RUN = {
    "model.keras", "metrics.json", "config.json", "vocabulary.json", "flags.txt",
    "data_hashes.json",
}  # fmt: skip


def check_other_file(path: str, inputs: Sequence[str], run_dir: str | None) -> None:
    """For output of another kind than the input: that it replaces none of what it is made of.

    Args:
      path: of the output; "-" is standard output.
      inputs: files that are read.
      run_dir: directory of a run, of which no file may be replaced; None: there is none.

    Raises:
      InputError: it would.
    """
    if path == STDOUT or not os.path.isfile(path):
        return
    for other in inputs:
        if os.path.exists(other) and os.path.samefile(path, other):
            raise InputError(f"--output={path} is the file that is read: name another one.")
    if run_dir is None:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.basename(path) in _OF_A_RUN and folder == os.path.realpath(run_dir):
        raise InputError(f"--output={path} is a file of the run: name another one.")
