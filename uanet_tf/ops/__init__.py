"""Pure tensor mathematics: functions of tensors, without variables or state."""

from uanet_tf.tensorflow_stack import check_keras

check_keras()  # before a model is built or loaded: all of them import this folder
