"""The base of decoders that read the labels they have decided so far."""

import tensorflow as tf

from uanet_tf.arguments import check_positive, check_rate
from uanet_tf.decoders.decoder import Decoder


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class LabelHistoryDecoder(Decoder):
    """Base of decoders with a recurrent net over the labels decided before.

    It owns the embedding ``label_embedding`` [num_classes + 1, label_width] of labels; the last
    row is used where there is no label before. A subclass extends ``build`` and defines what
    ``Decoder`` requires.

    Args:
      num_classes: number C of labels.
      hidden_width: width of the recurrent net; None: that of the states.
      label_width: width of label embeddings.
      dropout: rate of the masks on what is read of labels, tied over time; in training only.
    """

    def __init__(
        self,
        num_classes: int,
        *,
        hidden_width: int | None = None,
        label_width: int = 50,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(num_classes, **kwargs)
        self.hidden_width = check_positive("hidden_width", hidden_width, optional=True)
        self.label_width = check_positive("label_width", label_width)
        self.dropout = check_rate("dropout", dropout)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.decoder
        return super().from_settings(
            config,
            vocabulary,
            hidden_width=part.label_hidden_width or None,
            label_width=part.label_width,
            dropout=part.decoder_dropout,
            **kwargs,
        )

    def build(self, input_shape):
        self.label_embedding = self.add_weight(
            name="label_embedding",
            shape=[self.num_classes + 1, self.label_width],
            initializer=tf.keras.initializers.RandomNormal(stddev=1.0),
        )
        super().build(input_shape)

    def add_kernel(self, name: str, shape: list[int], initializer="glorot_uniform") -> tf.Variable:
        """A weight that starts Glorot-uniform, unless another ``initializer`` is given."""
        return self.add_weight(name=name, shape=shape, initializer=initializer)

    def get_config(self):
        config = super().get_config()
        config.update(
            hidden_width=self.hidden_width,
            label_width=self.label_width,
            dropout=self.dropout,
        )
        return config
