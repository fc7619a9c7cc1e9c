"""What the commands of this folder serve: an export of a run, or of an untrained tagger."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from absl import logging

from benchmarks.systems import recipe, sentences_like, tagger_for
from uanet_tf.exporting.saved_model import export_run

TYPES, LENGTH, SENTENCES = 4, 13, 2_000


@contextmanager
def exported(run_dir: str | None) -> Iterator[Path]:
    """Exports to a folder that goes at the end; gives it, with version 1 of ``uanet`` in it.

    Args:
      run_dir: a trained run; None: an untrained tagger of the sizes of configs/uanet_fast.flags.
    """
    with tempfile.TemporaryDirectory(prefix="uanet_tf_") as name:
        folder = Path(name)
        logging.set_verbosity(logging.ERROR)
        export_run(run_dir or _untrained(folder / "run"), folder / "exports", text=False)
        yield folder / "exports"


def _untrained(folder: Path) -> Path:
    config = recipe("uanet_fast")
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config.to_dict()))
    tagger = tagger_for(config, sentences_like(TYPES, LENGTH, SENTENCES))
    tagger.save(folder / "model.keras")
    return folder
