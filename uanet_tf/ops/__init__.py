"""Pure tensor mathematics: functions of tensors, without variables or state."""
