"""The inference options of a model as its properties."""

import dataclasses
from typing import Any, TypeVar

from uanet_lite.answers import TARGET_PRECISION, given
from uanet_tf.inference_options import OF_THE_GATE, InferenceOptions

Model = TypeVar("Model", bound=type)


def with_option_properties(model: Model) -> Model:
    """Gives a model class a property for each field of ``InferenceOptions``.

    The class has ``options``, ``set_options`` and ``gate``. Without a gate its options are None.
    ``optional_answers`` names the optional ones of ``uanet_lite.answers`` that it gives.
    """
    for field in dataclasses.fields(InferenceOptions):
        setattr(model, field.name, _property(field))
    setattr(model, "optional_answers", property(_optional_answers))  # noqa: B010
    return model


def _optional_answers(model: Any) -> tuple[str, ...]:
    """Of the options and the calibration that the model has now."""
    accepts = model.calibrated and model.calibration.applies and model.acceptance.target_precision

    def is_given(needs: str) -> bool:
        return bool(accepts if needs == TARGET_PRECISION else getattr(model, needs))

    return given(is_given)


def _property(field: dataclasses.Field) -> property:
    def get(model: Any) -> Any:
        if model.gate is None and field.name in OF_THE_GATE:
            return None
        if field.name == "threshold":
            return model.gate.threshold
        # Not through ``options``: graphs read it too, where Gamma has no value.
        return getattr(model._options, field.name)

    def put(model: Any, value: Any) -> None:
        model.set_options(**{field.name: value})

    return property(get, put, doc=field.metadata["help"])
