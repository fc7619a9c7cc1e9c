"""The variational BiLSTM: dropout masks tied over time, on input and recurrence."""

import tensorflow as tf

from uanet_tf.encoders.variational_encoder import VariationalEncoder
from uanet_tf.ops.recurrence import LSTM


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class VariationalBiLSTM(VariationalEncoder):
    """Stacked bidirectional LSTM with one input mask and one recurrent mask per direction.

    Its arguments and masks are those of ``VariationalEncoder``; the masks are the same for all
    four gates.

    Example:

    >>> encoder = VariationalBiLSTM(8)
    >>> masks = encoder.draw_masks(tf.constant([1, 2]), 3, input_width=5)
    >>> encoder(tf.ones([3, 4, 5]), dropout_masks=masks).shape
    TensorShape([3, 4, 8])

    Reference:
      Gal and Ghahramani, 2016; Gui et al., 2020, Eq. 3; narrow layer: Rei et al., 2016, section 2.
    """

    cell = LSTM
