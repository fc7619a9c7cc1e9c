"""How a trained tagger is applied: the one place of these options.

The flags of train, evaluate, tag and export, the properties of a model and its card follow from
the fields.
"""

import dataclasses
from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.option import check_option, option
from uanet_tf.option import count as _count

SAMPLING = ("exact", "distilled")
UNCERTAINTIES = ("entropy", "mutual_information")
MAX_SEED = 2**31 - 1  # seeds are int32 in the graph
MAX_GAMMA = 3.4028235e38  # the largest finite float32, which Gamma is in the graph
# They need a refiner and its gate.
OF_THE_GATE = ("threshold", "refine_all")


@dataclasses.dataclass(frozen=True)
class InferenceOptions:
    """Options of inference: chosen in training, stored in the run, changeable afterwards."""

    num_samples: int = _count(
        8, "Monte Carlo samples M (paper: 8); 0: one pass without dropout.", low=0, high=10_000
    )
    mc_seed: int = option(
        1,
        "Seed of the fixed sampling masks; negative: new masks at each call, for research.",
        high=MAX_SEED,
    )
    sampling: str = option(
        "exact",
        "Where mean and disagreement of the samples come from: M passes (exact), or one pass and a "
        "head that was trained on samples to predict their result (distilled).",
        choices=SAMPLING,
    )
    threshold: float = option(
        0.35,
        "Gamma, nats: tokens more uncertain than this get the refined label.",
        low=0.0,
        high=MAX_GAMMA,
    )
    uncertainty: str = option(
        "entropy",
        "What the gate compares with Gamma: the entropy of the mean distribution (Eq. 5) or its "
        "epistemic part, the mutual information.",
        choices=UNCERTAINTIES,
    )
    refine_all: bool = option(
        True,
        "Refine every token. Without it tokens up to Gamma are not refined, which is faster: "
        "`refined_labels` follow the draft there, and no other answer differs.",
        commands=("export",),
    )
    calibrated: bool = option(
        True,
        "Calibrate confidence on the development data after training, and apply it where a "
        "label is given; without it, confidence is the model's own probability of the label.",
    )
    valid_labels: bool = option(
        True,
        "Take the most probable label sequence that the tag scheme allows; without it, labels are "
        "decided token by token and read as conlleval does.",
    )
    return_mutual_information: bool = option(
        False,
        "Also return the mutual information of each label: the part of the uncertainty that comes "
        "from disagreement of the samples, whatever the gate reads.",
        commands=("tag", "export"),
    )
    return_probabilities: bool = option(
        False, "Also return the distribution that each label comes from.", commands=()
    )

    def replace(self, **changes: Any) -> "InferenceOptions":
        """A copy with these fields changed.

        Raises:
          InputError: there is no such option, or a value is of another type or outside its limits.
        """
        fields = {field.name: field for field in dataclasses.fields(self)}
        for name, value in changes.items():
            if name not in fields:
                raise InputError(f"There is no inference option named {name!r}.")
            changes[name] = check_option(fields[name], value, f"`{name}`")
        return dataclasses.replace(self, **changes)


def check_threshold(value: Any) -> float:
    """The value as a float, if it can be Gamma: at least 0, and finite as a float32.

    Raises:
      InputError: it cannot.
    """
    return float(InferenceOptions().replace(threshold=value).threshold)
