"""A folder of versions, and what loads them."""

import pytest

from tests.serving.rest_api.managed import Loader


@pytest.fixture
def base(tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    return folder


@pytest.fixture
def loader():
    return Loader()
