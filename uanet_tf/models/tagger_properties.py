"""What can be asked of a tagger, and changed while it is in use."""

import math
from typing import Any

import tensorflow as tf

from uanet_tf.arguments import check_choice
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import INTERNAL_SCHEME, Vocabulary
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.inference.output_labels import OutputLabels
from uanet_tf.settings import MAX_SEED, SAMPLING


class TaggerProperties:
    """Properties of ``Tagger``; a setter that changes the graph has it made anew."""

    encoder: Encoder
    decoder: Decoder
    gamma: tf.Variable
    adaptive_limits: tf.Variable
    settings: Config
    vocabulary: Vocabulary
    predict_function: Any
    _outputs: OutputLabels
    _tag_function: Any
    _num_samples: int
    _mc_seed: int
    _return_probabilities: bool
    _refine_all: bool
    _sampling: str

    @property
    def threshold(self) -> float:
        """Gamma, nats. Setting it takes effect at once and is saved with the model.

        What adaptive sampling takes for settled moves with it, in proportion: a guess, since
        it was chosen for the old Gamma.
        """
        # By way of its shortest text: 0.35, not the 0.3499999940395355 of the float32.
        return float(str(self.gamma.numpy()))

    @threshold.setter
    def threshold(self, value: float) -> None:
        if not (value >= 0 and math.isfinite(value)):
            raise ValueError(
                "`threshold` must be a finite number of at least 0 nats. "
                f"Received: threshold={value}"
            )
        before = self.threshold
        if before and value:
            self.adaptive_limits.assign(self.adaptive_limits * (value / before))
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
    def refines_states(self) -> bool:
        """Whether a refiner reads the drafter's states."""
        return False

    @property
    def refine_all(self) -> bool:
        """Whether certain tokens are refined too.

        False saves their refinement and changes neither labels nor uncertainty, confidence or
        ``refined``; of certain tokens ``refined_labels`` are then the draft's.
        """
        return self._refine_all

    @refine_all.setter
    def refine_all(self, value: bool) -> None:
        self._refine_all = value
        self._forget_graphs()

    @property
    def can_adapt(self) -> bool:
        """Whether sampling can be adaptive; see ``sampling``."""
        rates = [rate for _, rate in self.encoder.mask_widths(1).values()]
        gated_by_entropy = self.settings.sampling.uncertainty == "entropy"
        sampled = self._num_samples > 1 and any(rates)
        return isinstance(self.decoder, SoftmaxDecoder) and gated_by_entropy and sampled

    @property
    def sampling(self) -> str:
        """How samples are spent: "exact", all M on each sentence, or "adaptive".

        Adaptive sampling spends them where they can change a label; see ``inference.adaptive``.
        What it takes for settled was chosen for the Gamma and M of training.

        Raises:
          ValueError: set to something else, or to "adaptive" for a tagger without it.
        """
        return self._sampling

    @sampling.setter
    def sampling(self, value: str) -> None:
        check_choice("sampling", value, SAMPLING)
        if value == "adaptive" and not self.can_adapt:
            raise ValueError(
                "`sampling` can be adaptive where a softmax drafts from samples of an encoder with "
                "tied dropout masks and the gate reads the entropy. "
                f"Received: sampling={value!r} for {self.settings.encoder.encoder} with "
                f"{self.settings.decoder.decoder}"
            )
        self._sampling = value
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
    def context(self) -> str:
        """What it was trained to read in one piece: a "sentence" or a "document"."""
        return self.settings.data.context

    @property
    def max_tokens(self) -> int:
        """Longest sentence tagged in one piece; longer ones are tagged in windows."""
        return self.settings.data.max_tokens
