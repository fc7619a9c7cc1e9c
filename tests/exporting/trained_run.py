"""A run that is really trained, if a small one: its refiner mends what its drafter gets wrong."""

from pathlib import Path

from uanet_tf.config import Config
from uanet_tf.resources.sample_corpus import write_sample_corpus
from uanet_tf.training.fit import fit

SETTINGS = {
    "epochs": 6,
    "batch_size": 16,
    "loss_reduction": "mean",
    "drafter_optimizer": "adam",
    "drafter_schedule": "linear",
    "drafter_learning_rate": 0.01,
    "refiner_learning_rate": 0.004,
    "average_decay": 0.98,
    "unknown_word_rate": 0.25,
    "embedding_dropout": 0.2,
    "word_width": 32,
    "char_width": 12,
    "char_filters": 20,
    "hidden_width": 64,
    "refiner_heads": 2,
    "refiner_head_width": 32,
    "num_samples": 4,
    "threshold": 0.35,
    "distill_samples": 0,
}


def train(folder: Path) -> Path:
    """Trains in ``folder / "run"``, which it returns."""
    paths = write_sample_corpus(
        folder / "data", train_sentences=400, dev_sentences=80, test_sentences=1
    )
    files = {"train_path": str(paths["train"]), "dev_path": str(paths["dev"])}
    fit(Config().replace(**files, **SETTINGS), folder / "run")
    return folder / "run"
