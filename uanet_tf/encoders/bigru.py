"""The variational BiGRU: dropout masks tied over time, on input and recurrence."""

import tensorflow as tf

from uanet_tf.encoders.variational_encoder import VariationalEncoder
from uanet_tf.ops.recurrence import GRU


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BiGRU(VariationalEncoder):
    """Stacked bidirectional GRU; its arguments and masks are those of ``VariationalEncoder``.

    Example:

    >>> BiGRU(8)(tf.ones([3, 4, 5])).shape
    TensorShape([3, 4, 8])

    Reference:
      Cho et al., 2014; as an encoder of labellers: Dinarelli and Grobol, 2019, "Seq2Biseq:
      Bidirectional Output-wise Recurrent Neural Networks for Sequence Modelling".
    """

    cell = GRU
