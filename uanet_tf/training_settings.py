"""The settings of training in one group, as those of ``settings``."""

import dataclasses

from uanet_tf.inference_options import MAX_SEED
from uanet_tf.option import count as _count
from uanet_tf.option import option
from uanet_tf.option import rate as _rate


@dataclasses.dataclass(frozen=True)
class TrainingConfig:
    """Optimizers, schedules and the run itself."""

    epochs: int = _count(100, "Most passes over the training data (released code: 100).")
    schedule_epochs: int = _count(
        0,
        "Epochs that the schedules are planned for, if a run is to stop earlier; 0: --epochs.",
        low=0,
    )
    min_steps: int = _count(0, "Least steps in an epoch; a small file is read again.", low=0)
    min_epochs: int = _count(
        1,
        "First epoch that may be kept as the best: scores of barely trained weights can mislead.",
    )
    patience: int = _count(
        0, "Epochs without a better development score before stopping; 0: never stop.", low=0
    )
    seed: int = option(
        1, "Seed of initial weights, data order and training dropout.", low=0, high=MAX_SEED
    )
    strategy: str = option(
        "none",
        "Share each batch among the GPUs of this machine, or among the processes that the "
        "environment variable TF_CONFIG names; the run learns the same, up to rounding.",
        choices=("none", "mirrored", "multi_worker"),
    )
    deterministic: bool = option(
        False, "Force deterministic kernels, for bit-identical runs where an op needs it."
    )
    mixed_bfloat16: bool = option(
        False,
        "Matrix products in bfloat16, here and in the saved model; weights, states and sums stay "
        "float32. Faster where the processor has it (avx512_bf16, GPUs).",
    )
    drafter_optimizer: str = option(
        "sgd", "Optimizer of the drafter (paper: sgd).", choices=("sgd", "adam", "adadelta")
    )
    drafter_learning_rate: float = option(
        0.015, "Initial learning rate of the drafter (paper: 0.015; WSJ: 0.2).", low=0.0
    )
    drafter_momentum: float = _rate(
        0.9, "Momentum of SGD (released code: 0.9).", needs={"drafter_optimizer": ("sgd",)}
    )
    drafter_decay: float = option(
        0.05,
        "Inverse-time decay of the drafter's rate: lr / (1 + decay * epoch) (released code: 0.05).",
        low=0.0,
        needs={"drafter_schedule": ("inverse_time",)},
    )
    drafter_schedule: str = option(
        "inverse_time",
        "Schedule of the drafter's rate: inverse-time decay by epoch, or warm-up, then linear.",
        choices=("inverse_time", "linear"),
    )
    refiner_learning_rate: float = option(
        1e-4,
        "Peak learning rate of the refiner's Adam (paper: 1e-4).",
        low=0.0,
        optimizer="refined",
    )
    refiner_weight_decay: float = option(
        1e-6,
        "Decoupled weight decay of the refiner, per step (released code: 1e-6).",
        low=0.0,
        optimizer="refined",
    )
    bert_learning_rate: float = option(
        3e-5,
        "Peak rate of BERT's Adam (Devlin et al., 2019: 2e-5 to 5e-5); 0: frozen.",
        low=0.0,
        optimizer="bert",
    )
    bert_warmup: float = option(
        0.1,
        "Share of all steps over which BERT's rate rises (Devlin: 0.1).",
        low=0.0,
        high=1.0,
        optimizer="bert",
    )
    bert_weight_decay: float = option(
        0.01,
        "Decoupled weight decay of BERT, per step (Devlin: 0.01).",
        low=0.0,
        optimizer="bert",
    )
    warmup: float = option(
        0.1,
        "Share of all steps over which a linear schedule warms up (released code: 0.1).",
        low=0.0,
        high=1.0,
    )
    final_rate: float = option(
        0.0, "Where a linear schedule ends, as a share of its peak.", low=0.0, high=1.0
    )
    clip_norm: float = option(
        5.0,
        "Gradients of each part are scaled to at most this norm (their code: 5); 0: no clipping.",
        low=0.0,
    )
    loss_reduction: str = option(
        "sum",
        "The batch's loss: sum over its tokens (released code), or their mean.",
        choices=("sum", "mean"),
    )
    l2: float = option(
        1.0,
        "Factor on the L2 term (1 - r) / (2N) ||theta||^2 of Eq. 9, word vectors left out.",
        low=0.0,
    )
    expectation_linear: float = option(
        0.0,
        "Factor on the squared distance of the encoder's states with and without dropout (Ma et "
        "al., 2017; Strubell et al., 2017, for id_cnn).",
        low=0.0,
    )
    tune_threshold: bool = option(
        False, "Choose Gamma on the development set after training and store it in the run."
    )
    distill_samples: int = _count(
        16,
        "After training, a small head learns from this many samples of training text to predict "
        "their mean and disagreement in one pass, for --sampling=distilled. 0: none is trained.",
        low=0,
        high=10_000,
    )
    average_decay: float = _rate(
        0.0,
        "Decay per step of a moving average of the weights, which is scored and saved; 0: none.",
    )
    save_seconds: int = _count(
        60,
        "Seconds between two saves of the training state, which a killed run resumes from.",
        low=0,
    )
    target_precision: float = _rate(
        0.0,
        "Mark as accepted the entities (or tokens, where labels are no chunks) whose confidence is "
        "enough for this precision, with a probability of 0.9: found on half of the development "
        "file. 0: nothing is marked.",
    )
    target_by_type: bool = option(
        False,
        "Promise --target_precision for each type by itself, each with a threshold of its own.",
        needs={"target_precision": ()},
    )
