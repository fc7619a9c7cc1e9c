"""Trains on one device, on two, and on two what was begun on one; prints the three runs.

    python -m tests.training.two_devices FOLDER

A process of its own: logical devices are made before TensorFlow runs anything.
"""

import json
import sys
from pathlib import Path

import tensorflow as tf

from tests.training.killing import Moment, fit_with_copies
from tests.training.tiny_run import metrics, tiny_config, write_corpus
from uanet_tf.training import saved_state
from uanet_tf.training.fit import fit

# Wide enough for the word table to be updated row by row; 40 sentences in batches of 7 leave 5.
SETTINGS = {
    "word_width": 400,
    "batch_size": 7,
    "save_seconds": 0,
    "drafter_learning_rate": 0.01,
    "calibrated": False,
}


def main() -> None:
    folder = Path(sys.argv[1])
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    tf.keras.backend.set_floatx("float64")
    corpus = write_corpus(folder)
    one = tiny_config(corpus, **SETTINGS)
    two = one.replace(strategy="mirrored")
    moment = Moment(saved_state.StateKeeper, "save", 9)
    fit_with_copies(one, folder / "one", {folder / "both": moment})
    fit(two, folder / "two")
    fit(two, folder / "both")
    print(json.dumps({name: metrics(folder / name) for name in ("one", "two", "both")}))


if __name__ == "__main__":
    main()
