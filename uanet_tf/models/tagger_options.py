"""How the inference options of a tagger are read, set and put back."""

import dataclasses
from typing import Any

from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.inference.refinement_gate import RefinementGate
from uanet_tf.inference_options import OF_THE_GATE, InferenceOptions
from uanet_tf.models.drafter import Drafter
from uanet_tf.models.option_checks import check_sampling, check_trained
from uanet_tf.models.tag_graphs import TagGraphs


class TaggerOptions:
    """The part of a tagger that keeps its inference options.

    Attributes:
      settings: of the run, with the options of its training.
      drafter, gate: the tagger's parts; Gamma is a weight of the gate.
      predict_function: Keras' graph, made at the first call of ``predict``.
    """

    settings: Config
    drafter: Drafter
    gate: RefinementGate | None
    predict_function: Any
    _options: InferenceOptions
    _graphs: TagGraphs

    @property
    def options(self) -> InferenceOptions:
        """The inference options in force; Gamma is the gate's, where there is one."""
        if self.gate is None:
            return self._options
        return dataclasses.replace(self._options, threshold=self.gate.threshold)

    @property
    def graph_options(self) -> InferenceOptions:
        """What a graph follows that is made now: without Gamma, which is a weight of the gate."""
        return self._options

    def set_options(self, **changes: Any) -> None:
        """Changes inference options; graphs that depend on them are traced again.

        Raises:
          InputError: a value is outside its limits, or this tagger cannot follow it.
        """
        changed = self.options.replace(**changes)
        if self.gate is None:
            for name in sorted(set(changes) & set(OF_THE_GATE)):
                raise InputError(
                    f"`{name}` is an option of the gate, and --decoder="
                    f"{self.settings.decoder.decoder} has none. Received: {changes[name]}"
                )
        if "sampling" in changes:
            check_sampling(changed, self.drafter, self.settings)
            check_trained(changed, self.drafter)
        if "threshold" in changes and self.gate is not None:
            self.gate.threshold = changed.threshold
        self._options = changed
        if set(changes) - {"threshold"}:  # a weight, read live
            self._graphs.forget()
            self.predict_function = None

    def restore_options(self, options: InferenceOptions) -> None:
        """Puts the options of a saved tagger in force, before its weights come.

        Raises:
          InputError: the parts of this tagger cannot be sampled as they want.
        """
        check_sampling(options, self.drafter, self.settings)
        self._options = options
        if self.gate is not None:
            self.gate.threshold = options.threshold
