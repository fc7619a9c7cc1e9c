"""What can be asked of a tagger, and changed while it is in use."""

import math
from typing import Any

import tensorflow as tf

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import INTERNAL_SCHEME, Vocabulary
from uanet_tf.inference.output_labels import OutputLabels
from uanet_tf.settings import MAX_SEED


class TaggerProperties:
    """Properties of ``Tagger``; a setter that changes the graph has it made anew."""

    gamma: tf.Variable
    settings: Config
    vocabulary: Vocabulary
    predict_function: Any
    _outputs: OutputLabels
    _tag_function: Any
    _num_samples: int
    _mc_seed: int
    _return_probabilities: bool
    _refine_all: bool

    @property
    def threshold(self) -> float:
        """Gamma, nats. Setting it takes effect at once and is saved with the model."""
        # By way of its shortest text: 0.35, not the 0.3499999940395355 of the float32.
        return float(str(self.gamma.numpy()))

    @threshold.setter
    def threshold(self, value: float) -> None:
        if not (value >= 0 and math.isfinite(value)):
            raise ValueError(
                "`threshold` must be a finite number of at least 0 nats. "
                f"Received: threshold={value}"
            )
        self.gamma.assign(value)

    @property
    def num_samples(self) -> int:
        """Monte Carlo samples M; 0: one pass without dropout."""
        return self._num_samples

    @num_samples.setter
    def num_samples(self, value: int) -> None:
        if value < 0:
            raise ValueError(f"`num_samples` must be at least 0. Received: num_samples={value}")
        self._num_samples = value
        self._forget_graphs()

    @property
    def mc_seed(self) -> int:
        """Seed of the sampling masks; negative: new masks at each call."""
        return self._mc_seed

    @mc_seed.setter
    def mc_seed(self, value: int) -> None:
        if value > MAX_SEED:
            raise ValueError(f"`mc_seed` must be at most {MAX_SEED}. Received: mc_seed={value}")
        self._mc_seed = value
        self._forget_graphs()

    @property
    def return_probabilities(self) -> bool:
        """Whether ``predict`` also returns the distribution behind each label."""
        return self._return_probabilities

    @return_probabilities.setter
    def return_probabilities(self, value: bool) -> None:
        self._return_probabilities = value
        self._forget_graphs()

    @property
    def refine_all(self) -> bool:
        """Whether sentences without an uncertain token are refined too.

        False saves their refinement and changes neither labels nor uncertainty, confidence or
        ``refined``; in those sentences ``refined_labels`` are then the draft's.
        """
        return self._refine_all

    @refine_all.setter
    def refine_all(self, value: bool) -> None:
        self._refine_all = value
        self._forget_graphs()

    def _forget_graphs(self) -> None:
        self._tag_function = None
        self.predict_function = None

    @property
    def label_names(self) -> list[str]:
        """Output labels, in the scheme of the training file."""
        return self._outputs.names

    @property
    def label_scheme(self) -> str | None:
        """Tag scheme of the output; None for labels that are not chunks."""
        return self.vocabulary.scheme

    @property
    def class_names(self) -> list[str]:
        """What the axis C of probabilities stands for; BIOES for chunks."""
        return list(self.vocabulary.labels)

    @property
    def internal_scheme(self) -> str | None:
        """Tag scheme of ``class_names``."""
        return None if self.vocabulary.scheme is None else INTERNAL_SCHEME

    @property
    def max_tokens(self) -> int:
        """Longest sentence tagged in one piece; longer ones are tagged in windows."""
        return self.settings.data.max_tokens
