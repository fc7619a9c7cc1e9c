import pytest

from uanet_tf.config import Config
from uanet_tf.errors import InputError


def test_a_long_value_is_shown_by_its_start():
    with pytest.raises(InputError) as error:
        Config().replace(representation="ä" * 3000)
    assert str(error.value).startswith("--representation must be one of ")
    assert str(error.value).endswith(f"Received: {'ä' * 200}...")
