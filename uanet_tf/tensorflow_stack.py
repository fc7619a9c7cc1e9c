"""Which TensorFlow this is and what comes with it; no other module asks.

Python 3.11 has TensorFlow 2.15, whose own Keras is Keras 2, and TensorFlow Addons. Later ones have
a TensorFlow with Keras 3, to which the package tf-keras adds Keras 2, and no Addons. TensorFlow
takes seconds to import, so only functions that need it do.
"""

import importlib.util
import os
import types
import warnings
from importlib import metadata

from uanet_tf.errors import InputError


def choose_keras() -> None:
    """From 2.16 on tf.keras is Keras 3, unless this is set before its first use: then tf-keras.

    TensorFlow 2.15 comes with Keras 2, known by a folder, since to import it takes seconds.
    """
    keras = importlib.util.find_spec("keras")
    if keras is None or keras.origin is None:
        return
    if not os.path.isdir(os.path.join(os.path.dirname(keras.origin), "src", "engine")):
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")


def check_keras(model_class: type | None = None) -> None:
    """Refuses Keras 3, whose layers are not those that this package extends, with an InputError.

    Where Keras 3 is installed ``uanet_tf`` chooses tf-keras. That is too late if a program has used
    Keras before, and in vain if tf-keras is not installed. The class is by default
    ``tf.keras.Model``.
    """
    import tensorflow as tf

    try:
        module = (model_class or tf.keras.Model).__module__
    except ImportError:  # so TensorFlow says that tf-keras is missing
        module = ""
    # keras.src.engine.training in Keras 2, tf_keras.src.engine.training; keras.src.models.model.
    if ".engine." not in module:
        raise InputError(
            "uanet_tf needs Keras 2, but tf.keras is not that here: install it with "
            f"`{pip_install('tf-keras')}`, and import uanet_tf, or set "
            "TF_USE_LEGACY_KERAS=1, before Keras is used."
        )


def series() -> str:
    """TensorFlow's version without its last number, such as 2.15; empty if it is not installed."""
    return ".".join((installed("tensorflow") or "").split(".")[:2])


def installed(package: str) -> str | None:
    """The version of a package; None if it is not installed, as for ``serve`` and ``client``."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def pip_install(package: str) -> str:
    """The command that installs a package whose versions follow TensorFlow's."""
    return f'pip install "{package}=={series()}.*"' if series() else f"pip install {package}"


def tensorflow_text(needed_by: str, otherwise: str = "") -> types.ModuleType:
    """The module ``tensorflow_text``, whose import registers its operations.

    Raises InputError if it cannot be imported: ``needed_by``, such as "BERT", begins the message,
    and ``otherwise`` ends it, where one can do without, such as ", or ...".
    """
    try:
        import tensorflow_text
    except ImportError as error:
        raise InputError(
            f"{needed_by} needs the package tensorflow-text, which cannot be imported ({error}): "
            f"`{pip_install('tensorflow-text')}`{otherwise}."
        ) from None
    return tensorflow_text


def addons_text() -> types.ModuleType | None:
    """TensorFlow Addons' ``text``, with its CRF; None if not installed. It is slow to import."""
    if importlib.util.find_spec("tensorflow_addons") is None:
        return None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\s*TensorFlow Addons \(TFA\) has ended", UserWarning)
        from tensorflow_addons import text
    return text
